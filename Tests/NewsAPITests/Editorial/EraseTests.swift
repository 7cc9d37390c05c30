import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The permanent removal of an item's texts.
@Suite struct EraseTests {
  private static let words = ["quicksilver", "Marigold Quill", "example.org/quicksilver", "amalgam", "Wrong person"]

  private static func path(_ item: EditorialItem, _ rest: String = "") -> String {
    "items/\(item.item.id.uuidString.lowercased())" + rest
  }

  private static func body(_ attachment: String = "") -> String {
    """
    {"date": "2026-01-01T00:00:00Z", "title": "quicksilver", "summary": "amalgam", "text": "quicksilver text",
     "html": "<p>quicksilver</p>", "topics": ["a"], "language": "en", "author": "Marigold Quill",
     "url": "https://example.org/quicksilver" \(attachment)}
    """
  }

  private static func retracted(_ server: TestServer) async throws -> EditorialItem {
    try await server.makeTopics(["a"])
    let item = try await server.write("POST", "items", body()).json(EditorialItem.self, status: 201)
    let deleted = try await server.write("DELETE", path(item) + "?reason=Wrong%20person", nil, ("If-Match", "*"))
    #expect(deleted.status == 204)
    return item
  }

  @Test("No column of any table contains the texts of an erased item, and clients still receive its removal")
  func erased() async throws {
    try await TestServer.with { server in
      let item = try await Self.retracted(server)
      let since = try await server.get("/v1/changes").json(ChangeList.self)
      #expect(try await server.write("POST", Self.path(item, "/erase")).status == 204)
      let tables = try await server.sql.query("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")
        .map { try $0.decode(0, as: String.self) }
      #expect(tables.contains("items") && tables.contains("change_log"))
      for table in tables {
        let rows = try await server.sql.query("SELECT t::text FROM \(unsafeSQL: table) AS t")
        for row in rows {
          let text: String = try row.decode(0)
          for word in Self.words { #expect(!text.contains(word), "\(word) in \(table)") }
        }
      }
      // The version has not changed, and clients with an older token still get the removal.
      #expect(try await server.get("/v1/changes").json(ChangeList.self).token == since.token)
      let gone = try await server.get("/v1/" + Self.path(item)).json(Problem.self, status: 410)
      #expect((gone.reason, gone.detail) == ("retracted", nil))
      #expect(try await server.get("/v1/items?q=quicksilver").json(ItemList.self).items.isEmpty)
      let seen = try await server.write("GET", Self.path(item)).json(EditorialItem.self)
      #expect((seen.state, seen.item.text, seen.item.title, seen.retractionReason) == (.retracted, "", nil, nil))
      #expect(seen.erased != nil)
      #expect(seen.item.topics == ["a"])
      #expect(try await server.write("GET", "items?state=retracted").json(EditorialItemList.self).items == [seen])
    }
  }

  @Test("A client with a token from before the retraction removes an item that has since been erased")
  func followers() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a"])
      let item = try await server.write("POST", "items", Self.body()).json(EditorialItem.self, status: 201)
      let token = try await server.get("/v1/changes").json(ChangeList.self).token
      _ = try await server.write("DELETE", Self.path(item), nil, ("If-Match", "*"))
      _ = try await server.write("POST", Self.path(item, "/erase"))
      let changes = try await server.get("/v1/changes?since=\(token)").json(ChangeList.self).changes
      #expect(changes == [.remove(id: item.item.id, reason: .retracted)])
      // A second server reads the same from the database.
      let beside = try await server.beside({ _ in }) { other in
        try await other.get("/v1/changes?since=\(token)").json(ChangeList.self).changes
      }
      #expect(beside == changes)
    }
  }

  @Test("Only a retracted item can be erased, and it accepts no writes afterwards")
  func rules() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("x")
      let refused = try await server.write("POST", Self.path(item, "/erase")).json(Problem.self, status: 409)
      #expect(refused.type == "/problems/not-retracted")
      #expect(try await server.get("/v1/" + Self.path(item)).status == 200)
      _ = try await server.write("DELETE", Self.path(item), nil, ("If-Match", "*"))
      #expect(try await server.write("POST", Self.path(item, "/erase"), nil, ("If-Match", "\"r1\"")).status == 412)
      #expect(try await server.write("POST", Self.path(item, "/erase"), nil, ("If-Match", "\"r2\"")).status == 204)
      let first = try await server.write("GET", Self.path(item)).json(EditorialItem.self)
      #expect(try await server.write("POST", Self.path(item, "/erase")).status == 204)
      #expect(try await server.write("GET", Self.path(item)).json(EditorialItem.self) == first)
      #expect(try await server.write("PATCH", Self.path(item), #"{"text": "y"}"#, ("If-Match", "*")).status == 410)
      let id = item.item.id.uuidString.lowercased()
      let again = #"{"id": "\#(id)", "date": "2026-01-01T00:00:00Z", "text": "x"}"#
      #expect(try await server.write("POST", "items", again).status == 409)
      #expect(try await server.write("POST", "items/019a0000-0000-7000-8000-000000000000/erase").status == 404)
      #expect(try await server.write("POST", Self.path(item, "/erase?reason=")).status == 400)
    }
  }

  @Test("The reason of an erasure replaces that of the retraction for readers at once")
  func reason() async throws {
    try await TestServer.with { server in
      let item = try await Self.retracted(server)
      for _ in 0..<3 {
        #expect(try await server.get("/v1/" + Self.path(item)).json(Problem.self, status: 410).detail == "Wrong person")
      }
      #expect(try await server.write("POST", Self.path(item, "/erase?reason=By+law")).status == 204)
      #expect(try await server.get("/v1/" + Self.path(item)).json(Problem.self, status: 410).detail == "By law")
    }
  }

  @Test("Files used only by the erased item are removed with it, and files of other items stay")
  func files() async throws {
    try await MediaServer.with { media in
      func attachment(_ url: String) -> String { #"{"url": "\#(url)", "type": "image/png"}"# }
      let (own, shared, drafted) = (SampleMedia.png(seed: 1), SampleMedia.png(seed: 2), SampleMedia.png(seed: 3))
      let paths = (try await media.stored(own), try await media.stored(shared), try await media.stored(drafted))
      let list = [paths.0, paths.1, paths.2].map(attachment).joined(separator: ",")
      let item = try await media.item(#""attachments": [\#(list)]"#).json(EditorialItem.self, status: 201)
      _ = try await media.item(#""attachments": [\#(attachment(paths.1))]"#)
      _ = try await media.item(#""attachments": [\#(attachment(paths.2))], "state": "draft""#)
      let path = "/v1/editorial/" + Self.path(item)
      _ = try await media.server.send("DELETE", path, key: media.key, headers: [("If-Match", "*")])
      #expect(try await media.server.send("POST", path + "/erase", key: media.key).status == 204)
      #expect(try await media.server.get(paths.0).json(Problem.self, status: 410).reason == "removed")
      #expect(try await media.server.get(paths.1).body == shared)
      // The draft keeps its file. Readers get it only once the draft is published, and do not learn that there is a draft.
      #expect(try await media.server.get(paths.2).status == 404)
      #expect(try names(in: media.folder) == [shared.sha256, drafted.sha256].sorted())
    }
  }

  @Test("An import does not restore an erased item")
  func imports() async throws {
    try await TestServer.with { server in
      let content = ItemContent(
        state: .published, date: Date(timeIntervalSince1970: 1_767_225_600), text: "quicksilver")
      let id = UUID(uuidString: "019a0000-0000-7000-8000-0000000000aa") ?? UUID()
      let entry = ImportedItem(id: id, source: "s", guid: "g", digest: Data([1]), content: content)
      #expect(try await server.store.importItems([entry]).inserted == 1)
      let path = "items/\(id.uuidString.lowercased())"
      _ = try await server.write("DELETE", path, nil, ("If-Match", "*"))
      #expect(try await server.write("POST", path + "/erase").status == 204)
      var changed = entry
      changed.digest = Data([2])
      #expect(try await server.store.importItems([entry]).skipped == 1)
      #expect(try await server.store.importItems([changed]).skipped == 1)
      #expect(try await server.write("GET", path).json(EditorialItem.self).item.text == "")
    }
  }
}
