import Synchronization

/// A signal that one task waits for.
///
/// A signal that is set while nobody waits ends the next wait at once. Several signals before a wait are one.
package final class WakeSignal: Sendable {
  private struct State {
    var isSet = false
    var waiter: CheckedContinuation<Void, Never>?
    /// The number of waits so far, by which a timer recognises its own.
    var wait = 0
  }

  private let state = Mutex(State())

  package init() {}

  /// Ends the present wait, or the next one.
  package func set() { wake(onlyWait: nil) }

  /// Waits for the signal, or until a time has passed or the task is cancelled. One task at a time may wait.
  package func wait(for duration: Duration) async {
    let number = state.withLock { state in
      state.wait += 1
      return state.wait
    }
    let timer = Task {
      // A cancelled timer belongs to a wait that has ended.
      if (try? await Task.sleep(for: duration)) != nil { wake(onlyWait: number) }
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isSet = state.withLock { state in
          defer { state.isSet = false }
          if !state.isSet { state.waiter = continuation }
          return state.isSet
        }
        if isSet { continuation.resume() }
      }
    } onCancel: {
      wake(onlyWait: number)
    }
    timer.cancel()
  }

  /// - Parameter onlyWait: The number of the wait to end; nil for any.
  private func wake(onlyWait: Int?) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard onlyWait == nil || onlyWait == state.wait else { return nil }
      defer { state.waiter = nil }
      if state.waiter == nil { state.isSet = true }
      return state.waiter
    }
    waiter?.resume()
  }
}
