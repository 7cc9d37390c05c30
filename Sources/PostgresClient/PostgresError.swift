/// What went wrong with a connection, a statement or a value.
///
/// `description` shows the code and the SQLSTATE only, because messages of the server quote data. Everything is in
/// `debugDescription`.
public struct PostgresError: Error, Sendable {
  /// The kind of failure; further ones may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    /// The server could not be reached or refused the connection.
    public static let connectionFailed = Code(description: "connectionFailed")
    /// The connection ended before the server had answered.
    public static let connectionLost = Code(description: "connectionLost")
    /// No connection was made within `connectTimeout`.
    public static let connectTimedOut = Code(description: "connectTimedOut")
    /// No connection became free within `acquireTimeout`.
    public static let acquireTimedOut = Code(description: "acquireTimedOut")
    /// As many callers as allowed are waiting for a connection already.
    public static let tooManyWaiters = Code(description: "tooManyWaiters")
    /// The pool or the connection has been closed by its owner.
    public static let shutDown = Code(description: "shutDown")
    /// The statement ran longer than `statementTimeout` and was cancelled on the server.
    public static let statementTimedOut = Code(description: "statementTimedOut")
    /// The task was cancelled, and with it the statement on the server.
    public static let cancelled = Code(description: "cancelled")
    /// The server answered with an error; `sqlState` says which.
    public static let server = Code(description: "server")
    /// The connection was lost while COMMIT was outstanding: the transaction may be committed or not.
    public static let commitOutcomeUnknown = Code(description: "commitOutcomeUnknown")
    /// The server answered COMMIT with ROLLBACK, because a statement of the transaction had failed.
    public static let transactionRolledBack = Code(description: "transactionRolledBack")
    /// A column is missing, or its value is not of the type asked for.
    public static let decoding = Code(description: "decoding")
    /// The answer was not one that the statement can have, such as that of COPY to a query.
    public static let protocolViolation = Code(description: "protocolViolation")
    /// The transaction was used after its end.
    public static let transactionEnded = Code(description: "transactionEnded")
  }

  /// The kind of failure.
  public var code: Code
  /// The five characters of PostgreSQL's appendix A, where the server sent an error.
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

  /// The servers of the connection string as `host:port`, where no connection to them was made.
  public internal(set) var server: String?

  /// The server function that reported the error: independent of the server's language, other than the message.
  var routine: String?
  /// The server ended the session with this error.
  var isFatal = false
  /// Not a byte of the statement had left this process, so that trying again is safe.
  var nothingSent = false

  package init(_ code: Code, _ message: String, sqlState: String? = nil) {
    self.code = code
    self.message = message
    self.sqlState = sqlState
  }

  static let cancelled = PostgresError(.cancelled, "the task was cancelled")

  /// The message in place of libpq's where that may quote the connection string.
  static let malformedString = "the connection string is malformed"

  /// A cached plan whose columns have changed meanwhile, or a prepared statement that the session does not know
  /// (any more): preparing again helps.
  var isStaleStatement: Bool {
    sqlState == "26000" || (sqlState == "0A000" && routine == "RevalidateCachedQuery")
  }

  /// Running the whole transaction again can succeed (PostgreSQL 15, 13.5).
  var isTransactionRetryable: Bool {
    code == .server && (sqlState == "40001" || sqlState == "40P01" || isStaleStatement)
  }
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
  /// The code and the SQLSTATE: safe for logs and answers.
  public var description: String {
    "PostgresError(\(code)\(sqlState.map { ", SQLSTATE \($0)" } ?? ""))"
  }

  /// Everything that is known, including what may quote data. Never a password.
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
