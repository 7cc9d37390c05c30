public import Foundation
import Synchronization

/// Performs the transfers of a store, up to four at once, until none is left. Each store has one worker in a process of
/// its own, which continues when the app is suspended, crashes or is killed.
///
/// The counterpart of the system's background transfer daemon on Apple platforms.
///
///     let worker = try TransferWorker(store: folder, userAgent: "Harbour/1.0 (+https://harbour.example)")
///     let hasRun = try await worker.run()
///     if !hasRun { print("another worker is running") }
public final class TransferWorker: Sendable {
  /// The maximum number of concurrent transfers.
  public static let maximumConcurrentTransfers = 4
  /// The idle timeout of the worker, in seconds.
  static let idleTimeout = 3.0
  /// The maximum wait for the next attempt, in seconds. For a longer one the worker ends, and a later check starts it
  /// again, such as that of a timer (see ``TransferJournal/needsWorker(store:obstacles:clock:log:)``).
  static let maximumWait = 60.0
  /// The seconds for which the conditions that the machine has reported are reused.
  static let obstacleLifetime = 60.0
  /// The maximum backoff between two attempts, in seconds.
  static let maximumBackoff = 600.0
  /// The number of crashes in a row, without progress between them, that end a transfer.
  static let maximumCrashes = 2
  /// The number of consecutive attempts with useless content that end a transfer.
  static let maximumWastedAttempts = 3
  /// The number of consecutive wrong responses that end a transfer.
  static let maximumWrongResponses = 5
  /// The minimum number of attempts without any response before a transfer is given up, however long they take.
  static let minimumUnansweredAttempts = 6
  /// The maximum time without any response, in seconds, unless the request sets another.
  static let noResponseTimeout = 86_400.0
  /// The number of bytes that resets the count of failures. A sixteenth of the total is enough too.
  static let minimumProgress: Int64 = 1 << 20

  private let journal: TransferJournal
  private let requester: HTTPRequester
  private let currentObstacles: @Sendable () -> Set<Transfer.Obstacle>
  private let clock: any FetchClock
  private let log: @Sendable (String) -> Void
  /// The tasks of the active transfers.
  private let active = Mutex<[Int64: Task<Void, Never>]>([:])
  /// The last conditions that the machine has reported.
  private let lastReading = Mutex<(at: FetchInstant, obstacles: Set<Transfer.Obstacle>)?>(nil)
  private let changes: FolderChanges
  private let retryAfterStore: RetryAfterStore
  private let launchOwner: @Sendable (String) -> Void
  /// The error of a failed write to the journal.
  private let journalFailure = Mutex<(any Error)?>(nil)
  /// Whether an attempt has ended since this was last read. It is used while `active` is locked, so that both agree.
  private let hasAttemptEnded = Atomic(false)

  /// Creates a worker for a store.
  ///
  /// - Parameters:
  ///   - store: The folder of the client.
  ///   - userAgent: The name and version of the client, and how to reach its operators.
  ///   - transport: The HTTP transport; nil for an ``AsyncHTTPTransport``.
  ///   - obstacles: Returns the conditions of the machine that transfers may wait for. It may block for a moment.
  ///   - clock: The machine's clock, or a simulated one in tests.
  ///   - log: Receives lines about failures.
  ///   - launchOwner: Receives the identifier of a session once all of its transfers have ended, if no process has opened
  ///     it. It may launch the app, which then opens the session and receives the events. The journal records the call when
  ///     it returns: if the worker is killed before that, the next worker repeats it. The counterpart of the launch for
  ///     `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
  /// - Throws: ``FetchError`` with `storage`.
  public init(
    store: URL, userAgent: String, transport: (any HTTPTransport)? = nil,
    obstacles: @escaping @Sendable () -> Set<Transfer.Obstacle> = { [] }, clock: any FetchClock = SystemClock(),
    log: @escaping @Sendable (String) -> Void = { _ in }, launchOwner: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    journal = try TransferJournal(store: store, log: log)
    self.launchOwner = launchOwner
    changes = journal.changes()
    retryAfterStore = RetryAfterStore(store: store, clock: clock)
    requester = HTTPRequester(
      transport: transport ?? AsyncHTTPTransport(), userAgent: userAgent, now: { clock.now.date },
      retryAfterStore: retryAfterStore)
    (currentObstacles, self.clock, self.log) = (obstacles, clock, log)
  }

  /// Performs transfers until none has been active or due within a minute for 3 s, or the task is cancelled. In between,
  /// it sleeps until the next attempt is due or the journal changes.
  ///
  /// - Returns: Whether this worker has run; false if another worker is running.
  /// - Throws: ``FetchError`` with `storage` if the journal cannot be read or written; `FetchLock.Failure`;
  ///   `CancellationError` during the wait for another worker.
  @discardableResult
  public func run() async throws -> Bool {
    // Another worker may be about to end. This worker then takes over a transfer that was resumed at this moment.
    guard let held = try await journal.lock.acquire(within: .seconds(5), clock: clock) else { return false }
    defer { held.release() }
    try judgeCrashes()
    let failure = await work()
    for task in active.withLock({ Array($0.values) }) {
      task.cancel()
      await task.value
    }
    if let failure { throw failure }
    return true
  }

