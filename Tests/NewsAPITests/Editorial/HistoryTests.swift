import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The history of items, and restorations from it.
@Suite struct HistoryTests {
  private static func path(_ item: EditorialItem, _ rest: String = "") -> String {
    "items/\(item.item.id.uuidString.lowercased())" + rest
  }

  private static func history(_ server: TestServer, _ path: String) async throws -> [HistoryEntry] {
    try await server.write("GET", path).json(HistoryList.self).entries
  }

  private static func patch(_ server: TestServer, _ item: EditorialItem, _ body: String) async throws -> EditorialItem {
    try await server.write("PATCH", path(item), body, ("If-Match", "*")).json(EditorialItem.self)
  }

  @Test("Each write has its author, its time and its changed fields, with old and new values and text differences")
  func entries() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      let item = try await server.write(
        "POST", "items", #"{"title": "One", "text": "It ended 1:0.", "topics": ["a"], "state": "draft"}"#
      ).json(EditorialItem.self, status: 201)
      let other = try await server.store.createKey(name: "night: shift", permissions: [.itemsPublish])
      let corrected = try await server.send(
        "PATCH", "/v1/editorial/" + Self.path(item), key: other, headers: [("If-Match", "*")],
        body: #"{"title": null, "text": "It ended 2:0.", "topics": ["a", "b"], "breaking": true}"#)
      #expect(corrected.status == 200)
      let published = try await Self.patch(server, item, #"{"state": "published", "author": "Mara Quill"}"#)
      // A write that changes nothing has no entry.
      _ = try await Self.patch(server, item, #"{"author": "Mara Quill"}"#)

      let entries = try await Self.history(server, Self.path(item, "/history"))
      #expect(entries.map(\.revision) == [3, 2, 1])
      #expect(entries.map(\.editor) == [.key("desk"), .key("night: shift"), .key("desk")])
      #expect(entries.map(\.state) == [.published, .draft, .draft])
      #expect(entries.map(\.item) == [item.item.id, item.item.id, item.item.id])
      #expect(entries[0].at == published.edited && entries[2].at == item.edited)
      #expect(entries[2].changes.isEmpty)
      #expect(
        entries[1].changes == [
          FieldChange(field: "title", old: .text("One"), new: nil),
          FieldChange(field: "text", old: .text("It ended 1:0."), new: .text("It ended 2:0.")),
          FieldChange(field: "topics", old: .texts(["a"]), new: .texts(["a", "b"])),
          FieldChange(field: "breaking", old: .flag(false), new: .flag(true)),
        ])
      #expect(
        entries[1].changes[1].difference?.parts == [.keep("It ended "), .remove("1"), .add("2"), .keep(":0.")])
      #expect(
        entries[0].changes == [
          FieldChange(field: "state", old: .text("draft"), new: .text("published")),
          FieldChange(field: "date", old: nil, new: .text(RFC3339.string(from: published.item.date))),
          FieldChange(field: "author", old: nil, new: .text("Mara Quill")),
        ])
    }
  }

  @Test("The history of all items is paged, newest first, and includes imports, schedules, retractions and plain SQL")
  func allItems() async throws {
    try await TestServer.with { server in
      let published = try await server.publish("x")
      let content = ItemContent(state: .published, date: Date(timeIntervalSince1970: 1_700_000_000), text: "import")
      _ = try await server.store.importItems([
        ImportedItem(
          id: UUID(), source: "https://feed", guid: "1", digest: Data([1]), content: content)
      ])
      _ = try await server.sql.query(
        """
        INSERT INTO items (id, state, date, text, has_date, publish_at)
        VALUES ('019a1111-0000-7000-8000-000000000001', 'scheduled', '2026-01-01', 'due', false, '2026-01-01')
        """)
      _ = try await server.store.applySchedule()
      let deleted = try await server.write("DELETE", Self.path(published) + "?reason=Wrong", nil, ("If-Match", "*"))
      #expect(deleted.status == 204)

      var entries: [HistoryEntry] = []
      var next: String? = "/v1/editorial/history?limit=2"
      var pages = 0
      while let target = next {
        let response = try await server.send("GET", target, key: server.key)
        entries += try response.json(HistoryList.self).entries
        next = response.next
        pages += 1
      }
      #expect(pages == 3)
      #expect(entries.map(\.editor) == [.key("desk"), .schedule, nil, .import, .key("desk")])
      #expect(entries.map(\.state) == [.retracted, .published, .scheduled, .published, .published])
      #expect(entries[0].changes.contains(FieldChange(field: "retractionReason", old: nil, new: .text("Wrong"))))
      let foreign = try await server.write("GET", "history?cursor=AAAAAAAAAAAAAAAAAAAAAA")
      #expect(try foreign.json(Problem.self, status: 400).errors?.map(\.field) == ["cursor"])
      #expect(try await server.write("GET", "items/\(UUID().uuidString)/history").status == 404)
    }
  }

  @Test("A change by plain SQL after a write of an editor is not attributed to the editor")
  func plainSQL() async throws {
    try await TestServer.with { server in
      let item = try await server.write("POST", "items", #"{"text": "x", "state": "draft"}"#)
        .json(EditorialItem.self, status: 201)
      _ = try await server.sql.query("UPDATE items SET title = 'psql' WHERE id = \(item.item.id)")
      let entries = try await Self.history(server, Self.path(item, "/history"))
      #expect(entries.map(\.editor) == [nil, .key("desk")])
      _ = try await server.sql.query("DELETE FROM items WHERE id = \(item.item.id)")
      #expect(try await server.sql.query("SELECT 1 FROM item_history").isEmpty)
    }
  }

  @Test("A restoration gives an item the content of any earlier revision, and keeps its state and its history")
  func restore() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      let attachment = #"{"url": "https://example.org/a.jpg", "type": "image/jpeg", "alt": "A"}"#
      let item = try await server.write(
        "POST", "items",
        """
        {"title": "One", "text": "first", "html": "<p>first</p>", "topics": ["a"], "language": "en", "breaking": true,
         "date": "2026-01-01T00:00:00Z", "attachments": [\(attachment)]}
        """
      ).json(EditorialItem.self, status: 201)
      let bodies = [
        #"{"text": "second", "html": null, "attachments": []}"#, #"{"title": null, "topics": ["b"], "text": "third"}"#,
        #"{"text": "fourth", "breaking": false, "language": "de", "date": "2026-02-01T00:00:00Z", "topics": []}"#,
      ]
      var revisions = [item]
      for body in bodies { revisions.append(try await Self.patch(server, item, body)) }
      for (number, former) in revisions.enumerated() {
        let response = try await server.write(
          "POST", Self.path(item, "/history/\(number + 1)/restore"), nil, ("If-Match", "*"))
        let restored = try response.json(EditorialItem.self)
        var expected = former
        (expected.item.version, expected.item.updated) = (restored.item.version, restored.item.updated)
        (expected.revision, expected.edited) = (restored.revision, restored.edited)
        #expect(restored == expected)
        #expect(restored.revision > 4 && response["ETag"] == "\"r\(restored.revision)\"")
      }
      #expect(try await server.get("/v1/" + Self.path(item)).json(NewsItem.self).text == "fourth")
      #expect(try await Self.history(server, Self.path(item, "/history")).count == 8)
    }
  }

  @Test("A restoration is a write like any other: it needs the lock, a known revision and the right scope")
  func restoreRules() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("x")
      _ = try await Self.patch(server, item, #"{"text": "y"}"#)
      func restore(_ revision: String, key: String? = nil, _ headers: [(String, String)]) async throws -> Int {
        try await server.send(
          "POST", "/v1/editorial/" + Self.path(item, "/history/\(revision)/restore"), key: key ?? server.key,
          headers: headers
        ).status
      }
      #expect(try await restore("1", []) == 428)
      #expect(try await restore("1", [("If-Match", "\"r1\"")]) == 412)
      for unknown in ["3", "0", "-1", "one", "99999999999999999999"] {
        #expect(try await restore(unknown, [("If-Match", "*")]) == 404, "\(unknown)")
      }
      let drafts = try await server.store.createKey(name: "drafts", permissions: [.itemsWrite])
      #expect(try await restore("1", key: drafts, [("If-Match", "*")]) == 403)
      // The current revision is no change.
      #expect(try await restore("2", [("If-Match", "\"r2\"")]) == 200)
      #expect(try await restore("1", [("If-Match", "\"r2\"")]) == 200)
      #expect(try await server.write("DELETE", Self.path(item), nil, ("If-Match", "*")).status == 204)
      #expect(try await restore("1", [("If-Match", "*")]) == 410)
    }
  }

  @Test("A restoration is refused if the item was written since it was computed")
  func restoreRace() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("first")
      let restored = try await server.store.restoration(of: item.item.id, to: 1)
      _ = try await Self.patch(server, item, #"{"title": "later"}"#)
      await #expect(throws: StoreError.preconditionFailed) {
        _ = try await server.store.write(item.item.id, if: .exists, StateChange(keepsState: true)) { existing in
          try restored(try #require(existing))
        }
      }
    }
  }

  @Test("An item from before the history can be restored to the revision at which its history begins")
  func upgraded() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("first")
      _ = try await Self.patch(server, item, #"{"text": "second"}"#)
      _ = try await server.sql.query("DELETE FROM item_history")
      _ = try await Self.patch(server, item, #"{"text": "third"}"#)
      func restore(_ revision: Int) async throws -> TestResponse {
        try await server.write(
          "POST", Self.path(item, "/history/\(revision)/restore"), nil, ("If-Match", "*"))
      }
      #expect(try await restore(1).json(Problem.self, status: 410).type == "/problems/revision-removed")
      #expect(try await restore(2).json(EditorialItem.self).item.text == "second")
    }
  }

  @Test(
    "A revision that was removed from the history is gone, and the end of the list says that older ones were removed")
  func removed() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("1")
      for text in 2...4 { _ = try await Self.patch(server, item, #"{"text": "\#(text)"}"#) }
      func list(_ path: String) async throws -> HistoryList {
        try await server.write("GET", path).json(HistoryList.self)
      }
      #expect(try await list(Self.path(item, "/history")).incomplete == nil)
      #expect(try await server.store.sweepHistory(keeping: HistoryRetention(count: 2)) == 2)
      let rest = try await list(Self.path(item, "/history"))
      #expect(rest.entries.map(\.revision) == [4, 3] && rest.incomplete == true)
      #expect(try await list(Self.path(item, "/history?limit=1")).incomplete == nil)
      #expect(try await list("history").incomplete == nil)
      func restore(_ revision: Int) async throws -> TestResponse {
        try await server.write("POST", Self.path(item, "/history/\(revision)/restore"), nil, ("If-Match", "\"r4\""))
      }
      let gone = try await restore(1).json(Problem.self, status: 410)
      #expect(gone.type == "/problems/revision-removed")
      #expect(try await restore(5).status == 404)
      // The oldest entry has the former values of the revision before it.
      #expect(try await restore(2).json(EditorialItem.self).item.text == "2")
    }
  }

  @Test("An erasure leaves only itself in the history, without texts")
  func erasure() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("secret words")
      _ = try await Self.patch(server, item, #"{"text": "other words"}"#)
      #expect(try await server.write("DELETE", Self.path(item), nil, ("If-Match", "*")).status == 204)
      #expect(try await server.write("POST", Self.path(item, "/erase?reason=Judgment")).status == 204)
      #expect(try await server.write("POST", Self.path(item, "/erase?reason=Order")).status == 204)
      let entries = try await Self.history(server, Self.path(item, "/history"))
      #expect(entries.map(\.revision) == [5])
      let erased = try await server.write("POST", Self.path(item, "/history/1/restore"), nil, ("If-Match", "*"))
      #expect(try erased.json(Problem.self, status: 410).type == "/problems/revision-removed")
      #expect(entries[0].editor == .key("desk") && entries[0].state == .retracted)
      let rows = try await server.sql.query("SELECT h::text FROM item_history AS h")
      let all = try rows.map { try $0.decode(0, as: String.self) }.joined()
      #expect(!all.contains("words") && !all.contains("Judgment"))
    }
  }

  @Test("A key that is restricted to topics sees the writes to its items only, and restores no other")
  func restricted() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      func created(_ topic: String) async throws -> EditorialItem {
        try await server.write("POST", "items", #"{"text": "x", "topics": ["\#(topic)"]}"#)
          .json(EditorialItem.self, status: 201)
      }
      let (own, other) = (try await created("a"), try await created("b"))
      let key = try await server.store.createKey(name: "a", permissions: [.itemsPublish], topics: ["a"])
      func send(_ method: String, _ path: String) async throws -> TestResponse {
        try await server.send(method, "/v1/editorial/" + path, key: key, headers: [("If-Match", "*")])
      }
      #expect(try await send("GET", "history").json(HistoryList.self).entries.map(\.item) == [own.item.id])
      #expect(try await send("GET", Self.path(own, "/history")).status == 200)
      #expect(try await send("GET", Self.path(other, "/history")).status == 404)
      #expect(try await send("POST", Self.path(own, "/history/1/restore")).status == 200)
      #expect(try await send("POST", Self.path(other, "/history/1/restore")).status == 403)
    }
  }

  @Test("A key that is restricted to topics neither sees nor restores what an item was while it had other topics")
  func earlierTopics() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      let key = try await server.store.createKey(name: "a", permissions: [.itemsPublish], topics: ["a"])
      func send(_ method: String, _ path: String) async throws -> TestResponse {
        try await server.send(method, "/v1/editorial/" + path, key: key, headers: [("If-Match", "*")])
      }
      let item = try await server.write("POST", "items", #"{"text": "early", "topics": ["a"], "state": "draft"}"#)
        .json(EditorialItem.self, status: 201)
      for body in [
        #"{"title": "t"}"#, #"{"topics": ["b", "a"]}"#, #"{"text": "secret"}"#, #"{"title": "secret"}"#,
        #"{"topics": ["a"], "text": "late"}"#, #"{"text": "latest"}"#,
      ] {
        _ = try await Self.patch(server, item, body)
      }
      for path in ["history", Self.path(item, "/history")] {
        let response = try await send("GET", path)
        #expect(try response.json(HistoryList.self).entries.map(\.revision) == [7, 2, 1])
        #expect(!response.text.contains("secret"))
        #expect(try await Self.history(server, path).map(\.revision) == [7, 6, 5, 4, 3, 2, 1])
      }
      for revision in 3...5 {
        #expect(try await send("POST", Self.path(item, "/history/\(revision)/restore")).status == 404)
      }
      let restored = try await send("POST", Self.path(item, "/history/2/restore")).json(EditorialItem.self)
      #expect(restored.item.text == "early" && restored.item.topics == ["a"])
      let later = try await send("POST", Self.path(item, "/history/6/restore")).json(EditorialItem.self)
      #expect(later.item.text == "late")
      let all = try await server.write("POST", Self.path(item, "/history/4/restore"), nil, ("If-Match", "*"))
      #expect(all.status == 200)
    }
  }

  @Test("A page of long texts ends early, and no entry is lost")
  func longTexts() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("x")
      for letter in ["a", "b", "c", "d", "e"] {
        _ = try await Self.patch(server, item, #"{"text": "\#(String(repeating: letter, count: 250_000))"}"#)
      }
      var (revisions, sizes): ([Int], [Int]) = ([], [])
      var next: String? = "/v1/editorial/" + Self.path(item, "/history")
      while let target = next {
        let response = try await server.send("GET", target, key: server.key)
        let entries = try response.json(HistoryList.self).entries
        revisions += entries.map(\.revision)
        sizes.append(entries.count)
        next = response.next
      }
      #expect(revisions == [6, 5, 4, 3, 2, 1])
      // The three longest former values have 250,000 bytes each.
      #expect(sizes == [2, 4])
    }
  }
}
