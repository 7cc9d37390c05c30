import Foundation
import PostgresClient
import TestSupport
import Testing

extension FaultTests {
  /// Runs the body with a cluster that keeps acknowledged writes, and a new database with the schema.
  private static func withCluster(
    settings: [String] = [], in parent: URL? = nil,
    _ body: @Sendable (TestCluster, Installation) async throws -> Void
  ) async throws {
    try await TestCluster.withCluster(settings: settings, in: parent) { cluster in
      let database = try await TestDatabase.create(on: cluster.url)
      try await Installation.with(url: database.url) { installation in
        let result = try await installation.run("migrate")
        guard result.status == 0 else { throw Unexpected(description: result.errors) }
        try await body(cluster, installation)
      }
    }
  }

  /// Runs the body, which breaks the database, while writers, readers and followers use a server.
  private static func use(
    _ installation: Installation, _ body: @Sendable (ServerUsers) async throws -> Void
  ) async throws -> ServerUsers.Record {
    let key = try await installation.makeKey()
    return try await installation.serve { server in
      try await ServerUsers.with(
        ServerUsers.Numbers(readers: 2), servers: [server.client], key: key, sql: installation.sql
      ) { users in
        try await users.waitForWrites()
        try await body(users)
      }
    }
  }

  @Test(
    "When the database is killed, no acknowledged write is lost, and no read from memory fails",
    .enabled(if: runsLongTests))
  func databaseKilled() async throws {
    try await Self.withCluster { cluster, installation in
      let longest = MaximumDuration()
      let seen = try await Self.use(installation) { users in
        for _ in 0..<3 {
          try await cluster.kill()
          try await Task.sleep(for: .seconds(5))
          try await cluster.start()
          longest.record(try await users.waitForWrites(within: .seconds(20)))
        }
      }
      Self.check(seen)
      #expect(longest.value < .seconds(10))
      #expect(seen.maximumRefusalDuration < .seconds(6))
      Self.report(
        "kill -9 of the database, away for 5 s, three times",
        promised: "reads from memory go on, writes are 503 with Retry-After within 5 s and go on within 10 s",
        seen:
          "\(Self.summary(seen)), the slowest after \(Self.seconds(seen.maximumRefusalDuration)); writes again after \(Self.seconds(longest.value))"
      )
    }
  }

  @Test("A suspended database delays requests no longer than their timeout", .enabled(if: runsLongTests))
  func databaseStandsStill() async throws {
    try await Self.withCluster { cluster, installation in
      let longest = MaximumDuration()
      let seen = try await Self.use(installation) { users in
        try await cluster.pause()
        try await Task.sleep(for: .seconds(30))
        try await cluster.resume()
        longest.record(try await users.waitForWrites(within: .seconds(20)))
      }
      Self.check(seen)
      // The server detects within two seconds that the database does not respond.
      #expect(seen.maximumReadDuration < .seconds(3))
      // A write under way waits 5 s for a connection, 10 s for its statement, and 5 s for the cancellation.
      #expect(seen.maximumRefusalDuration < .seconds(22))
      #expect(longest.value < .seconds(10))
      Self.report(
        "The database stands still for 30 s (SIGSTOP)",
        promised: "reads from memory go on, writes are 503, soon but for those under way, and go on within 10 s",
        seen:
          "\(Self.summary(seen)), the slowest after \(Self.seconds(seen.maximumRefusalDuration)); writes again after \(Self.seconds(longest.value)); slowest read \(Self.milliseconds(seen.maximumReadDuration))"
      )
    }
  }

