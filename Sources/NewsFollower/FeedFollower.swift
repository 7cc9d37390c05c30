package import BackgroundWork
package import Foundation
package import Logging
package import News
package import NewsStore
package import OutgoingHTTP

/// Follows the subscriptions: polls each feed when it is due, and stores its new and changed entries.
///
/// Any number of processes may do so. A lease in the database ensures that one of them polls a feed at a time.
package final class FeedFollower: LeasedWork {
  /// The result of a poll by hand.
  package enum Attempt: Sendable {
    /// The poll has ended. `lastError` of the subscription is set if it failed.
    case finished(Subscription, ImportCounts)
    /// Another process polls the feed at present.
    case busy
    /// The server of the feed asks for no request before this time. None was sent.
    case notBefore(Date)
  }

  private static let limits = WorkLimits(width: 16, rest: .seconds(2) ... .seconds(2))
  /// The minimum time in seconds until the next poll after one that was interrupted, and after one whose outcome could
  /// not be stored. The feed may have been requested. `Retry-After` of its response may ask for a longer time.
  private static let interruptionWait: Double = 60
  private static let faultWait = PollSchedule.shortest

  private let store: NewsStore
  private let client: OutgoingClient
  private let logger: Logger
  private let limits: NewItemLimits
  private let clock: @Sendable () -> Date?
  private let random: @Sendable () -> Double
  private let countTime: Duration

  /// Creates a follower.
  ///
  /// - Parameters:
  ///   - client: The client, whose shutdown is the caller's.
  ///   - limits: The maximum numbers of new items.
  ///   - clock: The time in place of that of the database; nil for that of the database.
  ///   - random: Returns numbers from 0 to 1, which spread polls over time.
  ///   - countTime: The time between two counts of the subscriptions for metrics.
  package init(
    store: NewsStore, client: OutgoingClient, logger: Logger, limits: NewItemLimits = NewItemLimits(),
    clock: @escaping @Sendable () -> Date? = { nil },
    random: @escaping @Sendable () -> Double = { .random(in: 0...1) }, countTime: Duration = .seconds(15)
  ) {
    self.store = store
    self.client = client
    self.logger = logger
    self.limits = limits
    self.clock = clock
    self.random = random
    self.countTime = countTime
  }

  /// Polls feeds as they become due, until the task is cancelled.
  package func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.countSubscriptions() }
      await worker.run()
    }
  }

  private func countSubscriptions() async {
    while !Task.isCancelled {
      try? await store.countSubscriptions(at: clock())
      try? await Task.sleep(for: countTime)
    }
  }

  /// Polls all feeds that are due now, and waits for them.
  package func pollDue() async throws { _ = try await worker.drain() }

  /// Polls one subscription, whether it is due or not.
  ///
  /// - Throws: `StoreError.notFound`, other errors of the store.
  package func poll(_ id: UUID) async throws -> Attempt {
    guard let lease = try await store.leaseSubscription(for: FeedPoll.leaseTime, only: id, at: clock()) else {
      _ = try await store.subscription(id)
      return .busy
    }
    if let end = lease.notBefore, end > lease.start {
      try await store.releaseLease(lease, wait: 0, at: clock())
      return .notBefore(end)
    }
    let outcome = await poll(lease)
    return .finished(try await store.subscription(id), outcome?.entries ?? ImportCounts())
  }

  private var worker: Worker<FeedFollower> { Worker(self, "feeds", Self.limits) }

  package func lease(_ room: WorkRoom) async throws -> LeasedJobs<SubscriptionLease> {
    let lease = try await store.leaseSubscription(
      for: FeedPoll.leaseTime, skipsFailing: !room.admitsSlow, at: clock())
    return LeasedJobs(lease.map { [$0] } ?? [])
  }

  package func isSlow(_ lease: SubscriptionLease) -> Bool { lease.failures > 0 }

  package func perform(_ lease: SubscriptionLease) async { await poll(lease) }

  /// - Returns: nil if there is no outcome, because the lease was lost or the store has failed.
  @discardableResult
  private func poll(_ lease: SubscriptionLease) async -> PollOutcome? {
    var poll = FeedPoll(
      store: store, client: client, lease: lease, limits: limits, clock: clock, random: random)
    do {
      guard let outcome = try await poll.run() else { return nil }
      if let failure = outcome.failure {
        // A cancelled task has ended the connection itself, which is no failure of the feed.
        try Task.checkCancellation()
        logger.info(
          "a feed could not be read",
          metadata: [
            "subscription": "\(lease.subscription.id.uuidString.lowercased())",
            "reason": "\(failure.message.terminalSafe)",
          ])
      }
      try await store.finishPoll(lease, outcome, at: clock())
      return outcome
    } catch {
      let isInterrupted = error is CancellationError || Task.isCancelled
      if !isInterrupted { logger.warning("a poll could not be finished", metadata: ["error": "\(error)"]) }
      let wait = isInterrupted ? Self.interruptionWait : Self.faultWait
      // Cancellation must not keep the lease. If it cannot be given back, it ends by itself.
      await Task.detached { [store, clock, retryAfter = poll.retryAfter] in
        try? await store.releaseLease(lease, wait: wait, retryAfter: retryAfter, at: clock())
      }.value
      return nil
    }
  }
}
