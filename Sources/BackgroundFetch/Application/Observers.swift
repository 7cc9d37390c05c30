import Synchronization

/// Observers of something that happens; each is called once per value.
///
/// They are told in the order in which they came, and each of them of the values in the order of `notify`, one at a time.
/// No lock is held meanwhile: they may register, cancel and notify.
public final class Observers<Value: Sendable>: Sendable {
  private struct Observer: Sendable {
    var tell: @Sendable (Value) -> Void
    var end: @Sendable () -> Void
  }

  private struct State {
    /// By number, which counts up.
    var observers: [UInt64: Observer] = [:]
    var last: UInt64 = 0
    /// Values that have not been told, each with those who were there when it came.
    var untold: [(value: Value, audience: [UInt64])] = []
    var isTelling = false
  }

  private let state = Mutex(State())

  /// Nobody yet.
  public init() {}

  deinit {
    for observer in state.withLock(\.observers).values { observer.end() }
  }

  /// Tells the body of each value from now on, on the thread of whoever notifies.
  ///
  /// - Returns: The registration; it ends when that is let go of.
  public func add(_ body: @escaping @Sendable (Value) -> Void) -> Observation {
    let number = register(Observer(tell: body, end: {}))
    return Observation { [weak self] in self?.remove(number) }
  }

  /// The values from now on, until the loop is left or the observers are let go of.
  ///
  /// - Parameter limit: The maximum number of values that wait for a slow reader. Beyond it the oldest are lost, so that
  ///   a reader who has stopped reading does not take all memory.
  public func values(bufferingNewest limit: Int = 1000) -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(limit))
    let number = register(Observer(tell: { continuation.yield($0) }, end: { continuation.finish() }))
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  /// Tells everybody who is registered at this moment and still is when it is their turn.
  ///
  /// While values are being told already, by another thread or further up the stack, this returns at once, and the value
  /// is told there, after those.
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
    // Let go of outside the lock, as what its body holds may do anything when it goes.
    _ = state.withLock { $0.observers.removeValue(forKey: number) }
  }
}
