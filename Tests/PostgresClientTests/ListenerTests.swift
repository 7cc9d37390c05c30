import PostgresClient
import TestKit
import TestSupport
import Testing

extension PostgresListener.Event {
  /// The payload of a notification.
  var payload: String? {
    if case .notification(let payload, _) = self { payload } else { nil }
  }
}

@Suite("LISTEN")
struct ListenerTests {
  private func next(
    _ iterator: inout AsyncStream<PostgresListener.Event>.Iterator
  ) async throws -> PostgresListener.Event {
    try #require(await iterator.next())
  }

  @Test("notifications arrive in order, for any name of a channel", arguments: ["news", "With \"quotes\"; and ü"])
  func notifications(channel: String) async throws {
    try await withPool { pool in
      let database = try await pool.value("SELECT current_database()", as: String.self)
      let url = try TestCluster.sharedURL.replacing("/postgres", with: "/" + database, maxReplacements: 1)
      let listener = PostgresListener(configuration: PostgresConfiguration(connectionString: url), logger: quiet)
      var events = listener.events(channel: channel).makeAsyncIterator()
      let value1 = try await next(&events)
      #expect(value1 == .listening)
      var senders: [Int32] = []
      for number in 0..<100 {
        senders.append(
          try await pool.value("SELECT pg_backend_pid() FROM pg_notify(\(channel), \("\(number)"))", as: Int32.self))
      }
      _ = try await pool.query("SELECT pg_notify('other', 'x'), pg_notify(\(channel), '')")
      for number in 0..<100 {
        let value2 = try await next(&events)
        #expect(value2 == .notification(payload: "\(number)", sender: senders[number]))
      }
      let value3 = try await next(&events)
      #expect(value3.payload == "")
    }
  }

  @Test("a listener whose session is terminated reports it and listens again")
  func reconnect() async throws {
    try await TestCluster.withCluster { cluster in
      var configuration = PostgresConfiguration(connectionString: await cluster.url)
      configuration.applicationName = "listener"
      let listener = PostgresListener(configuration: configuration, logger: quiet)
      try await withPool(url: cluster.url, size: 1) { pool in
        var events = listener.events(channel: "news").makeAsyncIterator()
        let value4 = try await next(&events)
        #expect(value4 == .listening)
        _ = try await pool.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'listener'")
        let value5 = try await next(&events)
        #expect(value5 == .disconnected)
        let value6 = try await next(&events)
        #expect(value6 == .listening)
        _ = try await pool.query("NOTIFY news, 'one'")
        let value7 = try await next(&events)
        #expect(value7.payload == "one")
        let url = await cluster.url
        try await cluster.stop()
        let value8 = try await next(&events)
        #expect(value8 == .disconnected)
        try await cluster.start()
        try #require(await cluster.url == url)
        let value9 = try await next(&events)
        #expect(value9 == .listening)
        _ = try await pool.query("NOTIFY news, 'two'")
        let value10 = try await next(&events)
        #expect(value10.payload == "two")
      }
    }
  }

  @Test("the connection is closed once the sequence is no longer iterated")
  func end() async throws {
    try await withTestDatabase { url in
      try await withPool(url: url, size: 1) { pool in
        var configuration = PostgresConfiguration(connectionString: url)
        configuration.applicationName = "listener"
        let listener = PostgresListener(configuration: configuration, logger: quiet)
        let task = Task {
          for await _ in listener.events(channel: "news") {}
        }
        let count: PostgresQuery = """
          SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'listener'
          """
        try await eventually("it listens") { try await pool.value(count, as: Int.self) == 1 }
        task.cancel()
        try await eventually("it is gone") { try await pool.value(count, as: Int.self) == 0 }
      }
    }
  }
}
