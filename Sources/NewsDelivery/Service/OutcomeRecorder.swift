import BackgroundWork
package import Logging
package import NewsStore
import Synchronization

/// Writes the outcomes of messages to the database, in batches.
///
/// While the database does not answer, outcomes wait here as long as their leases live. The number of waiting outcomes is
/// bounded: workers that bring more wait.
package final class OutcomeRecorder: Sendable {
  /// The maximum number of outcomes in a statement.
  package static let batchSize = 200
  /// The longest wait of an outcome for others, before both are written together.
  static let batchTime: Duration = .milliseconds(100)
  /// The maximum number of waiting outcomes. A process that dies loses them, and their messages are sent twice.
  package static let capacity = 400

  /// An outcome and the time at which its message was leased.
  package struct Entry: Sendable {
    var outcome: PushOutcome
    var leased: ContinuousClock.Instant

    package init(outcome: PushOutcome, leased: ContinuousClock.Instant) {
      self.outcome = outcome
      self.leased = leased
    }
  }

  private struct State {
    var entries: [Entry] = []
    var waiters: [CheckedContinuation<Void, Never>] = []
    /// The time after which nothing is tried again; nil until `bound(to:)` is called.
    var end: ContinuousClock.Instant?
    /// Whether no worker brings more.
    var isClosed = false

    /// Whether workers may bring more.
    var hasRoom: Bool { entries.count <= OutcomeRecorder.capacity || end != nil }
  }

  private let state = Mutex(State())
  private let hasEntries = WakeSignal()
  private let isFull = WakeSignal()
  private let lease: Duration
  private let logger: Logger
  private let write: @Sendable ([PushOutcome]) async throws -> Void
  private let sleep: @Sendable (Duration) async -> Void

  /// - Parameters:
  ///   - lease: The duration of a lease.
  ///   - write: Writes a batch to the database.
  ///   - sleep: Waits after an error.
  package init(
    lease: Duration, logger: Logger, write: @escaping @Sendable ([PushOutcome]) async throws -> Void,
    sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
  ) {
    self.lease = lease
    self.logger = logger
    self.write = write
    self.sleep = sleep
  }

  /// Adds an outcome, and waits while there are too many.
  package func add(_ entry: Entry) async {
    let (count, hasRoom) = state.withLock { state in
      state.entries.append(entry)
      return (state.entries.count, state.hasRoom)
    }
    if count == 1 { hasEntries.set() }
    if count == Self.batchSize { isFull.set() }
    if hasRoom { return }
    await withCheckedContinuation { continuation in
      let hasRoom = state.withLock { state in
        if !state.hasRoom { state.waiters.append(continuation) }
        return state.hasRoom
      }
      if hasRoom { continuation.resume() }
    }
  }

  /// Adds the outcomes of messages that were not sent, without waiting.
  func add(_ entries: [Entry]) {
    state.withLock { $0.entries += entries }
    hasEntries.set()
  }

  /// Writes batches until `close(within:)` was called and all is written, or the leases of the rest have ended.
  package func run() async {
    while true {
      let (count, isEnding, isClosed) = state.withLock { ($0.entries.count, $0.end != nil, $0.isClosed) }
      if count == 0 {
        if isClosed { return }
        await hasEntries.wait(for: .seconds(3600))
        continue
      }
      if count < Self.batchSize, !isEnding { await isFull.wait(for: Self.batchTime) }
      await flush()
    }
  }

  /// Bounds the time in which outcomes are tried again. Workers that wait go on, and may bring more. The first call counts.
  package func bound(to time: Duration) {
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      state.end = state.end ?? .now + time
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
    hasEntries.set()
    isFull.set()
  }

  /// Lets `run()` return once all is written, or a time has passed. It is called when no worker brings more: what is added
  /// later may never be written.
  package func close(within time: Duration) {
    state.withLock { $0.isClosed = true }
    bound(to: time)
  }

  private func flush() async {
    let batch = state.withLock { Array($0.entries.prefix(Self.batchSize)) }
    var wait = Duration.milliseconds(100)
    var entries = batch
    while !entries.isEmpty {
      do {
        try await write(entries.map(\.outcome))
        break
      } catch {
        // The cause is in the log of the connections to the database.
        logger.debug("outcomes of messages could not be written", metadata: ["count": "\(entries.count)"])
      }
      await sleep(wait)
      wait = min(wait * 2, .seconds(2))
      // A message whose lease has ended is sent again, by any process.
      let now = ContinuousClock.now
      let isOver = state.withLock { $0.end.map { $0 < now } ?? false }
      entries.removeAll { isOver || $0.leased + lease < now }
    }
    let lost = batch.count - entries.count
    if lost > 0 {
      logger.warning("outcomes of messages are lost, and the messages are sent again", metadata: ["count": "\(lost)"])
    }
    let waiters = state.withLock { state in
      state.entries.removeFirst(batch.count)
      guard state.entries.count <= Self.capacity else { return [CheckedContinuation<Void, Never>]() }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}
