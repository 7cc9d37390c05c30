import Foundation
import PostgresClient
import Synchronization

/// Checks on each new connection that the database has the schema that this build needs.
///
/// The schema can become older while the process runs, through the restore of an older dump. A newer schema is
/// accepted, because servers are replaced one by one after a migration.
final class SchemaGuard: Sendable {
  private let found = Mutex<MigrationError?>(nil)

  /// The reason for which the last connection was refused; nil if it was accepted.
  var problem: MigrationError? { found.withLock { $0 } }

  /// Compares the applied migrations with the required ones.
  ///
  /// - Throws: `MigrationError.pending`, `missing`, `changed`, `prerelease`; `PostgresError`.
  func confirm(through connection: PostgresConnection) async throws {
    do {
      let required = Migration.required
      let applied = try await Self.applied(connection)
      try Migrator.compare(applied, with: required)
      guard applied.count >= required.count else {
        throw MigrationError.pending(required[applied.count...].map(\.name))
      }
      found.withLock { $0 = nil }
    } catch let error as MigrationError {
      found.withLock { $0 = error }
      throw error
    }
  }

  /// The applied migrations; empty if their table does not exist (undefined_table; PostgreSQL, appendix A).
  private static func applied(_ connection: PostgresConnection) async throws -> [(name: String, checksum: Data)] {
    do {
      return try await Migrator.applied(connection)
    } catch let error as PostgresError where error.sqlState == "42P01" {
      return []
    }
  }
}

extension NewsStore {
  /// The difference between the schema of the database and the required one. It is nil if the schema fits or is newer,
  /// and before the first connection.
  public var schemaProblem: MigrationError? { schema.problem }
}
