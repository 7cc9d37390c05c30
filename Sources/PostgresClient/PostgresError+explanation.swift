extension PostgresError {
  /// A description of the error for operators of the database, without a full stop.
  ///
  /// It names servers, users, databases and tables. It never contains SQL, values or passwords, nor the text of an
  /// error that may quote them.
  ///
  /// ```swift
  /// error.explanation  // "cannot reach the database at 127.0.0.1:5432: connection refused"
  /// error.advice  // "Is it running?"
  /// error.userMessage(setting: "DATABASE_URL")
  /// // "cannot reach the database at 127.0.0.1:5432: connection refused. Is it running? (DATABASE_URL)"
  /// ```
  public var explanation: String {
    switch code {
    case .connectionFailed: connectFailure.text
    case .connectTimedOut: "cannot reach the database\(place): no answer in time"
    case .connectionLost where sqlState != nil: "the database\(place) ended the connection\(serverMessage)"
    case .connectionLost: "the connection to the database\(place) was lost"
    case .acquireTimedOut: "no connection to the database became free in time"
    case .tooManyWaiters: "too many operations are waiting for a connection to the database"
    case .shutDown: "the connection to the database has been closed"
    case .statementTimedOut: "the database did not finish a statement in time"
    case .cancelled: "the operation was cancelled"
    case .commitOutcomeUnknown:
      "the connection to the database was lost during COMMIT: the change may have been made or not"
    case .transactionRolledBack: "the database rolled the transaction back"
    case .transactionEnded: "a transaction was used after its end"
    case .decoding: "the database's answer lacks a column or has a value of another type"
    case .protocolViolation: "the database's answer does not belong to its statement"
    default: "the database reported an error\(serverMessage)"
    }
  }

  /// A question or sentence that suggests what to do; nil if there is none.
  public var advice: String? {
    switch code {
    case .connectionFailed: connectFailure.advice
    case .connectTimedOut: "Is it running, and is it reachable from here?"
    case .acquireTimedOut, .tooManyWaiters: "Is it overloaded?"
    case .connectionLost, .server: sqlState.flatMap(Self.advice)
    case .commitOutcomeUnknown: "Check before you repeat it."
    default: nil
    }
  }

  /// Returns `explanation` and `advice` on one line.
  ///
  /// - Parameters:
  ///   - setting: The name of the setting that holds the connection string. The message includes it if the string may be
  ///     the cause.
  ///   - preparation: The name and the value by which no statements are prepared. The message includes them if a pooler
  ///     may be the cause; nil for none.
  public func userMessage(setting: String, preparation: String? = nil) -> String {
    let isAboutSetting = code == .connectionFailed || code == .connectTimedOut
    let name = isAboutSetting ? "(\(setting))" : isAboutPreparation ? preparation.map { "(\($0))" } : nil
    guard let advice else { return [explanation, name].compactMap { $0 }.joined(separator: " ") }
    return [explanation + ".", advice, name].compactMap { $0 }.joined(separator: " ")
  }

  /// Whether the session lacks a statement that was prepared, or has one that was not. Both occur if a pooler gives the
  /// sessions of one client to another (duplicate_prepared_statement, invalid_sql_statement_name).
  private var isAboutPreparation: Bool { sqlState.map(Self.preparationStates.contains) ?? false }
  private static let preparationStates: Set = ["42P05", "26000"]

  private var place: String { server.map { " at \($0)" } ?? "" }

  /// The server's message after a colon, unless it may quote data, and the SQLSTATE. The constraint or table replaces a
  /// message that is left out.
  private var serverMessage: String {
    guard let sqlState else { return message.isEmpty ? "" : " without a code" }
    let text = Self.isSafeToShow(sqlState) ? ": " + Self.line(message) : ""
    let object = text.isEmpty ? (constraint ?? table).map { " about \"\(Self.line($0))\"" } ?? "" : ""
    return "\(object)\(text) (SQLSTATE \(sqlState))"
  }
}

// MARK: Connecting

extension PostgresError {
  /// The reason why no connection was made, parsed from libpq's message.
  private var connectFailure: (text: String, advice: String?) {
    if message == Self.malformedString {
      return (
        "the database's connection string is malformed",
        "Write postgresql://user@host:port/database, with %40 for @ and %2F for / in a password, or key=value pairs."
      )
    }
    let attempts = ConnectFailure.all(in: message)
    guard let last = attempts.last else { return ("cannot connect to the database\(place)", nil) }
    let texts = attempts.map { attempt in
      let place = attempt.server.map { " at \($0)" } ?? place
      let verb = attempt.isRefusal ? "the database\(place) refused the connection" : "cannot reach the database\(place)"
      return "\(verb): \(Self.line(attempt.reason))"
    }
    return (texts.joined(separator: "; "), last.advice)
  }

