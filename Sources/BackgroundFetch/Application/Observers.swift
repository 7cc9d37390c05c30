import Synchronization

/// Observers of something that happens; each is called once per value.
///
/// They are called in the order of registration. Each receives the values in the order of `notify`, one at a time. No
/// lock is held during a call, so that observers may register, cancel and notify.
///
///     let observers = Observers<String>()
///     let observation = observers.add { topic in print("changed: \(topic)") }
///     observers.notify("sport")  // prints changed: sport
///     observation.cancel()
public final class Observers<Value: Sendable>: Sendable {
  private struct Observer: Sendable {
    var tell: @Sendable (Value) -> Void
    var end: @Sendable () -> Void
  }

  private struct State {
    /// The observers by the number of their registration, which increases.
    var observers: [UInt64: Observer] = [:]
    var last: UInt64 = 0
    /// The values that have not been delivered, each with the observers registered when it was added.
    var untold: [(value: Value, audience: [UInt64])] = []
    var isTelling = false
  }

  private let state = Mutex(State())

  /// Creates an empty set of observers.
  public init() {}

  deinit {
    for observer in state.withLock(\.observers).values { observer.end() }
  }

  /// Calls the body for each value from now on, on the thread that delivers the value.
  ///
  /// - Returns: The registration, which ends when it is cancelled or released.
  public func add(_ body: @escaping @Sendable (Value) -> Void) -> Observation {
    let number = register(Observer(tell: body, end: {}))
    return Observation { [weak self] in self?.remove(number) }
  }

  /// Returns the values from now on. The sequence ends when its loop ends or the observers are released.
  ///
  /// - Parameter limit: The maximum number of values that wait for a slow reader. Beyond it the oldest are dropped, so
  ///   that a reader that has stopped reading does not use up the memory.
  public func values(bufferingNewest limit: Int = 1000) -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(limit))
    let number = register(Observer(tell: { continuation.yield($0) }, end: { continuation.finish() }))
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  /// Calls each observer that is registered now and still is when its turn comes.
  ///
  /// During a delivery, by another thread or further up the stack, this returns at once. That delivery includes the
  /// value, after the earlier ones.
  public func notify(_ value: Value) {
    let isOurs = state.withLock { state in
      state.untold.append((value, state.observers.keys.sorted()))
      defer { state.isTelling = true }
      return !state.isTelling
    }
    guard isOurs else { return }
    while let (value, audience) = next() {
      for number in audience { state.withLock { $0.observers[number] }?.tell(value) }
    }
  }

  private func next() -> (Value, [UInt64])? {
    state.withLock { state in
      if state.untold.isEmpty {
        state.isTelling = false
        return nil
      }
      let first = state.untold.removeFirst()
      return (first.value, first.audience)
    }
  }

  private func register(_ observer: Observer) -> UInt64 {
    state.withLock { state in
      state.last += 1
      state.observers[state.last] = observer
      return state.last
    }
  }

  private func remove(_ number: UInt64) {
    // Releasing the body may run other code, so it is released outside the lock.
    _ = state.withLock { $0.observers.removeValue(forKey: number) }
  }
}
