import Foundation
import NewsAPI
import NewsStore

/// The facts that the live page shows to someone.
struct LiveFacts: Sendable {
  /// The time of the facts.
  var date: Date
  /// The time since the process began to count.
  var age: Duration
  var samples: [TrafficHistory.Sample]
  var totals: TrafficTotals
  /// The polls of the last 24 hours, the current one last.
  var hours: [TrafficHistory.Hour]
  var clients: ConnectedClients
  /// The number of live pages that are refreshed.
  var viewers: Int
  /// The version of the feed; nil while it is unknown.
  var feedVersion: Int?
  var versions: [PublishedVersion]
  /// The facts for administrators; nil for others.
  var database: Database?

  /// The facts about the database.
  struct Database: Sendable {
    var connections: StoreConnections
    /// nil if the database does not answer.
    var condition: DatabaseCondition?
    /// The reads from standbys; nil if none are configured.
    var standbyReads: ReplicaReads?
  }
}

/// The source of the facts of all live pages.
final class LiveSource: Sendable {
  /// The maximum number of versions on a page.
  private static let versionCount = 10

  private let api: NewsAPI
  /// The condition of the database, shared by pages that are refreshed at the same time.
  private let condition: RecentValue<DatabaseCondition>

  /// - Parameter interval: The time for which the condition of the database is kept.
  init(_ api: NewsAPI, interval: Duration) {
    self.api = api
    condition = RecentValue(lifetime: interval)
  }

  /// Returns the present facts.
  ///
  /// - Parameters:
  ///   - versions: The latest versions.
  ///   - viewers: The number of live pages that are refreshed.
  func facts(for visit: ConsoleVisit, versions: [PublishedVersion], viewers: Int) async -> LiveFacts {
    let age = api.traffic.age
    var facts = LiveFacts(
      date: Date(), age: age, samples: api.traffic.samples, totals: api.traffic.totals,
      hours: api.traffic.hours(at: age), clients: api.clients, viewers: viewers, feedVersion: feedVersion?.version,
      versions: versions)
    guard visit.isAdministrator else { return facts }
    let condition = await condition.value { [store = api.store] in try? await store.condition() }
    facts.database = LiveFacts.Database(
      connections: api.store.connections, condition: condition, standbyReads: api.store.replicaReads)
    return facts
  }

  /// The version of the feed; nil while it is unknown.
  var feedVersion: FeedVersion? { api.store.cachedSnapshot?.feedVersion }

  /// Reads the latest versions. Only editors receive those of items that readers no longer see.
  ///
  /// - Throws: `StoreError.unavailable`.
  func versions(for visit: ConsoleVisit) async throws -> [PublishedVersion] {
    try await api.store.latestVersions(limit: Self.versionCount, for: visit.access)
      .filter { $0.removal == nil || visit.mayWrite }
  }
}
