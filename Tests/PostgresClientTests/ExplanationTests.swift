import Foundation
import PostgresClient
import TestSupport
import Testing

@Suite struct `Explanations of errors` {
  private func failure(connectingTo string: String, within timeout: Duration = .seconds(30)) async throws
    -> PostgresError
  {
    var configuration = PostgresConfiguration(connectionString: string)
    configuration.connectTimeout = timeout
    return try await PostgresClientTests.failure {
      try await PostgresConnection.connect(configuration: configuration, logger: quiet)
    }
  }

  @Test func `A message about a server that does not run has its address and advice`() async throws {
    let error = try await failure(connectingTo: "postgresql://tidings@127.0.0.1:1/news")
    #expect(
      error.userMessage(setting: "DATABASE_URL")
        == "cannot reach the database at 127.0.0.1:1: connection refused. Is it running? (DATABASE_URL)")
    #expect(error.server == "127.0.0.1:1")
    let local = try await failure(connectingTo: "host=/nonexistent dbname=news")
    #expect(
      local.userMessage(setting: "DATABASE_URL")
        == """
        cannot reach the database at /nonexistent/.s.PGSQL.5432: no such file or directory. Is it running? (DATABASE_URL)
        """)
  }

  @Test func `A message about several servers has the address and reason of each`() async throws {
    let error = try await failure(connectingTo: "postgresql://tidings@127.0.0.1:1,[::1]:2/news")
    #expect(
      error.explanation.hasPrefix(
        "cannot reach the database at 127.0.0.1:1: connection refused; cannot reach the database at [::1]:2: "),
      "\(error.explanation)")
    #expect(error.server == "127.0.0.1:1, [::1]:2")
  }

  @Test func `A refused connection differs from a server that cannot be reached`() async throws {
    let url = try TestCluster.sharedURL
    let parts = try #require(URLComponents(string: url))
    let (host, port) = (try #require(parts.host), try #require(parts.port))
    let error = try await failure(connectingTo: url.replacingOccurrences(of: "/postgres", with: "/absent"))
    #expect(
      error.userMessage(setting: "DATABASE_URL")
        == """
        the database at \(host):\(port) refused the connection: database "absent" does not exist. \
        Create it, or name another. (DATABASE_URL)
        """)
    let secure = try await failure(connectingTo: url + "?sslmode=require")
    #expect(secure.explanation.contains("server does not support SSL, but SSL was required"), "\(secure.explanation)")
    #expect(secure.advice == "Does sslmode fit the server?")
  }

  @Test func `A message about a server that does not answer has its address`() async throws {
    let listener = try SilentListener()
    let error = try await failure(
      connectingTo: "postgresql://tidings@127.0.0.1:\(listener.port)/news", within: .milliseconds(50))
    #expect(
      error.userMessage(setting: "DATABASE_URL")
        == """
        cannot reach the database at 127.0.0.1:\(listener.port): no answer in time. \
        Is it running, and is it reachable from here? (DATABASE_URL)
        """)
    withExtendedLifetime(listener) {}
  }

  @Test(arguments: [
    "postgresql://tidings:hid@den@127.0.0.1/db", "postgresql://tidings:hid/den@127.0.0.1/db",
    "postgresql://tidings:%zzhidden@127.0.0.1/db",
    "host=127.0.0.1 password=hid den", "host=127.0.0.1 password='hidden", "postgresql://tidings:hid@den@[::1/db",
  ])
  func `A malformed connection string shows no part of the password`(_ string: String) async throws {
    let error = try await failure(connectingTo: string)
    let message = error.userMessage(setting: "DATABASE_URL")
    #expect(message.hasPrefix("the database's connection string is malformed. Write postgresql://"), "\(message)")
    #expect(message.hasSuffix("(DATABASE_URL)"))
    for text in [message, error.debugDescription, error.message, error.server ?? ""] {
      #expect(!text.contains("hid") && !text.contains("den"), "\(text)")
    }
  }

  @Test(arguments: [
    "postgres//oops", "postgresql:/", "postgresql:", "postgresql:/host/news", "postgres:news", "//host/news",
    "host:5432/news",
    "http://127.0.0.1:1/news", "mysql://127.0.0.1:1/news?a=b", "jdbc:postgresql://127.0.0.1:1/news",
    "postgresql//host/news?sslmode=require", "postgresql://127.0.0.1:1/the news", " postgresql://127.0.0.1:1/news",
    "postgresql://127.0.0.1:1/news ", "postgresql://127.0.0.1:1/news\n",
  ])
  func `A URL with a typing error is called malformed, not a database that is not running`(_ string: String)
    async throws
  {
    let message = try await failure(connectingTo: string).userMessage(setting: "DATABASE_URL")
    #expect(message.hasPrefix("the database's connection string is malformed. Write postgresql://"), "\(message)")
  }

  @Test(arguments: [
    "postgresql://127.0.0.1:1", "postgres://127.0.0.1:1/news", "host=127.0.0.1 port=1", "an%3Da-absent",
  ])
  func `A string of any form that libpq has is not called malformed`(_ string: String) async throws {
    let message = try await failure(connectingTo: string).userMessage(setting: "DATABASE_URL")
    #expect(!message.contains("malformed"), "\(message)")
  }

  @Test func `Errors of statements show neither SQL nor values`() async throws {
    try await withPool(size: 1) { pool in
      try await pool.withConnection { connection in
        try await connection.execute(
          script: """
            CREATE TABLE people (name text CONSTRAINT unique_name UNIQUE, age int CONSTRAINT grown CHECK (age > 17));
            INSERT INTO people VALUES ('secret', 20); CREATE ROLE explained_nobody_\(getpid()) NOLOGIN;
            """)
        for (statement, explanation) in [
          (
            "INSERT INTO people VALUES ('secret')",
            #"the database reported an error about "unique_name" (SQLSTATE 23505)"#
          ),
          (
            "INSERT INTO people VALUES ('secret2', 1)",
            #"the database reported an error about "grown" (SQLSTATE 23514)"#
          ),
          ("SELECT 'secret'::int", "the database reported an error (SQLSTATE 22P02)"),
          ("SELECT secret FROM FROM", "the database reported an error (SQLSTATE 42601)"),
          (
            "SELECT 1 FROM absent",
            #"the database reported an error: relation "absent" does not exist (SQLSTATE 42P01)"#
          ),
          (
            "SET ROLE explained_nobody_\(getpid()); SELECT name FROM people WHERE name = 'secret'",
            "the database reported an error: permission denied for table people (SQLSTATE 42501)"
          ),
        ] {
          let error = try await PostgresClientTests.failure { try await connection.execute(script: statement) }
          #expect(error.explanation == explanation)
          #expect(!error.userMessage(setting: "DATABASE_URL").contains("DATABASE_URL"))
        }
        try await connection.execute(script: "RESET ROLE; DROP ROLE explained_nobody_\(getpid())")
      }
    }
  }

  @Test(arguments: ["42P05", "26000"])
  func `Errors of statements that another session has prepared name the setting`(sqlState: String) {
    let error = PostgresError(.server, #"prepared statement "s1" already exists"#, sqlState: sqlState)
    #expect(
      error.userMessage(setting: "DATABASE_URL", preparation: "PREPARE=false")
        == "the database reported an error (SQLSTATE \(sqlState)). "
        + "Behind a pooler in transaction mode, turn prepared statements off. (PREPARE=false)")
    let other = PostgresError(.server, "x", sqlState: "53100")
    #expect(!other.userMessage(setting: "DATABASE_URL", preparation: "PREPARE=false").contains("PREPARE"))
  }

  @Test func `The reason is reported if the server ends a session`() async throws {
    try await withPool(size: 1) { pool in
      let error = try await PostgresClientTests.failure {
        try await pool.query("SELECT pg_terminate_backend(pg_backend_pid())")
      }
      #expect(
        error.userMessage(setting: "DATABASE_URL")
          == """
          the database ended the connection: terminating connection due to administrator command (SQLSTATE 57P01). \
          Try again in a moment.
          """)
    }
  }

  @Test(arguments: [
    PostgresError.Code.connectionFailed, .connectionLost, .connectTimedOut, .acquireTimedOut, .tooManyWaiters,
    .shutDown,
    .statementTimedOut, .cancelled, .server, .commitOutcomeUnknown, .transactionRolledBack, .decoding,
    .protocolViolation,
    .transactionEnded,
  ])
  func `Every explanation is one line without a full stop`(_ code: PostgresError.Code) {
    for message in ["", "SELECT secret\n\u{1B}[31mFROM people", String(repeating: "long ", count: 1000)] {
      let text = PostgresError(code, code == .connectionFailed ? message.replacing("secret", with: "x") : message)
        .userMessage(setting: "DATABASE_URL")
      #expect(text.first?.isLowercase == true && text.utf8.count < 500, "\(text)")
      #expect(
        !text.contains("PostgresError") && !text.contains(code.description + ",") && !text.contains("secret"), "\(text)"
      )
      #expect(text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "\(text)")
    }
  }
}
