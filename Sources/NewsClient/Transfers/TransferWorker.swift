public import BackgroundFetch
public import Foundation
import Synchronization

/// Does the transfers of a store, several at once, until there is nothing left to do. There is one for a store, in a
/// process of its own: it goes on when the app is suspended, crashes or is killed.
public final class TransferWorker: Sendable {
  /// How many transfers are under way at the same time.
  public static let mostAtOnce = 4
  /// How long it waits for something to do before it ends.
  static let idle = 3.0
  /// How often it looks for what has been asked for.
  static let pause = Duration.milliseconds(200)
  /// For how long what the machine has said of its constraints is believed, in seconds.
  static let steadiness = 10.0
  /// The longest time between two attempts, in seconds.
  static let longestBackoff = 600.0
  /// How often an answer may be none of what is wanted, one after the other.
  static let mostWrongAnswers = 5

  private let journal: TransferJournal
  private let exchange: Exchange
  private let constraints: any ConstraintSource
  private let clock: any FetchClock
  private let log: @Sendable (String) -> Void
  /// Those that are under way.
  private let active = Mutex<[Int64: Task<Void, Never>]>([:])
  /// What the machine has said last.
  private let asked = Mutex<(at: FetchMoment, isFree: Bool)?>(nil)

  /// A worker for a store.
  ///
  /// - Parameters:
  ///   - store: The folder of the client.
  ///   - userAgent: Name, version and how to reach those who run it.
  ///   - transport: What sends requests; AsyncHTTPClient if nothing is said.
  ///   - constraints: What those wait for that are discretionary.
  ///   - clock: The machine's, or another one in tests.
  ///   - log: Gets lines about what failed.
  /// - Throws: ``FetchError`` with `storage`.
  public init(
    store: URL, userAgent: String, transport: (any HTTPTransport)? = nil,
    constraints: any ConstraintSource = FetchConstraints.none, clock: any FetchClock = SystemClock(),
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    journal = try TransferJournal(store: store)
    exchange = Exchange(
      transport: transport ?? AsyncHTTPTransport(), userAgent: userAgent, now: { clock.now.date })
    (self.constraints, self.clock, self.log) = (constraints, clock, log)
  }

  /// Works until there has been nothing to do for a while, or the task is cancelled.
  ///
  /// - Returns: false, and nothing has been done, if another worker is at it.
  /// - Throws: ``FetchError`` with `storage`, where the journal cannot be read.
  @discardableResult
  public func run() async throws -> Bool {
    // Another one may be about to end: what was asked for in this moment is then ours to do.
    guard let held = try await journal.lock.acquire(within: .seconds(5), clock: clock) else { return false }
    defer { held.release() }
    var lastWork = clock.now
    var failure: (any Error)?
    while !Task.isCancelled {
      do { if try step() { lastWork = clock.now } } catch {
        failure = error
        break
      }
      if clock.now.seconds(since: lastWork) > Self.idle { break }
      try? await clock.sleep(for: Self.pause)
    }
    for task in active.withLock({ Array($0.values) }) {
      task.cancel()
      await task.value
    }
    if let failure { throw failure }
    return true
  }

  /// Starts what is due, and ends what is not wanted any more.
  ///
  /// - Returns: Whether there is anything to do or to wait for.
  private func step() throws -> Bool {
    let running = try journal.running()
    let wanted = Set(running.map(\.number))
    for (number, task) in active.withLock({ $0 }) where !wanted.contains(number) { task.cancel() }
    let now = clock.now.date
    for transfer in running where active.withLock({ $0[transfer.number] == nil && $0.count < Self.mostAtOnce }) {
      if let begun = transfer.begun, now > begun + transfer.request.patience {
        try giveUp(transfer.number, transfer.failure ?? "the time for it is over")
      } else if transfer.due <= now, !transfer.request.isDiscretionary || isFree(at: clock.now) {
        start(transfer)
      }
    }
    return !running.isEmpty || active.withLock { !$0.isEmpty }
  }

  private func start(_ transfer: Transfer) {
    active.withLock { active in
      active[transfer.number] = Task {
        await attempt(transfer)
        _ = self.active.withLock { $0.removeValue(forKey: transfer.number) }
      }
    }
  }

  /// Whether nothing is in the way of those that are discretionary. The machine is not asked all the time.
  private func isFree(at now: FetchMoment) -> Bool {
    let known = asked.withLock { $0 }
    if let known, now.seconds(since: known.at) < Self.steadiness { return known.isFree }
    let current = constraints.current
    let isFree = !current.isMetered && !current.isOnBattery && !current.isLowPower
    asked.withLock { $0 = (now, isFree) }
    return isFree
  }

  private func attempt(_ transfer: Transfer) async {
    do {
      switch transfer.request.direction {
      case .download: try await Download(journal: journal, exchange: exchange, clock: clock).run(transfer)
      case .upload: try await Upload(journal: journal, exchange: exchange, clock: clock).run(transfer)
      }
    } catch is CancellationError {
      // Somebody has suspended or cancelled it, or the worker ends.
    } catch {
      let error = error as? FetchError ?? FetchError(.storage, "\(error)")
      log("transfer \(transfer.number): \(error)")
      do { try note(error, of: transfer) } catch { log("\(error)") }
    }
    // One that was cancelled meanwhile has left something behind.
    if (try? journal.transfer(transfer.number))??.state == .cancelled {
      try? FileManager.default.removeItem(at: journal.partialFile(transfer))
    }
  }

  /// Decides what becomes of a transfer whose attempt has failed.
  private func note(_ error: FetchError, of transfer: Transfer) throws {
    guard let current = try journal.transfer(transfer.number) else { return }
    let failures = current.completed > transfer.completed ? 0 : current.failures + 1
    let isHopeless =
      switch error.code {
      case .rejected, .redirect: true
      case .notTidings, .tooLarge: failures >= Self.mostWrongAnswers
      default: false
      }
    if isHopeless { return try giveUp(transfer.number, error.message) }
    let backoff = min(Double(1 << min(failures, 20)) / 2, Self.longestBackoff) * .random(in: 0.5...1)
    try journal.update(transfer.number) { transfer in
      (transfer.failures, transfer.failure) = (failures, error.message)
      transfer.due = clock.now.date + max(error.retryAfter ?? 0, backoff)
    }
  }

  private func giveUp(_ number: Int64, _ failure: String) throws {
    guard let transfer = try journal.transfer(number), transfer.state == .running else { return }
    // First, so that nothing is left when the end is told.
    try? FileManager.default.removeItem(at: journal.partialFile(transfer))
    try journal.tell(number) { transfer in
      guard transfer.state == .running else { return nil }
      (transfer.state, transfer.failure) = (.failed, failure)
      return .completed
    }
  }
}
