public import Foundation
import HTTPTypes
public import Logging
public import News
import NewsFeeds
public import NewsStore
public import OutgoingHTTP
import Synchronization

/// Follows the subscriptions: polls each feed when it is due, and stores its new and changed entries.
///
/// Any number of processes may do so. A lease in the database ensures that one of them polls a feed at a time.
public final class FeedFollower: Sendable {
  /// The maximum number of feeds that a process polls at a time, so that a feed that does not answer delays no other.
  private static let width = 16
  /// The duration of a lease in seconds, longer than the timeout of a request. It is extended before each chunk.
  private static let leaseTime: Double = 180
  /// The maximum wait before the subscriptions are read again, which bounds the delay of a new one.
  private static let restTime: Duration = .seconds(2)
  private static let chunk = 250

  private let store: NewsStore
  private let client: OutgoingClient
  private let logger: Logger
  private let clock: @Sendable () -> Date?

  /// Creates a follower.
  ///
  /// - Parameter client: The client, whose shutdown is the caller's.
  public convenience init(store: NewsStore, client: OutgoingClient, logger: Logger) {
    self.init(store: store, client: client, logger: logger, clock: { nil })
  }

  /// - Parameter clock: The time in place of that of the database; nil for that of the database.
  package init(store: NewsStore, client: OutgoingClient, logger: Logger, clock: @escaping @Sendable () -> Date?) {
    self.store = store
    self.client = client
    self.logger = logger
    self.clock = clock
  }

  /// Polls feeds as they become due, until the task is cancelled.
  public func run() async {
    await withDiscardingTaskGroup { group in
      let polling = Polling()
      while !Task.isCancelled {
        var hasMore = false
        // An error means that the database does not answer, which the log of its connections says.
        if polling.count < Self.width, let lease = try? await lease(nil) {
          hasMore = true
          polling.change(by: 1)
          group.addTask {
            await self.poll(lease)
            polling.change(by: -1)
          }
        }
        if !hasMore { try? await Task.sleep(for: Self.restTime) }
      }
    }
  }

