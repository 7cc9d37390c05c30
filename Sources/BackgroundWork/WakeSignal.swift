import Synchronization

/// A signal that tasks wait for.
///
/// A signal that is set while nobody waits ends the next wait at once. Several signals before a wait are one.
package final class WakeSignal: Sendable {
  private struct State {
    var isSet = false
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    /// The number of waits so far, by which a timer recognises its own.
    var waits = 0
  }

  private let state = Mutex(State())

  package init() {}

  /// Returns whether the next wait would end at once, and resets the signal.
  package func take() -> Bool { state.withLock { exchange(&$0.isSet, with: false) } }

  /// Ends the present waits, or the next one.
  package func set() {
    let waiters = state.withLock { state in
      if state.waiters.isEmpty { state.isSet = true }
      defer { state.waiters = [:] }
      return state.waiters
    }
    for waiter in waiters.values { waiter.resume() }
  }

  /// Waits for the signal, or until a time has passed or the task is cancelled.
  package func wait(for duration: Duration) async {
    let number = state.withLock { state in
      state.waits += 1
      return state.waits
    }
    let timer = Task {
      // A cancelled timer belongs to a wait that has ended.
      if (try? await Task.sleep(for: duration)) != nil { end(number) }
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.isSet || Task.isCancelled {
            state.isSet = false
            return true
          }
          state.waiters[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      end(number)
    }
    timer.cancel()
  }

  private func end(_ number: Int) {
    state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
  }
}
