import DequeModule
import NewsStore
import Synchronization

/// Claimed messages that wait for a worker of this process.
final class MessageQueue: Sendable {
  /// A message and the time at which it was claimed.
  struct Entry: Sendable {
    var message: PushMessage
    var claimed: ContinuousClock.Instant
  }

  private struct State {
    var entries: Deque<Entry> = []
    var workers: Deque<CheckedContinuation<Entry?, Never>> = []
    /// The number of workers that have a message.
    var working = 0
    var isClosed = false

    /// Returns the next message for a worker; nil if none waits.
    mutating func take() -> Entry? {
      guard let entry = entries.popFirst() else { return nil }
      working += 1
      return entry
    }
  }

  private let state = Mutex(State())
  /// A signal that messages have left the queue.
  let hasRoom = WakeSignal()
  private let threshold: Int

  /// - Parameter threshold: The number of waiting messages below which there is room for more.
  init(threshold: Int) { self.threshold = threshold }

  /// The number of messages that wait.
  var waiting: Int { state.withLock { $0.entries.count } }

  /// Whether no message waits and no worker has one.
  var isIdle: Bool { state.withLock { $0.entries.isEmpty && $0.working == 0 } }

  /// Adds messages.
  func append(_ messages: [PushMessage], claimed: ContinuousClock.Instant) {
    for message in messages {
      let entry = Entry(message: message, claimed: claimed)
      let worker = state.withLock { state -> CheckedContinuation<Entry?, Never>? in
        guard let worker = state.workers.popFirst() else {
          state.entries.append(entry)
          return nil
        }
        state.working += 1
        return worker
      }
      worker?.resume(returning: entry)
    }
  }

  /// Returns the next message, and waits for it. The worker calls `finish()` when it is done with the message.
  ///
  /// - Returns: nil once the queue is closed.
  func next() async -> Entry? {
    if let entry = state.withLock({ $0.take() }) { return entry }
    return await withCheckedContinuation { continuation in
      let (entry, isOver) = state.withLock { state -> (Entry?, Bool) in
        if let entry = state.take() { return (entry, false) }
        if !state.isClosed { state.workers.append(continuation) }
        return (nil, state.isClosed)
      }
      if entry != nil || isOver { continuation.resume(returning: entry) }
    }
  }

  /// Notes that a worker is done with its message.
  func finish() {
    let hasRoom = state.withLock { state in
      state.working -= 1
      return state.entries.count < threshold
    }
    if hasRoom { self.hasRoom.set() }
  }

  /// Ends the workers, and returns the messages that have not been handed to one.
  func close() -> [Entry] {
    let (entries, workers) = state.withLock { state in
      defer { (state.entries, state.workers, state.isClosed) = ([], [], true) }
      return (Array(state.entries), state.workers)
    }
    for worker in workers { worker.resume(returning: nil) }
    return entries
  }
}
