package import BackgroundWork
package import Foundation
package import Logging
import News
import NewsFeeds
package import NewsStore
package import OutgoingHTTP

/// Announces changed feeds of this installation to a WebSub hub, which notifies its subscribers.
///
/// Any number of processes may do so; a lease in the database ensures that one of them announces at a time. The database
/// has the version of each feed that was announced, so that no announcement is lost with a process.
package final class HubAnnouncer: LeasedWork {
  /// The maximum number of requests at a time.
  private static let width = 4
  /// The wait after a change, so that changes at the same time are announced once.
  private static let settlingTime: Duration = .seconds(1)
  /// The minimum time between the announcements of a hub, in seconds.
  private static let interval: Double = 10
  /// One process announces at a time. Without changes, the database is read once a minute.
  private static let limits = WorkLimits(width: 1, rest: settlingTime ... .seconds(60))

  private let store: NewsStore
  private let hubs: HubConnection
  private let feeds: AnnouncedFeeds
  private let logger: Logger
  private let clock: @Sendable () -> Date?

  /// Creates an announcer.
  ///
  /// - Parameters:
  ///   - client: The client, whose shutdown is the caller's.
  ///   - hub: The address of the hub.
  ///   - publicURL: The address of the installation, without a trailing slash.
  ///   - clock: The time in place of that of the database; nil for that of the database.
  package init(
    store: NewsStore, client: OutgoingClient, hub: String, publicURL: String, logger: Logger,
    clock: @escaping @Sendable () -> Date? = { nil }
  ) {
    self.store = store
    hubs = HubConnection(client: client)
    feeds = AnnouncedFeeds(hub: hub, base: publicURL, names: PublishedFormat.allCases.map(\.fileName))
    self.logger = logger
    self.clock = clock
  }

  /// Announces feeds after they have changed, until the task is cancelled.
  package func run() async {
    let changes = WakeSignal()
    await withDiscardingTaskGroup { group in
      group.addTask {
        await self.store.forEachVersion {
          try? await Task.sleep(for: Self.settlingTime)
          changes.set()
        }
      }
      await Worker(self, "announcements", Self.limits, wokenBy: changes).run()
    }
  }

  /// Announces the feeds that have changed and whose hub may be asked now.
  ///
  /// - Returns: The time until feeds can be announced, in seconds; nil if no feed has changed.
  /// - Throws: The errors of the store.
  @discardableResult
  package func announceDue() async throws -> Double? { try await Worker(self, "announcements", Self.limits).drain() }

  package static var endsMakeDue: Bool { true }

  package func lease(_ room: WorkRoom) async throws -> LeasedJobs<AnnouncementLease> {
    let answer = try await store.leaseAnnouncements(feeds, at: clock())
    return LeasedJobs(answer.lease.map { [$0] } ?? [], wait: answer.wait)
  }

  package func perform(_ lease: AnnouncementLease) async throws {
    let outcome: Outcome
    do {
      outcome = try await announce(lease)
    } catch {
      // Cancellation must not keep the lease. If it cannot be given back, it ends by itself.
      await Task.detached { [store] in try? await store.releaseAnnouncements(lease) }.value
      throw error
    }
    guard outcome.isHeld else { return }
    var wait = lease.feeds.count == NewsStore.maximumAnnouncements ? 0 : Self.interval
    if let refusal = outcome.refusal {
      wait = HubConnection.wait(after: refusal, failures: lease.failures, now: clock() ?? Date())
      logger.warning(
        "the hub has not accepted an announcement",
        metadata: ["hub": "\(feeds.hub)", "reason": "\(refusal.message.terminalSafe)"])
    }
    try await store.finishAnnouncements(lease, hasFailed: outcome.refusal != nil, wait: wait, at: clock())
  }

  private struct Outcome {
    /// The last refusal.
    var refusal: HubConnection.Refusal?
    /// Whether the lease is still valid.
    var isHeld = true
  }

  /// Announces the feeds of a lease, until the hub cannot be used.
  private func announce(_ lease: AnnouncementLease) async throws -> Outcome {
    try await withThrowingTaskGroup(of: Outcome.self) { group in
      var outcome = Outcome()
      func add(_ next: Outcome) {
        outcome.refusal = next.refusal ?? outcome.refusal
        outcome.isHeld = outcome.isHeld && next.isHeld
      }
      var running = 0
      for feed in lease.feeds {
        if running == Self.width, let next = try await group.next() {
          running -= 1
          add(next)
        }
        guard outcome.isHeld, outcome.refusal?.isFinal ?? true else { break }
        running += 1
        group.addTask { try await self.announce(feed, lease) }
      }
      while let next = try await group.next() { add(next) }
      return outcome
    }
  }

  private func announce(_ feed: ChangedFeed, _ lease: AnnouncementLease) async throws -> Outcome {
    var outcome = Outcome()
    do {
      // PubSubHubbub 0.4 section 7 names the parameter `hub.url`; WebSub leaves it open, and some hubs read `hub.topic`.
      try await hubs.send(
        [("hub.mode", HubActivity.Mode.publish.rawValue), ("hub.url", feed.url), ("hub.topic", feed.url)],
        to: feeds.hub)
    } catch let refusal as HubConnection.Refusal {
      outcome.refusal = refusal
    }
    store.hubActivity.note(.publish, accepted: outcome.refusal == nil)
    // A hub that is unreachable has not seen the address.
    if let refusal = outcome.refusal, !refusal.isFinal { return outcome }
    outcome.isHeld = try await store.noteAnnouncement(
      of: feed, isAccepted: outcome.refusal == nil, lease, at: clock())
    return outcome
  }
}
