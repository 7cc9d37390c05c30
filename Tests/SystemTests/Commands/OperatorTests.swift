import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Operator commands beside a running server.
@Suite struct OperatorTests {
  @Test("A purge removes old removals, and expires earlier tokens")
  func purge() async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      try await installation.serve { server in
        let body = #"{"date": "2026-01-01T00:00:00Z", "text": "x"}"#
        let made = try await server.send("POST", "/v1/editorial/items", key: key, body: body)
        let item = try made.json(EditorialItem.self, status: 201).item
        let token = try #require(try await server.send("GET", "/v1/changes")["Sync-Token"])
        _ = try await server.client.send(
          "DELETE", "/v1/editorial/items/\(item.id.uuidString.lowercased())", key: key, headers: [("If-Match", "*")])

        let young = try await installation.run("purge", "--older-than", "1d")
        #expect(young.status == 0)
        #expect(young.output == "0 removals purged\n")
        #expect(try await server.send("GET", "/v1/changes?since=\(token)").status == 200)
        let old = try await installation.run("purge", "--older-than", "0s")
        #expect(old.status == 0)
        #expect(old.output == "1 removal purged\n")
        try await eventually("the token has expired") {
          try await server.send("GET", "/v1/changes?since=\(token)").status == 410
        }
      }
    }
  }

  @Test("A purge removes revisions that TIDINGS_HISTORY_KEEP does not keep, and says how many")
  func history() async throws {
    try await Installation.with { installation in
      _ = try await installation.sql.query(
        "INSERT INTO items (id, state, date, text) VALUES (gen_random_uuid(), 'draft', '2026-01-01', '0')")
      for text in 1...4 { _ = try await installation.sql.query("UPDATE items SET text = \("\(text)")") }
      _ = try await installation.sql.query(
        "UPDATE item_history SET at = clock_timestamp() - interval '10 days' WHERE revision < 4")
      for (value, output) in [
        ("", ""), ("11d", "0 revisions"), ("10", "0 revisions"), ("1w,4", "1 revision"), ("1w", "2 revisions"),
        ("1", "1 revision"),
      ] {
        let changes = ["TIDINGS_HISTORY_KEEP": value]
        let result = try await installation.run("purge", "--older-than", "1d", changes: changes)
        #expect(result.status == 0, "\(result.errors)")
        let line = output.isEmpty ? "" : "\(output) removed from the history\n"
        #expect(result.output == "0 removals purged\n" + line, "\(value)")
      }
      #expect(try await installation.value("SELECT revision FROM item_history") == 5)
    }
  }

  @Test(
    "A rule for the history is a time, a number, or both",
    arguments: [
      "0", "-1", "0d", "0s", "1y", "1.5d", "d", ",", "365d,", ",50", "365d,50,1", "50,60", "1d,2d", "1000001",
      "365d 50",
    ])
  func badRetention(value: String) async throws {
    try await Installation.with(schema: false) { installation in
      let result = try await installation.run("serve", changes: ["TIDINGS_HISTORY_KEEP": value])
      #expect(result.status == 78)
      #expect(result.errors.contains("TIDINGS_HISTORY_KEEP must be a time such as 365d"), "\(result.errors)")
    }
  }

  @Test(
    "The longest and the shortest age work",
    arguments: ["0", "0s", "142857w", "1000000s", "1000000m", "1000000h", "1000000d"])
  func extremeAge(age: String) async throws {
    try await Installation.with { installation in
      try await withFolder([:]) { folder in
        let changes = ["TIDINGS_MEDIA_DIRECTORY": folder.path]
        let result = try await installation.run(
          "purge", "--older-than", age, "--media-unused-for", age, changes: changes)
        #expect(result.status == 0, "\(result.errors)")
      }
    }
  }

  @Test(
    "An age is a whole number with a unit",
    arguments: ["1", "00", "1x", "9999999w", "142858w", "-1d", "1.5h", "d", "9999999d", "1000001d", ""])
  func badAge(age: String) async throws {
    try await Installation.with { installation in
      let result = try await installation.run("purge", "--older-than", age)
      #expect(result.status == 64)
      #expect(result.errors.contains("--older-than"))
    }
  }

  /// Publishes items after a change of them.
  private static func publish(_ ids: [UUID], after change: PostgresQuery, _ installation: Installation) async throws {
    try await installation.sql.transaction { transaction in
      _ = try await transaction.query(change)
      _ = try await transaction.commit(after: "SELECT count(*) FROM publish(\(ids))")
    }
  }

  @Test("An age is as long as its unit says")
  func units() async throws {
    try await Installation.with { installation in
      // The age of a removal in seconds, a shorter time and a longer one.
      let ages = [
        (8_640_000.0, "14w", "15w"), (864_000, "9d", "11d"), (129_600, "24h", "48h"), (2700, "30m", "60m"),
        (1200, "900s", "1500s"),
      ]
      for (seconds, _, _) in ages {
        let id = UUID()
        let ids = [id]
        for statement: PostgresQuery in [
          "INSERT INTO items (id, state, date, text) VALUES (\(id), 'published', '2026-01-01', 'x')",
          "UPDATE items SET state = 'retracted' WHERE id = \(id)",
        ] {
          try await Self.publish(ids, after: statement, installation)
        }
        _ = try await installation.sql.query(
          """
          UPDATE change_log SET updated = clock_timestamp() - make_interval(secs => \(seconds)) WHERE item = \(id)
          """)
      }
      for (_, shorter, longer) in ages {
        for (age, purged) in [(longer, "0 removals"), (shorter, "1 removal")] {
          let result = try await installation.run("purge", "--older-than", age)
          #expect(result.output == "\(purged) purged\n", "\(age): \(result.errors)")
        }
      }
    }
  }

  @Test("Epochs are listed with the newest first, each with the version after which it starts and its origin")
  func epochs() async throws {
    try await Installation.with { installation in
      _ = try await installation.sql.query("SELECT begin_epoch()")
      let id = UUID()
      try await Self.publish(
        [id], after: "INSERT INTO items (id, state, date, text) VALUES (\(id), 'published', '2026-01-01', 'x')",
        installation)
      let continued: String = try await installation.value("SELECT begin_epoch()")
      try await Self.publish([id], after: "UPDATE items SET text = 'y' WHERE id = \(id)", installation)
      let new = try await installation.run("epoch", "new").output.trimmingCharacters(in: .newlines)
      let rows = try await installation.run("epoch", "show").output.split(separator: "\n").prefix(2).map { row in
        row.split(separator: "\t").map { String($0) }
      }
      #expect(rows.map(\.first) == [new, continued])
      #expect(rows.map { $0.suffix(2) } == [["2", "begins anew"], ["1", "continues"]])
    }
  }

  @Test("After a new epoch, every client must request the snapshot")
  func newEpoch() async throws {
    try await Installation.with { installation in
      try await installation.serve { server in
        let token = try #require(try await server.send("GET", "/v1/changes")["Sync-Token"])
        #expect(try await server.send("GET", "/v1/changes?since=\(token)").status == 200)
        let cut = try await installation.run("epoch", "new")
        // Without a folder for files, the hint about it is left out.
        #expect(cut.status == 0 && cut.errors == "", "\(cut.errors)")
        try await eventually("the token has expired") {
          try await server.send("GET", "/v1/changes?since=\(token)").status == 410
        }
        let shown = try await installation.run("epoch", "show")
        #expect(shown.status == 0)
        let epochs = shown.output.split(separator: "\n").map { $0.split(separator: "\t").map { String($0) } }
        #expect(epochs.first?.first == cut.output.trimmingCharacters(in: .newlines))
        #expect(epochs.first?.last == "begins anew")
        #expect(epochs.dropFirst().contains { SyncToken(token)?.epoch == $0.first })
      }
    }
  }
}