  /// Ends the transfers during which workers have crashed repeatedly. The others continue.
  private func judgeCrashes() throws {
    for transfer in try journal.running() where transfer.attempt != nil {
      let crashes = try journal.recordCrash(of: transfer, at: clock.now)
      if crashes > 0 { log("transfer \(transfer.number): the last worker has crashed during it") }
      guard crashes >= Self.maximumCrashes else { continue }
      try giveUp(transfer.number, "the process of the transfers has crashed \(crashes) times during this one")
    }
  }

  /// - Returns: The error that makes the journal unusable; nil at a regular end.
  private func work() async -> (any Error)? {
    var lastWork = clock.now
    while !Task.isCancelled {
      let begun = clock.now
      let due: Double?
      do {
        due = try step()
        try launchOwners()
      } catch {
        return error
      }
      let (isActive, hasEnded) = active.withLock { active in
        (!active.isEmpty, hasAttemptEnded.exchange(false, ordering: .relaxed))
      }
      let isSoon = due.map { $0 <= Self.maximumWait } == true
      // An attempt that has ended since the last look may have been long, and its transfer may be due again.
      if isActive || isSoon || hasEnded { lastWork = clock.now }
      let idle = Self.idleTimeout - clock.now.seconds(since: lastWork)
      if idle <= 0 { return nil }
      let interval = isSoon ? due : isActive ? Self.obstacleLifetime : nil
      // The launch of an app may have taken a while since the journal was read.
      await changes.wait(upTo: interval.map { $0 - clock.now.seconds(since: begun) } ?? idle, clock: clock)
      if let error = journalFailure.withLock({ $0 }) { return error }
    }
    return nil
  }

  /// Starts due transfers, and cancels attempts that are no longer wanted.
  ///
  /// - Returns: The seconds until the next transfer is due; nil if none will be without a change of the journal, of the
  ///   condition or of active transfers.
  private func step() throws -> Double? {
    // An attempt records its outcome before it ends. So the journal, which is read after this, has the outcome of each
    // attempt that is not among these.
    let attempts = active.withLock(\.self)
    let running = try journal.running()
    let now = clock.now
    // A transfer whose time is over is given up when its attempt has ended.
    let wanted = Set(running.filter { $0.timeLeft(at: now) > 0 }.map(\.number))
    for (number, task) in attempts where !wanted.contains(number) { task.cancel() }
    var next: Double?
    // After a crash, one suspect at a time is tried before the other transfers, and alone, so that they are not blamed.
    let suspects = Set(running.filter { $0.suspicion(at: now) != nil }.map(\.number))
    func mayStart(_ number: Int64) -> Bool {
      active.withLock { active in
        active.count < Self.maximumConcurrentTransfers && suspects.isDisjoint(with: active.keys)
      }
    }
    try stopObstructed(running, at: now)
    let ordered = running.filter { suspects.contains($0.number) } + running.filter { !suspects.contains($0.number) }
    for transfer in ordered where attempts[transfer.number] == nil {
      let left = transfer.timeLeft(at: now)
      if left <= 0 {
        try giveUp(transfer.number, transfer.failure ?? "the transfer timed out")
        continue
      }
      guard mayStart(transfer.number) else {
        next = min(next ?? .infinity, left)
        continue
      }
      let delay = transfer.delay(retryAfterStore: retryAfterStore, at: now)
      if delay > 0 {
        next = min(next ?? .infinity, delay, left)
      } else if try canStart(transfer, at: now) {
        try journal.beginAttempt(transfer.number, at: now)
        start(transfer)
      }
    }
    let current = running.filter { transfer in active.withLock { $0[transfer.number] != nil } }
    // An attempt that was cancelled because its time is over signals its end.
    return ([next] + current.flatMap { [$0.suspicion(at: now), $0.timeLeft(at: now)] }).compactMap(\.self)
      .filter { $0 > 0 }.min()
  }

  /// Launches the apps whose transfers have ended, also those that an earlier worker has left.
  private func launchOwners() throws {
    for launch in try journal.pendingLaunches() {
      launchOwner(launch.session)
      try journal.recordLaunch(launch)
    }
  }

  /// Stops the attempts whose conditions no longer hold. The received part is kept.
  private func stopObstructed(_ running: [Transfer], at now: FetchInstant) throws {
    for transfer in running where transfer.request.hasConditions {
      guard let task = active.withLock({ $0[transfer.number] }), try !canStart(transfer, at: now) else { continue }
      task.cancel()
    }
  }

  private func start(_ transfer: Transfer) {
    active.withLock { active in
      active[transfer.number] = Task {
        await attempt(transfer)
        self.active.withLock { active in
          active.removeValue(forKey: transfer.number)
          hasAttemptEnded.store(true, ordering: .relaxed)
        }
        changes.signal()
      }
    }
  }

