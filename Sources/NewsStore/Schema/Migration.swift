import Crypto
public import Foundation
import News

/// A step of the schema: a file of SQL statements.
///
/// It runs in one transaction, unless its first line is `-- outside a transaction`, which `CREATE INDEX CONCURRENTLY`
/// and procedures with several transactions require. Then its statements run one by one, each up to a semicolon at the
/// end of a line. A statement other than `CALL` and without `CONCURRENTLY` is a transaction of its own.
///
/// After a failure in between, a lock timeout included, the whole file runs again, so that every statement must be
/// repeatable. For example, `DROP INDEX CONCURRENTLY IF EXISTS` comes before `CREATE INDEX CONCURRENTLY`, which leaves
/// an invalid index behind when it fails.
public struct Migration: Sendable, Equatable {
  /// The position among all migrations, from 1.
  public let number: Int
  /// The name of the file, such as `0001_topics_and_items.sql`.
  public let name: String
  /// The text of the file.
  public let sql: String
  /// SHA-256 of the file.
  public let checksum: Data

  /// The migrations of this build, by number without gaps. The store's statements need this schema, or a later one that
  /// is compatible with it.
  public static let required: [Migration] = embeddedMigrations.enumerated().map { index, file in
    Migration(
      number: index + 1, name: file.name, sql: file.text, checksum: Data(SHA256.hash(data: Data(file.text.utf8))))
  }

  /// The names of the first migrations of versions before 1.0, which identify their databases. Their checksums do not,
  /// because the files were edited during development. No other migration may get one of these names.
  static let prereleaseNames = ["0001_items_and_log.sql", "0001_items_and_topics.sql"]

  /// The statements that run one by one; nil for a migration that runs in one transaction.
  var separateStatements: [Statement]? {
    let lines = sql.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.first == "-- outside a transaction" else { return nil }
    var statements = [""]
    for line in lines where !line.hasPrefix("--") {
      statements[statements.count - 1] += line + "\n"
      if line.hasSuffix(";") { statements.append("") }
    }
    return statements.map { $0.trimmingPrefix { $0.isWhitespace } }.filter { !$0.isEmpty }
      .map { Statement(sql: String($0)) }
  }

  /// A statement of a migration outside a transaction.
  struct Statement {
    let sql: String

    /// Whether the statement must run outside a transaction, because it has several of its own. It waits for no lock in
    /// a way that blocks others.
    var runsAlone: Bool { sql.uppercased().contains("CONCURRENTLY") || sql.uppercased().hasPrefix("CALL ") }
  }

  /// Reads the migrations in a folder: all files `NNNN_name.sql`.
  ///
  /// - Returns: The migrations by number, from 1 without gaps.
  /// - Throws: `MigrationError.unreadable`, `misnumbered`.
  public static func all(in folder: URL) throws -> [Migration] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".sql") }.sorted()
    } catch {
      throw MigrationError.unreadable(folder.path)
    }
    guard !names.isEmpty else { throw MigrationError.unreadable(folder.path) }
    return try names.enumerated().map { index, name in
      // `Int(_:)` also accepts a sign.
      guard name.utf8.prefix(4).allSatisfy(\.isASCIIDigit), Int(name.prefix(4)) == index + 1,
        name.utf8.dropFirst(4).first == UInt8(ascii: "_")
      else {
        throw MigrationError.misnumbered(name, expected: index + 1)
      }
      guard let bytes = try? Data(contentsOf: folder.appending(path: name)),
        let sql = String(validating: bytes, as: UTF8.self)
      else { throw MigrationError.unreadable(name) }
      return Migration(number: index + 1, name: name, sql: sql, checksum: Data(SHA256.hash(data: bytes)))
    }
  }
}

/// The error of a schema that cannot be used or migrated.
public enum MigrationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A folder or file cannot be read.
  case unreadable(String)
  /// The files are not numbered 0001, 0002 and so on.
  case misnumbered(String, expected: Int)
  /// A migration was changed after it was applied.
  case changed(String)
  /// The database has an unknown migration: the schema is newer than this build, or a file was removed.
  case missing(String)
  /// The database was made by a version before 1.0. Its schema cannot be migrated.
  case prerelease
  /// The database lacks these migrations.
  case pending([String])
  /// Another session holds a lock that the migration needs. `by` is the statement of that session, if known.
  case blocked(String, by: String?)
  /// The database is empty, and searches in it would fail.
  case unsuitable(DatabaseLocale)
  /// The role may not create or change the tables, for this reason.
  case forbidden(String)

  /// A sentence for the operator, which names the file and the remedy.
  public var description: String {
    switch self {
    case .unreadable(let path): "cannot read migrations: \(path). TIDINGS_MIGRATIONS names their folder, if it is set."
    case .misnumbered(let name, let expected):
      "migration \(name) is not numbered \(expected): files are named NNNN_name.sql, from 0001 without gaps"
    case .changed(let name):
      "migration \(name) was changed after it was applied to this database: use the version of Tidings that applied it, "
        + "and put changes into a new migration"
    case .missing(let name):
      "the schema of the database is newer: migration \(name) was applied to it and is unknown to this version. "
        + "Use the version of Tidings that applied it, or a later one."
    case .prerelease:
      "the database was made by a version of Tidings before 1.0, and this version cannot migrate it. Export the newsroom "
        + "with the version that made it (`tidings export --all --history news.jsonl`), create a new database, and import "
        + "it there with this version (`tidings migrate`, `tidings import news.jsonl`). Keys, sessions, webhooks, devices, "
        + "sync tokens and the passwords of feeds are not exported; `tidings media adopt` takes over the files. "
        + "(DATABASE_URL)"
    case .blocked(let name, let query):
      "migration \(name) waits for a lock that another session holds\(query.map { ", in: \($0)" } ?? ""): "
        + "end that session, or run `tidings migrate` again later"
    case .unsuitable(let locale):
      "\(locale.problem ?? "the database is not suitable"). Create it again as a superuser: "
        + "\(locale.removal) && \(locale.creation)"
    case .forbidden(let reason): reason
    case .pending(let names):
      "the schema of the database is out of date; pending migrations: \(names.joined(separator: ", ")). Run `tidings migrate`."
    }
  }
}
