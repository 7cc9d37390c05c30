package import Foundation
import PostgresClient

extension SecretLookups {
  /// Finds the value with an id, or refuses the request after 10 seconds.
  ///
  /// - Throws: `StoreError.unavailable`, `CancellationError`, and the errors of the query.
  func value(_ id: ID) async throws -> Value? {
    try await DatabaseTime.measuring { try await value(id, waitingAtMost: .seconds(10)) }
  }
}

/// The queries that anyone can cause with a secret that may not exist. Each kind is bounded on its own, so that editors keep
/// connections whatever arrives.
///
/// The look-ups of a kind use at most `SecretLookups.maximumQueries` connections, however many callers there are. A secret
/// that a look-up has found may still be used by very many requests at a time, because anyone can register a device and
/// each followed feed names a hub. So their statements wait in a queue of their kind.
final class StrangerQueries: Sendable {
  /// The maximum number of connections that the statements of a kind use at a time.
  private static let connections = 2

  /// Sessions of the console by the digests of their tokens.
  let sessions: SecretLookups<Data, ConsoleSession>
  /// The digests of the codes of links.
  let links: SecretLookups<Data, Bool>
  /// The digests of the secrets of devices by id.
  let devices: SecretLookups<UUID, Data>
  /// Leases at hubs by the tokens of their callbacks.
  let hubs: SecretLookups<String, HubLease>
  /// The statements of registered devices, and registrations.
  let deviceStatements: ConcurrencyLimiter
  /// The statements that hubs cause.
  let hubStatements: ConcurrencyLimiter
  /// The imports of followed feeds.
  let feedImports: ConcurrencyLimiter

  /// The maximum wait of an import, which nobody waits for. It is shorter than the lease of a poll.
  private static let importTimeout: Duration = .seconds(120)

  init(_ database: Database, _ pool: PostgresPoolConfiguration) {
    deviceStatements = ConcurrencyLimiter(limit: Self.connections, timeout: pool.acquireTimeout)
    hubStatements = ConcurrencyLimiter(limit: Self.connections, timeout: pool.acquireTimeout)
    feedImports = ConcurrencyLimiter(limit: Self.connections, timeout: Self.importTimeout)
    sessions = SecretLookups { try await database.sessions($0) }
    links = SecretLookups { digests in
      let rows = try await database.query("SELECT l.digest FROM console_links AS l WHERE l.digest = ANY (\(digests))")
      return try rows.reduce(into: [:]) { $0[try $1.decode("digest", as: Data.self)] = true }
    }
    devices = SecretLookups { ids in
      let rows = try await database.query("SELECT d.id, d.secret_digest FROM devices AS d WHERE d.id = ANY (\(ids))")
      return try rows.reduce(into: [:]) { found, row in
        found[try row.decode("id", as: UUID.self)] = try row.decode("secret_digest", as: Data.self)
      }
    }
    hubs = SecretLookups { tokens in
      let rows = try await database.query(
        "SELECT l.token, l.secret, l.state FROM hub_leases AS l WHERE l.token = ANY (\(tokens))")
      return try rows.reduce(into: [:]) { found, row in
        found[try row.decode("token", as: String.self)] = HubLease(
          secret: try row.decode("secret"), isEnding: try row.decode("state", as: String.self) == "ending")
      }
    }
  }

  /// A lease at a hub.
  struct HubLease {
    /// The key of the signatures of notices.
    let secret: String
    let isEnding: Bool
  }
}

extension NewsStore {
  /// The number of callers that wait for look-ups of secrets.
  package var waitingLookups: Int {
    keyLookups.callers + strangers.sessions.callers + strangers.links.callers + strangers.devices.callers
      + strangers.hubs.callers
  }

  /// Runs the import of entries of a followed feed, which may hold a connection and the lock of the publication for long.
  /// Two run at a time, and feeds take turns.
  ///
  /// - Throws: `StoreError.unavailable` after a wait of two minutes, `CancellationError`, and the errors of the work.
  package func importing<Value: Sendable>(
    for subscription: UUID, _ work: () async throws -> Value
  ) async throws -> Value {
    try await Self.onBehalf(of: subscription.uuidString) { try await strangers.feedImports.run(work) }
  }

  /// The number of imports of followed feeds that wait for others.
  package var waitingImports: Int { strangers.feedImports.waiting }

  /// The number of statements of devices that wait for others.
  package var waitingDeviceStatements: Int { strangers.deviceStatements.waiting }
}
