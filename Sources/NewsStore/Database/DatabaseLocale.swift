import News
import PostgresClient

/// The encoding and the locale of a database. They decide which words a search finds, and cannot be changed after the
/// creation of the database (PostgreSQL, chapter 24.1).
///
///     let locale = try await DatabaseFacts.setUp(configuration, logger: logger).locale
///     if let problem = locale.problem { print("\(problem). Create a database with: \(locale.creation)") }
public struct DatabaseLocale: Sendable, Equatable {
  /// The name of the database.
  public var database: String
  /// The role of the session.
  public var role: String
  /// The server encoding, such as `UTF8`.
  public var encoding: String
  /// The name of the locale that classifies characters (LC_CTYPE), such as `C.UTF-8`.
  public var characterType: String
  /// Whether `lower` and the text search know the letters beyond ASCII. The name does not decide this: C of libc does not
  /// know them, C.UTF-8 does, and the text search ignores an ICU locale beside LC_CTYPE C.
  public var foldsLetters: Bool

  /// The reason for which searches in the database fail, without a full stop; nil if there is none.
  public var problem: String? {
    if encoding != "UTF8" { return "the database \(database) has the encoding \(encoding), not UTF8" }
    if foldsLetters { return nil }
    return "the database \(database) has the locale \(characterType), in which a search for fähre does not find FÄHRE"
  }

  /// The command that creates a suitable database of the same name and owner.
  public var creation: String {
    "createdb -O \(Self.shellWord(role)) -T template0 -E UTF8 --locale=C.UTF-8 \(Self.shellWord(database))"
  }

  /// The command that removes the database.
  public var removal: String { "dropdb \(Self.shellWord(database))" }

  /// Quotes a word for a shell, if necessary.
  private static func shellWord(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
    return isPlain ? word : "'\(word.replacing("'", with: "'\\''"))'"
  }

  /// Reads the locale of the database of a session.
  ///
  /// - Throws: `PostgresError`.
  static func read(_ connection: PostgresConnection) async throws -> DatabaseLocale {
    let rows = try await connection.query(
      """
      SELECT d.datname::text AS name, current_user::text AS role, current_setting('server_encoding') AS encoding,
        d.datctype::text AS type
      FROM pg_database AS d WHERE d.datname = current_database()
      """)
    guard let row = rows.first else { throw StoreFault("the database says nothing of itself") }
    var locale = DatabaseLocale(
      database: try row.decode("name"), role: try row.decode("role"), encoding: try row.decode("encoding"),
      characterType: try row.decode("type"), foldsLetters: false)
    // Other encodings may lack the letters, and PostgreSQL would refuse the statement.
    guard locale.encoding == "UTF8" else { return locale }
    let tests = try await connection.query(
      """
      SELECT lower('ÄÉЖ') = 'äéж'
        AND to_tsvector('pg_catalog.simple', 'ÄÉЖ') @@ to_tsquery('pg_catalog.simple', 'äéж') AS folds
      """)
    locale.foldsLetters = try tests.first?.decode("folds") ?? false
    return locale
  }
}
