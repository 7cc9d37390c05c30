import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// A newsroom's day in a browser, and the keyboard instead of a pointer. `make test` runs the day with JavaScript.
@Suite(.enabled(if: BrowserDriver.runsAllTests || BrowserDriver.isInstalled, "needs Chromium and packages of PyPI"))
struct BrowserDayTests {
  /// Returns the id of the item of the step with a name.
  private func item(_ name: String, in steps: [BrowserDriver.Step]) throws -> UUID {
    let step = try #require(steps.first { $0.step == name }, "there is no step \(name)")
    return try #require(step.item.flatMap { UUID(uuidString: $0) }, "the step \(name) has no item")
  }

  /// Returns the fields that each write has changed, from the oldest to the newest.
  private func history(of id: UUID, _ installation: Installation) async throws -> [Set<String>] {
    try await installation.sql.query(
      "SELECT array_to_string(fields, ' ') AS fields FROM item_history WHERE item = \(id) ORDER BY revision"
    ).map { Set(try $0.decode("fields", as: String.self).split(separator: " ").map { String($0) }) }
  }

  @Test(
    "A newsroom's day can be lived in a browser, with JavaScript and without",
    arguments: BrowserDriver.runsAllTests ? [true, false] : [true])
  func day(javascript: Bool) async throws {
    try await BrowserDriver.with(javascript ? "day" : "day-without-javascript") { driver in
      let steps = try await driver.run("day", javascript: javascript)
      let (installation, server) = (driver.installation, driver.server)
      var expected = [
        "signed in", "draft", "uploaded", "scheduled", "published", "conflict", "saved over it", "restored",
        "retracted", "signed out",
      ]
      if javascript { expected.insert("saved while typing", at: 3) }
      #expect(steps.map(\.step) == expected)

      let scheduled = try item("scheduled", in: steps)
      #expect(try await server.status("/v1/items/\(scheduled)") == 404)
      let row = try #require(
        try await installation.sql.query(
          "SELECT state::text, publish_at, jsonb_array_length(attachments) AS files FROM items WHERE id = \(scheduled)"
        ).first)
      #expect(try row.decode("state") == "scheduled")
      // The script shows the time in the zone of the browser, and sends it in UTC.
      #expect(try RFC3339.string(from: row.decode("publish_at", as: Date.self)).hasPrefix("2099-05-01T10:30:00"))
      #expect(try row.decode("files") == (javascript ? 2 : 1))
      #expect(steps.first { $0.step == "uploaded" }?.count == (javascript ? 2 : 1))

      let published = try item("published", in: steps)
      #expect(steps.first { $0.step == "restored" }?.title == "Fog closes the harbour")
      #expect(
        try await history(of: published, installation)
          == [[], ["title"], ["title"], ["title"], ["state", "retractionReason"]])
      let reason: String = try await installation.value("SELECT retraction_reason FROM items WHERE id = \(published)")
      #expect(reason == "There was no fog.")
      #expect(try await server.status("/v1/items/\(published)") == 410)
      #expect(try await installation.value("SELECT count(*) FROM console_sessions") == 0)
    }
  }

  @Test(
    "A newsroom works by keyboard alone, with JavaScript and without",
    .enabled(if: BrowserDriver.runsAllTests, "make browser"), arguments: [true, false])
  func keyboard(javascript: Bool) async throws {
    try await BrowserDriver.with(javascript ? "keyboard" : "keyboard-without-javascript") { driver in
      let steps = try await driver.run("keyboard", javascript: javascript)
      #expect(steps.map(\.step) == ["signed in", "draft", "published", "retracted", "signed out"])
      #expect(steps.first { $0.step == "published" }?.text == "Enter makes a new line here.\nIt does.")
      let id = try item("retracted", in: steps)
      let row = try #require(
        try await driver.installation.sql.query(
          "SELECT state::text, title, breaking, retraction_reason AS reason FROM items WHERE id = \(id)"
        ).first)
      #expect(try row.decode("state") == "retracted")
      #expect(try row.decode("title") == "Written with keys alone")
      #expect(try row.decode("breaking") == true)
      #expect(try row.decode("reason") == "It was only a test.")
    }
  }
}
