import Synchronization

/// A list of observers, each of which is called once per value. The counterpart of Combine's `PassthroughSubject`.
///
/// Observers are called in the order of registration. Each receives the values in the order of `notify`, one at a time.
/// No lock is held during a call, so observers may register, cancel and notify.
///
///     let observers = ObserverList<String>()
///     let observation = observers.add { topic in print("changed: \(topic)") }
///     observers.notify("sport")  // prints changed: sport
///     observation.cancel()
public final class ObserverList<Value: Sendable>: Sendable {
  private struct Observer: Sendable {
    var notify: @Sendable (Value) -> Void
    var finish: @Sendable () -> Void
  }

  private struct State {
    /// The observers by the number of their registration. Numbers increase.
    var observers: [Int: Observer] = [:]
    var lastNumber = 0
    /// The values that have not been delivered, each with the observers registered when it was added.
    var pending: [(value: Value, recipients: [Int])] = []
    var isDelivering = false
  }

  private let state = Mutex(State())

  /// Creates an empty list.
  public init() {}

  deinit {
    for observer in state.withLock(\.observers).values { observer.finish() }
  }

  /// Whether nobody observes.
  package var isEmpty: Bool { state.withLock(\.observers.isEmpty) }

  /// Calls the body for each value from now on, on the thread that delivers the value.
  ///
  /// - Returns: The registration, which ends when it is cancelled or released.
  public func add(_ body: @escaping @Sendable (Value) -> Void) -> ObservationToken {
    let number = register(Observer(notify: body, finish: {}))
    return ObservationToken { [weak self] in self?.remove(number) }
  }

  /// Returns the values from now on. The sequence ends when its loop ends or the list is released.
  ///
  /// - Parameter limit: The maximum number of buffered values. Beyond it, the oldest values are dropped, so that a
  ///   reader that has stopped reading does not use up the memory.
  public func values(bufferingNewest limit: Int = 1000) -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(limit))
    let number = register(Observer(notify: { continuation.yield($0) }, finish: { continuation.finish() }))
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  /// Calls each observer that is registered now and has not been cancelled before its call.
  ///
  /// If a delivery is in progress, on another thread or further up the stack, this method returns at once. That
  /// delivery then includes the value, after the earlier ones.
  public func notify(_ value: Value) {
    let isFirst = state.withLock { state in
      state.pending.append((value, state.observers.keys.sorted()))
      defer { state.isDelivering = true }
      return !state.isDelivering
    }
    guard isFirst else { return }
    while let (value, recipients) = next() {
      for number in recipients { state.withLock { $0.observers[number] }?.notify(value) }
    }
  }

  private func next() -> (Value, [Int])? {
    state.withLock { state in
      if state.pending.isEmpty {
        state.isDelivering = false
        return nil
      }
      let first = state.pending.removeFirst()
      return (first.value, first.recipients)
    }
  }

  private func register(_ observer: Observer) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.observers[state.lastNumber] = observer
      return state.lastNumber
    }
  }

  private func remove(_ number: Int) {
    // Releasing the body may run other code, so it is released outside the lock.
    _ = state.withLock { $0.observers.removeValue(forKey: number) }
  }
}
