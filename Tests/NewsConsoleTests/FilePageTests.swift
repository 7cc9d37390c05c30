import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The pages of files, and the files of others.
@Suite struct FilePageTests {
  /// The addresses of the buttons that lead to other pages, in order.
  private static func pager(_ page: ConsolePage) throws -> [String] {
    let tags = try page.scan.tags
    guard let start = tags.firstIndex(where: { $0["class"] == "pager" }) else { return [] }
    return tags[(start + 1)...].prefix { $0["class"] == "button" }.compactMap { $0["href"] }
  }

  @Test("Files are on pages of twenty, whose links keep the filter and lead back to the first page")
  func pages() async throws {
    try await ConsoleServer.with { console in
      // Each second file is in use.
      for statement: PostgresQuery in [
        """
        INSERT INTO media (id, sha256, type, bytes, name)
        SELECT lpad(to_hex(n), 32, '0')::uuid, sha256(n::text::bytea), 'image/png', 1, n || '.png'
        FROM generate_series(1, 44) AS n
        """,
        "INSERT INTO media_uses (media, item) SELECT id, gen_random_uuid() FROM media WHERE name ~ '[02468][.]png'",
      ] { _ = try await console.server.sql.query(statement) }
      let browser = try await console.signedIn()
      for (isUsed, title) in [(nil, "All files"), (true, "In use"), (false, "Unused")] as [(Bool?, String)] {
        let first = "/console/files" + (isUsed.map { "?used=\($0)" } ?? "")
        var page = try await browser.get(first)
        let current = try page.scan.all("a").filter { $0["aria-current"] == "page" }
        #expect(current.map { $0["href"] } == ["/console/files", first] && current.last?.text == title)
        var names = try page.texts(ofClass: "name")
        #expect(names.count == 20)
        while names.count < 100, let next = try Self.pager(page).last, next != first {
          page = try await browser.get(next)
          try page.check()
          names += try page.texts(ofClass: "name")
          #expect(try Self.pager(page).first == first)
        }
        let numbers = (1...44).reversed().filter { number in isUsed.map { $0 == (number % 2 == 0) } ?? true }
        #expect(names == numbers.map { "\($0).png" })
      }
      // A refused form shows the first page.
      let form = try await browser.get("/console/files").form("/console/files")
      let older = try #require(try Self.pager(try await browser.submit(form)).last)
      #expect(try await browser.get(older).status == 200)
      // A cursor belongs to its filter.
      let next = try #require(try Self.pager(try await browser.get("/console/files?used=true")).last)
      for other in [next.replacing("used=true", with: "used=false"), next.replacing("used=true&", with: "")] {
        #expect(other != next)
        #expect(try await browser.get(other).status == 400)
      }
    }
  }

  /// Stores a file through the API, and returns its id.
  private static func stored(
    _ name: String, seed: UInt64, key: String, _ console: ConsoleServer
  ) async throws -> String {
    let fields = [("Content-Type", "image/png"), ("Content-Disposition", "attachment; filename=\(name)")]
    let response = try await console.server.send(
      "POST", "/v1/editorial/media", key: key, headers: fields, file: SampleMedia.png(seed: seed))
    #expect(response.status == 201)
    return String(try #require(response["Location"]).suffix(36))
  }

  @Test("A key that is restricted to topics sees no files of other items, and attaches neither these nor missing ones")
  func otherTopics() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["harbour", "sport"])
      let key = try await console.store.createKey(name: "camera", permissions: [.mediaWrite])
      let hidden = try await Self.stored("hidden.png", seed: 1, key: key, console)
      let free = try await Self.stored("free.png", seed: 2, key: key, console)
      let attachment = #"{"url": "/v1/media/\#(hidden)", "type": "image/png"}"#
      _ = try await console.item(
        #""state": "draft", "text": "x", "topics": ["harbour"], "attachments": [\#(attachment)]"#)
      let browser = try await console.signedIn(topics: ["sport"])
      #expect(try await browser.get("/console/files").texts(ofClass: "name") == ["free.png"])
      #expect(try await browser.get("/console/files/\(hidden)").status == 404)
      var form = try await browser.get("/console/items/new").editor
      form["text"] = "Fog lifts."
      for choice in [hidden, UUID().uuidString.lowercased()] {
        form["choose"] = choice
        let page = try await browser.submit(form, "save")
        #expect(page.status == 404)
        #expect(try page.texts(ofClass: "bad") == ["These files were refused:"])
        let again = try page.editor
        #expect(again["text"] == "Fog lifts." && again["attachment-0-url"] == nil)
      }
      #expect(try await console.store.editorialItems(EditorialQuery()).items.count == 1)
      form["choose"] = free
      #expect(try await browser.submit(form, "save").status == 200)
      #expect(try await console.store.editorialItems(EditorialQuery()).items.count == 2)
    }
  }

  @Test("Sound and film have the type that the browser declares, if it is a known one; other types are detected")
  func types() async throws {
    let (mp4, ogg) = (Data([0, 0, 0, 16] + Array("ftypisom0000".utf8)), Data("OggS".utf8))
    let rows: [(declared: String, content: Data, type: String)] = [
      ("audio/x-m4a", mp4, "video/mp4"), ("audio/mp4", mp4, "audio/mp4"), ("video/mp4", mp4, "video/mp4"),
      ("video/ogg", ogg, "video/ogg"), ("audio/ogg", ogg, "audio/ogg"), ("video/x-theora", ogg, "audio/ogg"),
      ("image/jpeg", SampleMedia.png(), "image/png"),
    ]
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let files = rows.enumerated().map { number, row in
        FormFile(name: "\(number)", type: row.declared, content: row.content + Data([UInt8(number)]))
      }
      let page = try await browser.submit(try await browser.get("/console/files").form("/console/files"), files: files)
      #expect(page.status == 200)
      // The other files have their names in place of pictures.
      #expect(try page.scan.all("img").map { $0["alt"] } == ["6"])
      let stored = try await console.store.editorialMedia(MediaQuery()).files.map(\.media)
      for (number, row) in rows.enumerated() {
        #expect(stored.first { $0.name == "\(number)" }?.type == row.type, "\(row.declared)")
      }
    }
  }

  @Test("A form can be as long as a file only if the key may upload files", arguments: [true, false])
  func length(mayUpload: Bool) async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn(mayUpload ? [.itemsPublish, .mediaWrite] : [.itemsPublish])
      let cookie = try #require(browser.cookies["tidings_console"])
      let head = """
        POST /console/items HTTP/1.1\r\nHost: 127.0.0.1:\(console.server.port)\r\nOrigin: \(browser.url)\r
        Cookie: tidings_console=\(cookie)\r
        Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 5000000\r\n\r\n
        """
      // The body is missing, so that a form that is read is cut off.
      let responses = try await RawConnection.exchange(head, port: console.server.port)
      #expect(responses.map(\.status) == [mayUpload ? 400 : 413])
    }
  }

  @Test("The form of an item with 32 attachments, and all fields of each, can be sent")
  func attachments() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      var form = try await browser.get("/console/items/new").editor
      form["text"] = "Fog lifts."
      for number in 0..<32 {
        form.add("attachment-\(number)-url", "https://example.org/\(number).png")
        form.add("attachment-\(number)-type", "image/png")
      }
      let page = try await browser.submit(form, "save")
      #expect(page.status == 200)
      #expect(try await browser.submit(try page.editor, "save").status == 200)
      let items = try await console.store.editorialItems(EditorialQuery()).items
      #expect(items.map(\.item.attachments.count) == [32])
    }
  }
}
