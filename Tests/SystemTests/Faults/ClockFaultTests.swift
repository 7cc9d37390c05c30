import Foundation
import HTTPConditions
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

extension FaultTests {
  /// The differences in seconds: an hour ahead, an hour behind, and correct again.
  private static let jumps = [3600, -3600, 0]

  @Test(
    "When the server's clock jumps, no request fails", .enabled(if: runsLongTests && WrongClock.isInstalled))
  func serverClock() async throws {
    let clock = try await WrongClock()
    defer { clock.remove() }
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      let seen = try await installation.serve(launcher: ["/usr/bin/env"], changes: clock.environment) {
        server in
        try await ServerUsers.with(servers: [server.client], key: key, sql: installation.sql) { users in
          try await users.waitForWrites()
          for seconds in Self.jumps {
            try clock.jump(by: seconds)
            try await users.waitForWrites(100, within: .seconds(10))
            // The server uses the shifted clock once it sends another `Date`.
            try await eventually("the server has the time of the jump") {
              let date = HTTPDate.parse(try await server.send("GET", "/healthz")["Date"] ?? "", now: Date())
              return date.map { abs($0.timeIntervalSinceNow - Double(seconds)) < 30 } ?? false
            }
          }
        }
      }
      Self.check(seen, refusals: [])
      Self.report(
        "The clock of a server jumps an hour ahead, two back, and right again",
        promised: "no failed read or write, all followers equal to the table", seen: Self.summary(seen))
    }
  }

  @Test(
    "After its clock jumps by more than a year, a server reads, writes and waits as before",
    .enabled(if: WrongClock.isInstalled))
  func farJumps() async throws {
    let clock = try await WrongClock()
    defer { clock.remove() }
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      try await installation.serve(launcher: ["/usr/bin/env"], changes: clock.environment) { server in
        for days in [0, 400, 800] {
          let token = try await server.send("GET", "/v1/changes").json(ChangeList.self).token
          async let waiting = server.send("GET", "/v1/changes?wait=2&since=\(token)")
          try await eventually("it waits") {
            try await server.send("GET", "/metrics").text.contains("tidings_waiting_requests 1\n")
          }
          try clock.jump(by: days * 86_400)
          #expect(try await waiting.json(ChangeList.self).changes.isEmpty)
          let body = #"{"date": "2020-01-01T00:00:00Z", "text": "\#(days)"}"#
          let made = try await server.send("POST", "/v1/editorial/items", key: key, body: body)
          let item = try made.json(EditorialItem.self, status: 201).item.id
          let list = try await server.send("GET", "/v1/changes?since=\(token)").json(ChangeList.self)
          #expect(list.changes.count == 1)
          for target in ["/v1/items?at=\(list.token)", "/v1/items/\(item)", "/v1/state", "/v1/items?q=\(days)"] {
            #expect(try await server.send("GET", target).status == 200, "\(target)")
          }
          let none = try await server.send("GET", "/v1/changes?wait=1&since=\(list.token)")
          #expect(try none.json(ChangeList.self).changes.isEmpty)
        }
      }
    }
  }

  @Test("Rate limits follow the monotonic clock, not the wall clock", .enabled(if: WrongClock.isInstalled))
  func limitsInFarJumps() async throws {
    let clock = try await WrongClock()
    defer { clock.remove() }
    try await Installation.with { installation in
      let changes = clock.environment.merging([
        "TIDINGS_ADDRESS_RATE": "60", "TIDINGS_TRUSTED_PROXIES": "127.0.0.1",
      ]) { $1 }
      try await installation.serve(launcher: ["/usr/bin/env"], changes: changes) { server in
        let start = ContinuousClock.now
        var accepted = 0
        for days in Self.farJumps {
          try clock.jump(by: days * 86_400)
          for _ in 0..<70 where try await Self.isAccepted(server) { accepted += 1 }
        }
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        #expect(60...(62 + seconds) ~= accepted)
        try await eventually("the limit allows one more") { try await Self.isAccepted(server) }
      }
    }
  }

  private static func isAccepted(_ server: RunningServer) async throws -> Bool {
    let answer = try await server.send("GET", "/v1/items", headers: [("X-Forwarded-For", "198.51.100.7")])
    #expect([200, 429].contains(answer.status))
    return answer.status == 200
  }

  /// The differences in days.
  private static let farJumps = [0, 400, -400, 0]

  @Test(
    "When the database's clock jumps, no change is lost, and no item goes back in time",
    .enabled(if: runsLongTests && WrongClock.isInstalled))
  func databaseClock() async throws {
    let clock = try await WrongClock()
    defer { clock.remove() }
    try await TestCluster.withCluster(settings: [], environment: clock.environment) { cluster in
      let database = try await TestDatabase.create(on: cluster.url)
      try await Installation.with(url: database.url) { installation in
        #expect(try await installation.run("migrate").status == 0)
        let key = try await installation.makeKey()
        let id = UUID().uuidString.lowercased()
        let seen = try await installation.serve { server in
          try await ServerUsers.with(servers: [server.client], key: key, sql: installation.sql) { users in
            try await users.waitForWrites()
            var updates: [Date] = []
            for (number, seconds) in Self.jumps.enumerated() {
              try clock.jump(by: seconds)
              try await users.waitForWrites(100, within: .seconds(10))
              let databaseTime: Double = try await installation.value(
                "SELECT extract(epoch FROM clock_timestamp())::double precision")
              #expect(abs(Date(timeIntervalSince1970: databaseTime).timeIntervalSinceNow - Double(seconds)) < 30)
              let answer = try await server.client.send(
                "PUT", "/v1/editorial/items/\(id)", key: key,
                headers: number == 0 ? [("If-None-Match", "*")] : [("If-Match", "\"r\(number)\"")],
                body: #"{"date": "2026-01-01T00:00:00Z", "text": "\#(number)"}"#)
              #expect([200, 201].contains(answer.status), "\(answer.text)")
              updates.append(
                try await installation.value(
                  "SELECT updated FROM change_log WHERE scope = '' AND item = \(UUID(uuidString: id))"))
            }
            #expect(updates == updates.sorted() && Set(updates).count == updates.count, "\(updates)")
          }
        }
        Self.check(seen)
        Self.report(
          "The clock of the database jumps an hour ahead, two back, and right again",
          promised: "versions go on, `updated` of an item only grows, all followers equal to the table",
          seen: Self.summary(seen))
      }
    }
  }
}
