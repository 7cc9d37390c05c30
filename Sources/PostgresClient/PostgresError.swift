/// A failure of a connection, a statement or the decoding of a value.
///
/// `description` contains only the code and the SQLSTATE, because the server's messages may quote data.
/// `debugDescription` adds the message, detail, hint and the names of the objects.
///
///     func insertTopic(_ name: String, pool: PostgresPool) async throws {
///       do {
///         _ = try await pool.query("INSERT INTO topics (name) VALUES (\(name))")
///       } catch let error as PostgresError where error.sqlState == "23505" {
///         print("the topic exists already: \(error.constraint ?? "unknown constraint")")
///       }
///     }
public struct PostgresError: Error, Sendable {
  /// The kind of failure. Further kinds may be added.
  ///
  ///     func isOverload(_ error: PostgresError) -> Bool {
  ///       error.code == .acquireTimedOut || error.code == .tooManyWaiters
  ///     }
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    /// The server could not be reached or refused the connection.
    public static let connectionFailed = Code(description: "connectionFailed")
    /// The connection ended before the server had answered, or before the statement was sent.
    public static let connectionLost = Code(description: "connectionLost")
    /// No connection was made within `connectTimeout`.
    public static let connectTimedOut = Code(description: "connectTimedOut")
    /// No connection became free within `acquireTimeout`.
    public static let acquireTimedOut = Code(description: "acquireTimedOut")
    /// The maximum number of callers is waiting for a connection already.
    public static let tooManyWaiters = Code(description: "tooManyWaiters")
    /// The owner closed the pool or the connection.
    public static let shutDown = Code(description: "shutDown")
    /// The statement ran longer than `statementTimeout` and was cancelled on the server.
    public static let statementTimedOut = Code(description: "statementTimedOut")
    /// The task was cancelled, and with it the statement on the server.
    public static let cancelled = Code(description: "cancelled")
    /// The server reported an error, which `sqlState` identifies.
    public static let server = Code(description: "server")
    /// The connection was lost before the answer to COMMIT. The transaction may or may not be committed.
    public static let commitOutcomeUnknown = Code(description: "commitOutcomeUnknown")
    /// The server answered COMMIT with ROLLBACK, because a statement of the transaction had failed.
    public static let transactionRolledBack = Code(description: "transactionRolledBack")
    /// A column is missing, or its value does not have the requested type.
    public static let decoding = Code(description: "decoding")
    /// The server's answer is not valid for the statement, such as that of COPY to a query.
    public static let protocolViolation = Code(description: "protocolViolation")
    /// The transaction was used after its end.
    public static let transactionEnded = Code(description: "transactionEnded")
  }

  /// The kind of failure.
  public var code: Code
  /// The SQLSTATE, five characters of PostgreSQL's appendix A; nil if the server sent no error.
  public var sqlState: String?
  /// The server's or libpq's message. It may quote data.
  public var message: String
  /// The server's detail. It may quote data.
  public var detail: String?
  /// The server's hint.
  public var hint: String?
  /// The violated constraint.
  public var constraint: String?
  /// The table the server's error is about.
  public var table: String?
  /// The column the server's error is about.
  public var column: String?

  /// The servers of the connection string as `host:port`, separated by commas, if the connection could not be opened.
  public internal(set) var server: String?

  /// The server function that reported the error. Unlike the message, it does not depend on the server's language.
  var routine: String?
  /// Whether the server ended the session with this error.
  var isFatal = false
  /// Whether nothing of the statement was sent, so that a retry is safe.
  var nothingSent = false

  package init(_ code: Code, _ message: String, sqlState: String? = nil) {
    self.code = code
    self.message = message
    self.sqlState = sqlState
  }

  static let cancelled = PostgresError(.cancelled, "the task was cancelled")

  /// The replacement for a message of libpq that may quote the connection string.
  static let malformedString = "the connection string is malformed"

  /// Whether preparing the statement again helps: the columns of a cached plan have changed, or the session does not
  /// know the prepared statement.
  var isStaleStatement: Bool {
    sqlState == "26000" || (sqlState == "0A000" && routine == "RevalidateCachedQuery")
  }

  /// Whether running the whole transaction again can succeed (PostgreSQL 15, 13.5).
  var isTransactionRetryable: Bool {
    code == .server && (sqlState == "40001" || sqlState == "40P01" || isStaleStatement)
  }
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
  /// The code and the SQLSTATE, safe for logs and responses.
  public var description: String {
    "PostgresError(\(code)\(sqlState.map { ", SQLSTATE \($0)" } ?? ""))"
  }

  /// The code and SQLSTATE with the message, detail, hint, constraint, table and column. It may quote data, but never a
  /// password.
  public var debugDescription: String {
    var text = "PostgresError(\(code)"
    let fields = [
      ("sqlState", sqlState), ("message", message), ("detail", detail), ("hint", hint), ("constraint", constraint),
      ("table", table), ("column", column),
    ]
    for case (let name, let value?) in fields {
      text += ", \(name): \(value)"
    }
    return text + ")"
  }
}
