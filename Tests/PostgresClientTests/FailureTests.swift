import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite("Broken and missing connections")
struct FailureTests {
  @Test("a pool recovers after the server was restarted")
  func restart() async throws {
    try await TestCluster.withCluster { cluster in
      try await withPool(url: cluster.url) { pool in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<4 { group.addTask { _ = try await pool.query("SELECT pg_sleep(0.1)") } }
          try await group.waitForAll()
        }
        let url = await cluster.url
        try await cluster.restart()
        try #require(await cluster.url == url)
        // The idle connections are dead, and no caller may receive one.
        for _ in 0..<8 {
          let one = try await pool.value("SELECT 1", as: Int.self)
          #expect(one == 1)
        }
      }
    }
  }

  @Test("callers fail quickly while the server is down, and succeed once it runs again")
  func down() async throws {
    try await TestCluster.withCluster { cluster in
      try await withPool(url: cluster.url) { pool in
        _ = try await pool.query("SELECT 1")
        let url = await cluster.url
        try await cluster.kill()
        for _ in 0..<3 {
          let error = try await failure { try await pool.query("SELECT 1") }
          #expect(error.code == .connectionFailed)
        }
        try await cluster.start()
        try #require(await cluster.url == url)
        let one = try await pool.value("SELECT 1", as: Int.self)
        #expect(one == 1)
      }
    }
  }

  @Test("a server killed during a query is reported as a lost connection")
  func killedInQuery() async throws {
    try await TestCluster.withCluster { cluster in
      try await withPool(url: cluster.url) { pool in
        let task = Task { try await pool.query("SELECT pg_sleep(100)") }
        try await eventually("it runs") { try await pool.countRunning("pg_sleep(100)") == 1 }
        try await cluster.kill()
        let error = try await failure { try await task.value }
        #expect(error.code == .connectionLost)
      }
    }
  }

  @Test("a terminated session is reported as a lost connection with its SQLSTATE, and is replaced")
  func terminated() async throws {
    try await withPool { pool in
      let task = Task { try await pool.query("SELECT pg_sleep(100)") }
      try await eventually("it runs") { try await pool.countRunning("pg_sleep(100)") == 1 }
      _ = try await pool.query(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
        """)
      let error = try await failure { try await task.value }
      #expect(error.code == .connectionLost)
      #expect(error.sqlState == "57P01")
      for _ in 0..<4 {
        let one = try await pool.value("SELECT 1", as: Int.self)
        #expect(one == 1)
      }
    }
  }

  @Test("idle connections that were terminated are not leased")
  func terminatedIdle() async throws {
    try await withTestDatabase { url in
      try await withPool(url: url) { pool in
        try await withPool(url: url, size: 1) { other in
          for _ in 0..<20 {
            _ = try await pool.query("SELECT 1")
            _ = try await other.query(
              """
              SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
              WHERE datname = current_database() AND pid <> pg_backend_pid()
              """)
            // The pool does not check a connection that was used within the last 10 ms.
            try await Task.sleep(for: .milliseconds(11))
            let one = try await pool.value("SELECT 1", as: Int.self)
            #expect(one == 1)
          }
        }
      }
    }
  }

  @Test("an attempt to connect to a socket that never answers times out")
  func connectTimeout() async throws {
    let listener = try SilentListener()
    var configuration = PostgresConfiguration(
      connectionString: "postgresql://user:hidden@127.0.0.1:\(listener.port)/db?sslmode=disable")
    configuration.connectTimeout = .milliseconds(300)
    let error = try await failure {
      try await PostgresConnection.connect(configuration: configuration, logger: quiet)
    }
    #expect(error.code == .connectTimedOut)
  }

  @Test("the next host is tried if one cannot be reached")
  func nextHost() async throws {
    let listener = try SilentListener(isFull: true)
    try await withTestDatabase { url in
      let parts = try #require(URLComponents(string: url))
      let port = try #require(parts.port)
      var configuration = PostgresConfiguration(
        connectionString: "postgresql://tidings@127.0.0.1:\(listener.port),127.0.0.1:\(port)\(parts.path)")
      configuration.connectTimeout = .seconds(6)
      let connection = try await PostgresConnection.connect(configuration: configuration, logger: quiet)
      let value2 = try await connection.query("SELECT 1")
      #expect(value2.count == 1)
      await connection.close()
      let error = try await failure { try await connection.query("SELECT 1") }
      #expect(error.code == .connectionLost)
    }
  }

  @Test("an attempt to connect is cancelled with its task")
  func cancelledConnect() async throws {
    let listener = try SilentListener()
    let configuration = PostgresConfiguration(
      connectionString: "postgresql://127.0.0.1:\(listener.port)/db?sslmode=disable")
    let task = Task { try await PostgresConnection.connect(configuration: configuration, logger: quiet) }
    try await Task.sleep(for: .milliseconds(50))
    task.cancel()
    let error1 = try await failure { try await task.value }
    #expect(error1.code == .cancelled)
  }

  @Test("a wrong database, host or connection string fails with the reason in the debug description")
  func wrongTargets() async throws {
    let server = try TestCluster.sharedURL
    for (string, hint) in [
      (server.replacingOccurrences(of: "/postgres", with: "/absent"), "absent"),
      ("postgresql://tidings@nowhere.invalid/db", "nowhere.invalid"),
      ("host=127.0.0.1 port=1 dbname=db", "127.0.0.1"),
      ("host=127.0.0.1 password='hidden", "malformed"),
      ("postgresql://tidings:hidden@127.0.0.1:port/db", "malformed"),
    ] {
      let error = try await failure {
        try await PostgresConnection.connect(
          configuration: PostgresConfiguration(connectionString: string), logger: quiet)
      }
      #expect(error.code == .connectionFailed, "\(string)")
      #expect(error.debugDescription.contains(hint), "\(error.debugDescription)")
      #expect(!error.debugDescription.contains("hidden"))
    }
  }

  @Test("descriptions contain only the code and the SQLSTATE")
  func redaction() async throws {
    try await withPool(size: 1) { pool in
      _ = try await pool.query("CREATE TABLE people (name text CONSTRAINT unique_name UNIQUE)")
      _ = try await pool.query("INSERT INTO people VALUES ('secret')")
      let error = try await failure { try await pool.query("INSERT INTO people VALUES (\("secret"))") }
      #expect("\(error)" == "PostgresError(server, SQLSTATE 23505)")
      #expect(error.constraint == "unique_name")
      #expect(error.table == "people")
      #expect(String(reflecting: error).contains("secret"))
    }
    let configuration = PostgresConfiguration(connectionString: "postgresql://user:hidden@host/db")
    var dumped = ""
    dump(configuration, to: &dumped)
    for text in ["\(configuration)", String(reflecting: configuration), dumped] { #expect(!text.contains("hidden")) }
  }
}
