import Foundation
import MediaFiles
import News
import NewsAPI
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The rules that decide which files are kept.
@Suite struct MediaUseTests {
  private static let photo = SampleMedia.png(bytes: 2000)
  /// A negative age limit, which covers files of any age.
  private static let atOnce = Duration.seconds(-10)

  private static func attachment(_ url: String) -> String {
    #""attachments": [{"url": "\#(url)", "type": "image/png"}]"#
  }

  @Test("An unused file is removed after the grace period and can be uploaded again")
  func unused() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      #expect(try await media.library.collect(unusedFor: .seconds(3600)).files == 0)
      #expect(try await media.preview(path).body == Self.photo)
      #expect(try await media.library.collect(unusedFor: Self.atOnce).files == 1)
      #expect(try await media.preview(path).status == 404)
      #expect(try names(in: media.folder).isEmpty)
      // The new upload gets another id, because clients may know that the old one is gone.
      #expect(try await media.stored(Self.photo) != path)
    }
  }

  @Test(
    "A file that an item uses is kept, in whichever way the item refers to it",
    arguments: [
      (#""attachments": [{"url": "PATH", "type": "image/png"}]"#, "PATH"),
      (#""attachments": [{"url": "https://cdn.example/x/v1/media/ID?w=1", "type": "image/png"}]"#, "ID"),
      (#""html": "<p><a href=\"https://news.example/v1/media/ID\">map</a></p>""#, "ID"),
      (#""url": "https://news.example/v1/media/ID""#, "ID"),
      (#""attachments": [{"url": "PATH", "type": "image/png"}], "state": "draft""#, "PATH"),
    ])
  func used(fields: String, _: String) async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let fields = fields.replacing("PATH", with: path).replacing("ID", with: path.suffix(36))
      let item = try await media.item(fields).json(EditorialItem.self, status: 201)
      #expect(try await media.library.collect(unusedFor: Self.atOnce).files == 0)
      #expect(try await media.server.get(path).status == (item.state == .published ? 200 : 404))
      #expect(try await media.preview(path).status == 200)
      // Readers cannot get the file of a retracted item; it is kept until the item is erased. That of an item which was
      // never public remains unknown to them.
      let id = item.item.id.uuidString.lowercased()
      let retracted = try await media.server.send(
        "DELETE", "/v1/editorial/items/\(id)", key: media.key, headers: [("If-Match", "*")])
      #expect(retracted.status == 204)
      #expect(try await media.library.collect(unusedFor: Self.atOnce).files == 0)
      #expect(try names(in: media.folder) == [Self.photo.sha256])
      #expect(try await media.server.get(path).status == (item.state == .published ? 410 : 404))
    }
  }

  @Test("The grace period of a file starts when an item stops using it")
  func released() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let item = try await media.item(Self.attachment(path)).json(EditorialItem.self, status: 201)
      _ = try await media.server.sql.query("UPDATE media SET used_at = used_at - interval '30 days'")
      let id = item.item.id.uuidString.lowercased()
      let patch = #"{"attachments": [], "revision": \#(item.revision)}"#
      #expect(
        try await media.server.send("PATCH", "/v1/editorial/items/\(id)", key: media.key, body: patch).status == 200)
      #expect(try await media.library.collect(unusedFor: .seconds(86_400)).files == 0)
      #expect(try await media.server.get(path).status == 404)
      #expect(try await media.preview(path).status == 200)
      #expect(try await media.library.collect(unusedFor: Self.atOnce).files == 1)
    }
  }

  @Test("An item deleted with plain SQL no longer uses its files")
  func deleted() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      _ = try await media.item(Self.attachment(path) + #", "state": "draft""#)
      _ = try await media.server.sql.query("UPDATE media SET used_at = used_at - interval '30 days'")
      _ = try await media.server.sql.query("DELETE FROM items")
      #expect(try await media.library.collect(unusedFor: .seconds(86_400)).files == 0)
      #expect(try await media.library.collect(unusedFor: Self.atOnce).files == 1)
    }
  }

  @Test("A repeated upload restarts the grace period")
  func renewed() async throws {
    try await MediaServer.with { media in
      _ = try await media.stored(Self.photo)
      _ = try await media.server.sql.query("UPDATE media SET used_at = used_at - interval '30 days'")
      #expect(try await media.upload(Self.photo).status == 200)
      #expect(try await media.library.collect(unusedFor: .seconds(86_400)).files == 0)
    }
  }

  @Test("An item may refer by path only to existing files", arguments: ["POST", "PUT", "PATCH"])
  func unknown(method: String) async throws {
    try await MediaServer.with { media in
      let attachment = Self.attachment("/v1/media/019a1111-0000-7000-8000-000000000000")
      var target = "/v1/editorial/items"
      if method != "POST" {
        let item = try await media.item(#""title": "y""#).json(EditorialItem.self, status: 201)
        target += "/\(item.item.id.uuidString.lowercased())"
      }
      let response = try await media.server.send(
        method, target, key: media.key, headers: method == "POST" ? [] : [("If-Match", "\"r1\"")],
        body: #"{"date": "2026-01-01T00:00:00Z", "text": "x", \#(attachment)}"#)
      #expect(response.status == 422)
      #expect(response.text.contains("attachments"))
      #expect(response.text.contains("019a1111-0000-7000-8000-000000000000"))
      // The refused write has no effect.
      #expect(try await media.server.get("/v1/items").text.contains("attachments\":[{") == false)
    }
  }

  @Test(
    "Other paths are not accepted as addresses of attachments",
    arguments: [
      "/v1/media/", "/v1/media/x", "/v1/items/019a1111-0000-7000-8000-000000000000",
      "v1/media/019a1111-0000-7000-8000-000000000000", "//h/v1/media/019a1111-0000-7000-8000-000000000000",
      "/v1/media/019A1111-0000-7000-8000-000000000000",
    ])
  func otherPaths(url: String) async throws {
    try await MediaServer.with { media in
      let response = try await media.item(Self.attachment(url))
      #expect(response.status == 422)
      #expect(response.text.contains("attachments[0].url"))
    }
  }

  @Test("A writer that starts to use a file during its removal either keeps it or is refused")
  func race() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let id = try #require(UUID(uuidString: String(path.suffix(36))))
      // A writer has not committed yet, so its file is skipped.
      try await media.server.sql.transaction { transaction in
        _ = try await transaction.query("SELECT 1 FROM media WHERE id = \(id) FOR KEY SHARE")
        #expect(try await media.library.collect(unusedFor: Self.atOnce).files == 0)
      }
      // The file is being removed: the writer waits, and is then refused.
      let (held, isHeld) = AsyncStream.makeStream(of: Void.self)
      let (release, isReleased) = AsyncStream.makeStream(of: Void.self)
      let forgetting = Task {
        try await media.server.sql.transaction { transaction in
          _ = try await transaction.query("SELECT forget_media(interval '-10 seconds')")
          isHeld.finish()
          for await _ in release {}
        }
      }
      for await _ in held {}
      let writing = Task { try await media.item(Self.attachment(path)) }
      try await eventually("the writer waits") {
        let waiting: PostgresQuery = """
          SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          """
        return try await media.server.sql.query(waiting).first?.decode(0, as: Int.self) == 1
      }
      isReleased.finish()
      try await forgetting.value
      #expect(try await writing.value.status == 422)
    }
  }

  @Test("Files without a row stay, and are listed")
  func unknownFiles() async throws {
    try await MediaServer.with { media in
      let name = ("Content-Disposition", "inline; filename=a.png")
      let path = try await media.upload(Self.photo, name).json(Attachment.self, status: 201).url
      _ = try await media.item(Self.attachment(path))
      let upload = try await media.storage.begin()
      try await upload.write(Array("%PDF-1.7".utf8))
      _ = try await upload.finish(.pdf)
      try await upload.publish()
      #expect(try await media.library.collect(unusedFor: Self.atOnce) == MediaCollection())
      #expect(try names(in: media.folder).count == 2)
      let report = try await media.library.report()
      #expect(report.filesWithoutRow == [Data("%PDF-1.7".utf8).sha256])
      #expect((report.rows, report.files, report.rowsWithoutFile.count) == (1, 2, 0))
      #expect(!report.isConsistent)
      #expect(try await media.server.get(path).status == 200)
      try Self.photo.prefix(1000).write(to: media.folder.appending(path: Self.photo.sha256))
      let missing = try await media.library.report().rowsWithoutFile
      #expect(missing.map(\.sha256) == [Self.photo.sha256] && missing.map(\.name) == ["a.png"])
      let id = try #require(UUID(uuidString: String(path.suffix(36))))
      #expect(missing.map(\.bytes) == [2000] && missing.map(\.id) == [id])
    }
  }

  @Test("A file with two addresses is kept while one of them is in use")
  func sharedBytes() async throws {
    try await MediaServer.with { media in
      let file = Data([0, 0, 0, 16] + Array("ftypisom0000mdat".utf8))
      let film = try await media.stored(file, type: "video/mp4")
      let sound = try await media.stored(file, type: "audio/mp4")
      _ = try await media.item(Self.attachment(film))
      #expect(try await media.library.collect(unusedFor: Self.atOnce) == MediaCollection(unregistered: 1))
      #expect(try await media.server.get(film).status == 200)
      #expect(try await media.server.get(sound).status == 404)
    }
  }

  @Test("Readers get a file from the publication of an item that uses it until the last one is gone; editors always do")
  func visibility() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      #expect(try await media.server.get(path).status == 404)
      let draft = try await media.item(Self.attachment(path) + #", "state": "draft""#)
        .json(EditorialItem.self, status: 201)
      let item = "/v1/editorial/items/\(draft.item.id.uuidString.lowercased())"
      func change(_ state: String) async throws {
        let response = try await media.server.send(
          "PATCH", item, key: media.key, headers: [("If-Match", "*")], body: #"{"state": "\#(state)"}"#)
        #expect(response.status == 200)
      }
      #expect(try await media.server.get(path).status == 404)
      try await change("published")
      #expect(try await media.server.get(path).body == Self.photo)
      try await change("draft")
      #expect(try await media.server.get(path).status == 404)
      let part = try await media.preview(path, ("Range", "bytes=0-9"))
      #expect(part.status == 206 && part.body == Self.photo.prefix(10))
      #expect(part["Cache-Control"] == "private, no-store" && part["Access-Control-Allow-Origin"] == nil)
      let tag = try #require(part["ETag"])
      #expect(try await media.preview(path, ("If-None-Match", tag)).status == 304)
    }
  }

  @Test("Editors list files, newest first, with their uses")
  func list() async throws {
    try await MediaServer.with { media in
      var paths: [String] = []
      for number in 0..<5 {
        let name = ("Content-Disposition", "attachment; filename=\(number).png")
        let stored = try await media.upload(SampleMedia.png(bytes: 2000 + number), name)
        paths.append(try stored.json(Attachment.self, status: 201).url)
      }
      let item = try await media.item(Self.attachment(paths[1])).json(EditorialItem.self, status: 201)
      _ = try await media.item(Self.attachment(paths[3]) + #", "state": "draft""#)
      var (target, found): (String?, [EditorialMedia]) = ("/v1/editorial/media?limit=2", [])
      while let page = target, found.count < 10 {
        let response = try await media.server.send("GET", page, key: media.key)
        found += try response.json(EditorialMediaList.self).items
        target = response.next
      }
      #expect(found.map(\.attachment.url) == paths.reversed())
      #expect(found.map(\.name) == ["4.png", "3.png", "2.png", "1.png", "0.png"])
      #expect(found.map(\.isPublic) == [false, false, false, true, false])
      #expect(found[3].uses == [item.item.id] && found[1].uses.count == 1 && found[0].uses.isEmpty)
      let unused = try await media.server.send("GET", "/v1/editorial/media?used=false", key: media.key)
      #expect(try unused.json(EditorialMediaList.self).items.count == 3)
      var items: [String] = []
      for _ in 0..<11 {
        items.append(
          try await media.item(Self.attachment(paths[4])).json(EditorialItem.self, status: 201).item.id.uuidString)
      }
      let newest = try await media.server.send("GET", "/v1/editorial/media?limit=1", key: media.key)
      let uses = try newest.json(EditorialMediaList.self).items.flatMap(\.uses).map(\.uuidString)
      #expect(uses == Array(items.sorted(by: >).prefix(10)))
      // A cursor belongs to its list.
      let next = try #require(newest.next)
      #expect(try await media.server.send("GET", next, key: media.key).status == 200)
      #expect(try await media.server.send("GET", "\(next)&used=true", key: media.key).status == 400)
    }
  }

  @Test("A page of the list has 50 files, or as many as its reader asks for, at most 200")
  func pageSizes() async throws {
    try await MediaServer.with { media in
      _ = try await media.server.sql.query(
        """
        INSERT INTO media (id, sha256, type, bytes, created_at)
        SELECT lpad(to_hex(n), 32, '0')::uuid, sha256(n::text::bytea), 'image/png', 1,
          timestamptz '2026-01-02 03:04:05Z'
        FROM generate_series(1, 200) AS n
        """)
      for (query, count) in [("", 50), ("?limit=1", 1), ("?limit=199", 199), ("?limit=200", 200)] {
        let page = try await media.server.send("GET", "/v1/editorial/media" + query, key: media.key)
        let items = try page.json(EditorialMediaList.self).items
        #expect(items.count == count)
        #expect(items.allSatisfy { $0.created == Date(timeIntervalSince1970: 1_767_323_045) })
        #expect((page.next == nil) == (count == 200))
      }
      for query in ["limit=0", "limit=201", "used=x", "unused=true"] {
        #expect(try await media.server.send("GET", "/v1/editorial/media?" + query, key: media.key).status == 400)
      }
    }
  }
}