  /// Edits an item again and again.
  ///
  /// - Returns: The statuses of the answers.
  private static func edit(
    _ id: String, on server: TestClient, key: String, editors: Int, for duration: Duration
  ) async throws -> Set<Int> {
    let end = ContinuousClock.now + duration
    return try await withThrowingTaskGroup(of: Set<Int>.self) { group in
      for number in 0..<editors {
        group.addTask {
          var statuses: Set<Int> = []
          while ContinuousClock.now < end {
            let response = try await server.send(
              "PATCH", "/v1/editorial/items/\(id)", key: key, headers: [("If-Match", "*")],
              body: #"{"text": "\#(number)"}"#)
            statuses.insert(response.status)
            try await Task.sleep(for: .milliseconds(200))
          }
          return statuses
        }
      }
      return try await group.reduce(into: []) { $0.formUnion($1) }
    }
  }

  @Test("A row that is locked by hand for a minute delays the writes of its own item only", .enabled(if: runsLongTests))
  func lockedRow() async throws {
    try await Self.withCluster { _, installation in
      let key = try await installation.makeKey()
      let id = UUID().uuidString.lowercased()
      let seen = try await installation.serve { server in
        let body = #"{"id": "\#(id)", "date": "2026-01-01T00:00:00Z", "text": "x"}"#
        let created = try await server.send("POST", "/v1/editorial/items", key: key, body: body)
        #expect(created.status == 201)
        return try await ServerUsers.with(
          ServerUsers.Numbers(readers: 2), servers: [server.client], key: key, sql: installation.sql
        ) { users in
          try await users.waitForWrites()
          try await installation.sql.transaction { transaction in
            _ = try await transaction.query("SELECT 1 FROM items WHERE id = \(UUID(uuidString: id)) FOR UPDATE")
            // More than may run alone at a time.
            let statuses = try await Self.edit(id, on: server.client, key: key, editors: 12, for: .seconds(60))
            #expect(statuses == [503])
          }
          let later = try await server.send(
            "PATCH", "/v1/editorial/items/\(id)", key: key, headers: [("If-Match", "*")], body: #"{"text": "later"}"#)
          #expect(later.status == 200)
        }
      }
      Self.check(seen, refusals: [])
      #expect(seen.maximumWriteDuration < .seconds(3))
      Self.report(
        "A row is locked in psql for a minute, and a dozen editors write to it",
        promised: "their writes are 503 after a few seconds, no other write is delayed",
        seen: "\(Self.summary(seen)); slowest write \(Self.milliseconds(seen.maximumWriteDuration))")
    }
  }

  @Test("Slow writes in the database do not slow down reads from memory", .enabled(if: runsLongTests))
  func slowDatabase() async throws {
    try await Self.withCluster { _, installation in
      let seen = try await Self.use(installation) { users in
        try await TestDatabase.execute(
          """
          CREATE FUNCTION delay_insert() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1); RETURN NEW; END';
          CREATE TRIGGER delay_insert BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION delay_insert();
          """, at: installation.url)
        try await Task.sleep(for: .seconds(20))
        try await TestDatabase.execute("DROP TRIGGER delay_insert ON items", at: installation.url)
        try await users.waitForWrites(within: .seconds(20))
      }
      Self.check(seen)
      #expect(seen.maximumReadDuration < .seconds(3))
      Self.report(
        "Each insertion takes a second, for 20 s",
        promised: "reads wait no longer than for one such write, writes are done or 503",
        seen: "\(Self.summary(seen)); slowest read \(Self.milliseconds(seen.maximumReadDuration))")
    }
  }

  @Test("On a full disk only writes fail, and they succeed again once there is space", .enabled(if: canChangeSystem))
  func fullDisk() async throws {
    try await Disk.with(megabytes: 256) { disk in
      try await Self.withCluster(settings: ["max_wal_size=64MB", "min_wal_size=32MB"], in: disk.folder) {
        cluster, installation in
        let longest = MaximumDuration()
        let hasFailed = Flag()
        let seen = try await Self.use(installation) { users in
          for _ in 0..<2 {
            let before = users.record.refusals.values.reduce(0, +)
            try disk.fill()
            try await users.wait("a write is refused") { $0.refusals.values.reduce(0, +) > before + 20 }
            try await Task.sleep(for: .seconds(5))
            try disk.empty()
            // A database that cannot write its own log stops itself.
            if (try? await installation.counter()) == nil { hasFailed.set() }
            try await cluster.start()
            longest.record(try await users.waitForWrites(within: .seconds(30)))
          }
        }
        Self.check(seen)
        #expect(longest.value < .seconds(10))
        let database = hasFailed.isSet ? "the database ended itself and was started again" : "the database went on"
        Self.report(
          "The disk of the database is full, twice",
          promised:
            "reads from memory go on, writes are 503 with the cause, no acknowledged write is lost, no restart of "
            + "the server",
          seen: "\(Self.summary(seen)); \(database); writes again after \(Self.seconds(longest.value))")
      }
    }
  }
}