  /// Returns whether no condition delays a transfer, and stores the condition in the journal.
  private func canStart(_ transfer: Transfer, at now: FetchInstant) throws -> Bool {
    let obstacle = transfer.request.hasConditions ? transfer.request.obstacle(among: obstacles(at: now)) : nil
    if obstacle != transfer.obstacle { try journal.update(transfer.number) { $0.obstacle = obstacle } }
    return obstacle == nil
  }

  /// Returns the conditions that the machine reports. The machine is queried at most once a minute.
  private func obstacles(at now: FetchInstant) -> Set<Transfer.Obstacle> {
    let known = lastReading.withLock { $0 }
    if let known, now.seconds(since: known.at) < Self.obstacleLifetime { return known.obstacles }
    let obstacles = currentObstacles()
    lastReading.withLock { $0 = (now, obstacles) }
    return obstacles
  }

  private func attempt(_ transfer: Transfer) async {
    do {
      switch transfer.request.direction {
      case .download: try await Download(journal: journal, requester: requester, clock: clock).run(transfer)
      case .upload: try await Upload(journal: journal, requester: requester, clock: clock).run(transfer)
      }
    } catch is CancellationError {
      // The transfer was suspended or cancelled, or the worker ends.
    } catch {
      let error = error as? FetchError ?? FetchError(.storage, StorageFailure.reason(error))
      log("transfer \(transfer.number): \(error)")
      do { try record(error, of: transfer) } catch {
        log("\(error)")
        // Without a stored failure the transfer would be tried again at once.
        journalFailure.withLock { $0 = error }
      }
    }
    do {
      guard let current = try journal.transfer(transfer.number) else { return }
      if !current.state.isOver { try journal.endAttempt(transfer.number) }
      // A transfer that was cancelled meanwhile has left its partial file.
      if current.state == .cancelled {
        journal.removePart(transfer)
        if let url = current.partialUpload { await cancel(transfer, url) }
      }
    } catch let failure {
      journalFailure.withLock { $0 = failure }
    }
  }

  /// Cancels an upload at its server. The journal no longer has the header fields, and the own task is cancelled.
  private func cancel(_ transfer: Transfer, _ url: URL) async {
    await Task { [journal, requester, clock] in
      await PartialUpload.cancel(transfer, url, Upload(journal: journal, requester: requester, clock: clock))
    }.value
  }

  /// Decides about a transfer whose attempt has failed.
  private func record(_ error: FetchError, of transfer: Transfer) throws {
    guard let current = try journal.transfer(transfer.number) else { return }
    let now = clock.now
    // A request that was not sent because of `Retry-After` is not a failed attempt.
    let progress = current.completed - transfer.completed
    // The received part of a download is lost unless it can be resumed.
    let isKept = transfer.request.direction == .upload || current.entityTag != nil
    let hasProgressed = isKept && progress >= min(Self.minimumProgress, max(1, (current.total ?? .max) / 16))
    let consecutive = hasProgressed ? 0 : current.failures + (error.code == .retryAfterPending ? 0 : 1)
    let failures = max(consecutive, (current.wastedAttempts ?? 1) - 1)
    let isUseless = current.wastedAttempts ?? 0 >= Self.maximumWastedAttempts
    let isUnanswered = error.code == .unreachable && error.status == nil && progress <= 0
    let unansweredSince = isUnanswered ? current.unansweredSince ?? now : nil
    let isFinal =
      switch error.code {
      case .rejected, .redirect, .storage: true
      case _ where isUseless: true
      case .unexpectedResponse, .tooLarge: failures >= Self.maximumWrongResponses
      default:
        failures >= Self.minimumUnansweredAttempts
          && unansweredSince.map { now.elapsed(since: $0) } ?? 0
            >= transfer.request.noResponseSeconds ?? Self.noResponseTimeout
      }
    if isFinal { return try giveUp(transfer.number, error.message) }
    let backoff = min(Double(1 << min(failures, 20)) / 2, Self.maximumBackoff) * .random(in: 0.5...1)
    try journal.update(transfer.number) { transfer in
      (transfer.failures, transfer.failure, transfer.unansweredSince) = (failures, error.message, unansweredSince)
      transfer.waiting = WaitingPeriod(
        max((error.retryAfter ?? .zero) / .seconds(1), backoff), from: now, maximum: RetryAfterStore.maximumWait)
    }
  }

  private func giveUp(_ number: Int64, _ failure: String) throws {
    guard let transfer = try journal.transfer(number), transfer.state == .running else { return }
    // The partial file is removed first, so that nothing is left when the end is reported.
    journal.removePart(transfer)
    try journal.updateWithEvent(number) { transfer in
      guard transfer.state == .running else { return nil }
      (transfer.state, transfer.failure) = (.failed, failure)
      return .completed
    }
  }
}