  /// Polls all feeds that are due now, and waits for them.
  package func pollDue() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      var running = 0
      while let lease = try await lease(nil) {
        if running == Self.width {
          try await group.next()
          running -= 1
        }
        running += 1
        group.addTask { await self.poll(lease) }
      }
      try await group.waitForAll()
    }
  }

  /// Polls one subscription, whether it is due or not.
  ///
  /// - Returns: The subscription after the poll; nil if another process polls it now.
  /// - Throws: The errors of the store.
  public func poll(_ id: UUID) async throws -> Subscription? {
    guard let lease = try await lease(id) else { return nil }
    await poll(lease)
    return try await store.subscription(id)
  }

  private func lease(_ id: UUID?) async throws -> SubscriptionLease? {
    try await store.leaseSubscription(for: Self.leaseTime, only: id, at: clock())
  }

  private func poll(_ lease: SubscriptionLease) async {
    do {
      guard let outcome = try await outcome(of: lease) else { return }
      if let failure = outcome.failure {
        logger.info(
          "a feed could not be read",
          metadata: [
            "subscription": "\(lease.subscription.id.uuidString.lowercased())",
            "reason": "\(failure.message.terminalSafe)",
          ])
      }
      try await store.finishPoll(lease, outcome, at: clock())
    } catch {
      if !(error is CancellationError), !Task.isCancelled {
        logger.warning("a poll could not be finished", metadata: ["error": "\(error)"])
      }
      // Cancellation must not keep the lease. If it cannot be given back, it ends by itself.
      await Task.detached { [store] in try? await store.releaseLease(lease) }.value
    }
  }

  /// Requests a feed and stores its entries.
  ///
  /// - Returns: nil if the lease was lost.
  /// - Throws: `CancellationError`, the errors of the store.
  private func outcome(of lease: SubscriptionLease) async throws -> PollOutcome? {
    let response: OutgoingResponse
    do {
      var fields: HTTPFields = [.accept: "application/atom+xml, application/rss+xml, application/feed+json, */*;q=0.5"]
      if let etag = lease.etag { fields[.ifNoneMatch] = etag }
      if let date = lease.lastModified { fields[.ifModifiedSince] = date }
      response = try await client.send(OutgoingRequest(url: try OutgoingURL(lease.subscription.url), fields: fields))
    } catch let error as OutgoingError {
      return failure(lease, [:], status: nil, "\(error)")
    }
    switch response.status {
    case 200: return try await apply(response, lease)
    case 304: return try success(lease, response, schedule(lease))
    case 410:
      var outcome = failure(lease, response.fields, status: 410, "the feed is gone for good (410)")
      outcome.pauses = true
      return outcome
    default:
      return failure(
        lease, response.fields, status: response.status, "the server has answered with the status \(response.status)")
    }
  }

  /// Stores the entries of a response.
  private func apply(_ response: OutgoingResponse, _ lease: SubscriptionLease) async throws -> PollOutcome? {
    let subscription = lease.subscription
    var batch = ImportBatch(
      now: lease.start,
      assignment: .init(
        topics: subscription.topics, language: subscription.language,
        state: subscription.state == .draft ? .draft : .published))
    let reader = FeedReader(
      FeedReader.Options(
        address: response.url.text, contentType: response.fields[.contentType],
        missingDate: .firstSeen(at: lease.start)))
    var dates: [Date] = []
    var broken: String?
    for event in reader.feed(Data(response.body)) + reader.finish() {
      switch event {
      case .entry(let entry):
        if !entry.isDateFirstSeen { dates.append(entry.date) }
        _ = batch.add(entry)
        if batch.items.count == Self.chunk, try await !write(&batch, lease) { return nil }
      case .failed(let problem): broken = "\(problem)"
      case .skipped, .reduced, .noted: break
      }
    }
    guard try await write(&batch, lease) else { return nil }
    if let broken {
      return failure(lease, response.fields, status: response.status, "the response is not a complete feed: \(broken)")
    }
    var outcome = try success(lease, response, PollSchedule(dates: dates, now: lease.start))
    outcome.validators = (response.fields[.eTag], response.fields[.lastModified])
    return outcome
  }

  /// - Returns: Whether the lease was still valid.
  private func write(_ batch: inout ImportBatch, _ lease: SubscriptionLease) async throws -> Bool {
    let topics = batch.takeTopics()
    let items = batch.takeItems()
    if items.isEmpty { return true }
    guard try await store.extendLease(lease, by: Self.leaseTime) else { return false }
    try await store.ensureTopics(topics)
    _ = try await store.importItems(items)
    return true
  }

  private func schedule(_ lease: SubscriptionLease) -> PollSchedule {
    lease.pacing.flatMap { try? JSONDecoder().decode(PollSchedule.self, from: $0) } ?? PollSchedule()
  }

  private func success(
    _ lease: SubscriptionLease, _ response: OutgoingResponse, _ schedule: PollSchedule
  ) throws -> PollOutcome {
    var outcome = PollOutcome(
      wait: schedule.interval(now: lease.start, fields: response.fields, jitter: .random(in: 0...1)))
    outcome.pacing = try JSONEncoder().encode(schedule)
    outcome.movedTo = response.movedTo?.text
    return outcome
  }

  private func failure(
    _ lease: SubscriptionLease, _ fields: HTTPFields, status: Int?, _ message: String
  ) -> PollOutcome {
    var outcome = PollOutcome(
      wait: PollSchedule.backoff(
        failures: lease.failures, fields: fields, now: lease.start, jitter: .random(in: 0...1)))
    outcome.failure = (status: status, message: String(message.terminalSafe.prefix(1000)))
    return outcome
  }
}

/// The number of polls under way.
private final class Polling: Sendable {
  private let value = Mutex(0)

  var count: Int { value.withLock { $0 } }

  func change(by difference: Int) { value.withLock { $0 += difference } }
}