  /// Returns the text on one line without control characters, cut to 300 characters.
  private static func line(_ text: String) -> String {
    let words = text.unicodeScalars.split { $0.value <= 0x20 || 0x7F...0x9F ~= $0.value }.map { String($0) }
    let line = words.joined(separator: " ")
    return line.count <= 300 ? line : line.prefix(299) + "…"
  }
}

/// A failed connection attempt in libpq's message (PostgreSQL 15, `fe-connect.c`, `emitHostIdentityInfo`).
private struct ConnectFailure: Equatable {
  /// The address of the server; nil if the message names none.
  var server: String?
  var reason: String
  /// Whether the server itself refused the connection.
  var isRefusal = false

  /// Returns the distinct attempts in order. A host with two addresses fails twice in the same way.
  static func all(in message: String) -> [ConnectFailure] {
    var attempts: [ConnectFailure] = []
    // libpq indents its own advice with a tab.
    for line in message.split(whereSeparator: \.isNewline) where !line.hasPrefix("\t") {
      let attempt = ConnectFailure(line: String(line))
      if !attempts.contains(attempt) { attempts.append(attempt) }
    }
    return attempts
  }

  /// Parses `connection to server at "host" (address), port 5432 failed: reason`.
  private init(line: String) {
    reason = line
    if line.hasPrefix("connection to server "), let end = line.firstRange(of: " failed: ") {
      let place = line[..<end.lowerBound]
      reason = String(line[end.upperBound...])
      let name = place.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().first.map(String.init) ?? ""
      let port = place.firstRange(of: ", port ").map { String(place[$0.upperBound...]) }
      server = port.map { ConnectionOptions.server(host: name, port: $0) } ?? name
    }
    for severity in ["FATAL:", "ERROR:"] where reason.hasPrefix(severity) {
      reason = String(reason.dropFirst(severity.count).drop { $0 == " " })
      isRefusal = true
    }
    // "Connection refused" is the beginning of a sentence, "SSL error" is not.
    if reason.dropFirst().first?.isLowercase == true { reason = reason.prefix(1).lowercased() + reason.dropFirst() }
  }

  var advice: String? {
    let causes: [(part: String, advice: String)] = [
      (
        "unsupported startup parameter",
        "Remove it from the connection string, or add it to ignore_startup_parameters of pgbouncer."
      ),
      ("connection refused", "Is it running?"), ("no such file or directory", "Is it running?"),
      ("could not translate host name", "Is the name of the host right?"),
      ("password", "Are the user and the password right?"), ("authentication failed", "Is the user right?"),
      ("pg_hba.conf", "Does pg_hba.conf allow this user from here?"),
      ("too many", "Raise max_connections of the database, or make the pools smaller."),
      ("connection slots", "Raise max_connections of the database, or make the pools smaller."),
      ("starting up", "Try again in a moment."), ("shutting down", "Is it meant to be running?"),
      ("recovery", "Try again in a moment."), ("does not exist", "Create it, or name another."),
      ("certificate", "Do the host's name and sslrootcert fit its certificate?"),
      ("SSL", "Does sslmode fit the server?"), ("read-only", "Does target_session_attrs fit the servers?"),
    ]
    return causes.first { reason.contains($0.part) }?.advice
  }
}

// MARK: Errors of the server

extension PostgresError {
  /// Whether messages with this SQLSTATE name only objects, roles and settings (PostgreSQL 15, appendix A).
  private static func isSafeToShow(_ sqlState: String) -> Bool {
    // Authorisation, missing databases, resources, intervention of an operator, failed I/O, read-only transactions, locks,
    // privileges, and tables, functions and roles that are missing.
    let classes = ["28", "3D", "53", "57", "58"]
    return classes.contains { sqlState.hasPrefix($0) }
      || ["25006", "40001", "40P01", "55P03", "42501", "42P01", "42883", "42704"].contains(sqlState)
  }

  private static func advice(for sqlState: String) -> String? {
    switch sqlState {
    case let state where preparationStates.contains(state):
      "Behind a pooler in transaction mode, turn prepared statements off."
    case "42501": "Grant the role what it needs."
    case "42P01", "42883": "Have all migrations run, and in this database?"
    case "25006": "Is it a standby?"
    case "53100": "Make room on its disk."
    case "53300": "Raise max_connections of the database, or make the pools smaller."
    case "57P01", "57P02", "57P03", "40001", "40P01", "55P03": "Try again in a moment."
    default: nil
    }
  }
}
