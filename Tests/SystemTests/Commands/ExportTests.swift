import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct ExportTests {
  /// Runs the body with two databases.
  private func withTwo(_ body: @Sendable (Installation, Installation) async throws -> Void) async throws {
    try await Installation.with { one in
      try await withTestDatabase { url in
        try await Installation.with(url: url) { two in
          #expect(try await two.run("migrate").status == 0)
          try await body(one, two)
        }
      }
    }
  }

  /// The feed as readers see it: all items, without the counters of each database, and all topics.
  private struct Feed: Equatable {
    var items: [NewsItem] = []
    var topics: [Topic] = []
  }

  private func feed(_ installation: Installation) async throws -> Feed {
    try await installation.serve { server in
      var feed = Feed()
      var target: String? = "/v1/items?limit=7&include=html"
      while let page = target {
        let answer = try await server.send("GET", page)
        feed.items += try NewsJSON.decode(ItemList.self, from: Data(answer.text.utf8)).items.map { item in
          var item = item
          (item.version, item.updated) = (0, .distantPast)
          return item
        }
        target = answer.next
      }
      let answer = try await server.send("GET", "/v1/topics")
      feed.topics = try NewsJSON.decode(TopicList.self, from: Data(answer.text.utf8)).topics.map { topic in
        var topic = topic
        topic.changed = .distantPast
        return topic
      }
      return feed
    }
  }

  private func export(_ installation: Installation) async throws -> String {
    let result = try await installation.run("export")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors == "exported \(result.output.count { $0 == "\n" }) items\n")
    return result.output
  }

  private func importing(_ text: String, into installation: Installation) async throws -> ImportTests.Counts {
    try await withFolder(["export.jsonl": text]) { folder in
      let result = try await installation.run("import", "--json", folder.appending(path: "export.jsonl").path)
      #expect(result.status == 0)
      #expect(result.errors == "")
      return try JSONDecoder().decode(ImportTests.Counts.self, from: Data(result.output.utf8))
    }
  }

  /// Fills a database with editors' items of all kinds and with imported items. Some of them are edited, retracted or
  /// never published.
  private func fill(_ installation: Installation, seed: UInt64) async throws {
    let samples = Project.root.appending(path: "Samples").path
    #expect(try await installation.run("import", samples).status == 0)
    let key = try await installation.makeKey()
    try await installation.serve { server in
      var random = SplitMix64(seed: seed)
      for (position, slug) in RandomItem.slugs.enumerated() {
        let body = #"{"slug": "\#(slug)", "titles": {"en": "T \#(slug)", "de": "Ü"}, "position": \#(5 - position)}"#
        #expect(try await server.send("POST", "/v1/editorial/topics", key: key, body: body).status == 201)
      }
      for _ in 0..<60 {
        let body = String(decoding: try NewsJSON.encode(RandomItem(&random)), as: UTF8.self)
        let answer = try await server.send("POST", "/v1/editorial/items", key: key, body: body)
        #expect(answer.status == 201, "\(answer.text)")
      }
      let draft = #"{"date": "2026-01-01T00:00:00Z", "text": "unseen", "state": "draft"}"#
      #expect(try await server.send("POST", "/v1/editorial/items", key: key, body: draft).status == 201)
    }
    for source in ["source IS NULL AND state = 'published'", "source IS NOT NULL"] {
      let some: PostgresQuery = "id IN (SELECT id FROM items WHERE \(unsafeSQL: source) ORDER BY id LIMIT 3)"
      try await publish(installation, "UPDATE items SET state = 'retracted' WHERE \(query: some) RETURNING id")
    }
    try await publish(
      installation,
      """
      UPDATE items SET title = 'An editor''s title' WHERE id IN (
        SELECT id FROM items WHERE source IS NOT NULL AND state = 'published' ORDER BY id LIMIT 2) RETURNING id
      """)
  }

  /// Publishes items with plain SQL that returns their ids.
  private func publish(_ installation: Installation, _ query: PostgresQuery) async throws {
    try await installation.sql.transaction { transaction in
      let ids = try await transaction.query(query).map { try $0.decode("id", as: UUID.self) }
      _ = try await transaction.commit(after: "SELECT count(*) FROM publish(\(ids))")
    }
  }

  @Test(
    "Importing an export produces the same feed, and its export has the same bytes",
    arguments: [1, 2])
  func roundTrip(seed: UInt64) async throws {
    try await withTwo { one, two in
      try await fill(one, seed: seed)
      let text = try await export(one)
      let count = text.count { $0 == "\n" }
      #expect(try await importing(text, into: two) == ImportTests.Counts(read: count, inserted: count))
      let feed = try await feed(one)
      #expect(feed.items.count == count)
      #expect(try await self.feed(two) == feed)
      #expect(try await export(two) == text)
      #expect(!text.contains(#""newTopics":[]"#))
      // A topic is described where it first occurs.
      for slug in RandomItem.slugs { #expect(text.ranges(of: #""slug":"\#(slug)""#).count == 1, "\(slug)") }
    }
  }

  @Test("The source of an item is kept: in the new database, imports of its feed continue without undoing edits")
  func origin() async throws {
    try await withTwo { one, two in
      try await fill(one, seed: 3)
      _ = try await importing(try await export(one), into: two)
      let samples = Project.root.appending(path: "Samples").path
      let result = try await two.run("import", "--json", samples)
      let counts = try JSONDecoder().decode(ImportTests.Counts.self, from: Data(result.output.utf8))
      // The three retracted items are not in the export, and a new database contains no trace of them.
      #expect(counts == ImportTests.Counts(read: counts.read, inserted: 3, unchanged: counts.read - 3))
      #expect(try await two.value("SELECT count(*) FROM items WHERE title = 'An editor''s title'") == 2)
    }
  }

  @Test("Importing an export into its own database changes nothing, even after later imports and edits")
  func home() async throws {
    try await Installation.with { installation in
      try await fill(installation, seed: 4)
      let text = try await export(installation)
      let count = text.count { $0 == "\n" }
      let before = try await installation.counter()
      #expect(try await importing(text, into: installation) == ImportTests.Counts(read: count, unchanged: count))
      #expect(try await installation.counter() == before)

      try await publish(
        installation,
        """
        UPDATE items SET text = text || ' and more', source_digest = sha256(source_digest) WHERE state = 'published'
        RETURNING id
        """)
      let after = try await installation.counter()
      #expect(try await importing(text, into: installation) == ImportTests.Counts(read: count, unchanged: count))
      #expect(try await installation.counter() == after)
    }
  }

  @Test("A retracted item stays retracted when an older export is imported")
  func retracted() async throws {
    try await Installation.with { installation in
      let lines = #"{"guid": "1", "date": "2026-01-01T00:00:00Z", "text": "x"}"# + "\n"
      _ = try await importing(lines, into: installation)
      let text = try await export(installation)
      try await publish(installation, "UPDATE items SET state = 'retracted' RETURNING id")
      #expect(try await importing(text, into: installation) == ImportTests.Counts(read: 1, skipped: 1))
      #expect(try await export(installation) == "")
    }
  }

  @Test("More than a page of items with the same date are exported once each, oldest first")
  func pages() async throws {
    try await Installation.with { installation in
      let lines = (1...1700).map { number in
        #"{"guid": "\#(number)", "date": "2026-01-0\#(1 + number % 2)T00:00:00Z", "text": "\#(number)"}"# + "\n"
      }
      _ = try await importing(lines.joined(), into: installation)
      struct Line: Decodable {
        var id: String
        var date: String
      }
      let exported = try await export(installation).split(separator: "\n").map {
        try JSONDecoder().decode(Line.self, from: Data($0.utf8))
      }
      #expect(Set(exported.map { $0.id.lowercased() }) == Set(exported.map(\.id)))
      #expect(Set(exported.map(\.id)).count == 1700)
      #expect(exported.map { $0.date + $0.id } == exported.map { $0.date + $0.id }.sorted())
    }
  }

  @Test("A complete file replaces the previous one")
  func file() async throws {
    try await Installation.with { installation in
      let lines = #"{"guid": "1", "date": "2026-01-01T00:00:00Z", "text": "x"}"# + "\n"
      _ = try await importing(lines, into: installation)
      try await withFolder([
        "news.jsonl": "the one before", "news.jsonl.partial": String(repeating: "left behind\n", count: 1000),
      ]) {
        folder in
        let path = folder.appending(path: "news.jsonl").path
        let names = { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
        let result = try await installation.run("export", path)
        #expect(result.status == 0)
        #expect(result.output == "")
        #expect(result.errors == "exported 1 items\n")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == (try await export(installation)))
        #expect(try names() == ["news.jsonl"])

        _ = try await installation.sql.query("ALTER TABLE topics RENAME TO elsewhere")
        let failed = try await installation.run("export", path)
        #expect(failed.status == 1)
        #expect(failed.errors.hasPrefix("tidings: "))
        #expect(try names() == ["news.jsonl"])
      }
    }
  }

  @Test("A device, folder or link is never replaced, and two exports never write the same file")
  func refused() async throws {
    try await Installation.with { installation in
      try await withFolder(["a/b": ""]) { folder in
        let link = folder.appending(path: "link").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "news.jsonl")
        for path in ["/dev/null", folder.appending(path: "a").path, link] {
          let result = try await installation.run("export", path)
          #expect(result.status == 1)
          #expect(result.errors.hasPrefix("tidings: cannot export to \(path): it is not a regular file. "))
        }
        let path = folder.appending(path: "news.jsonl").path
        let descriptor = open(path + ".partial", O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX) == 0)
        #expect(write(descriptor, "half", 4) == 4)
        let result = try await installation.run("export", path)
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("tidings: another export is writing \(path).partial: "))
        #expect(try String(contentsOfFile: path + ".partial", encoding: .utf8) == "half")
      }
    }
  }

  @Test("A reader that closes the pipe ends the export without a message")
  func brokenPipe() async throws {
    try await Installation.with { installation in
      let lines = (1...3000).map { number in
        let text = String(repeating: "x", count: 1000)
        return #"{"guid": "\#(number)", "date": "2026-01-01T00:00:00Z", "text": "\#(text)"}"# + "\n"
      }
      _ = try await importing(lines.joined(), into: installation)
      let process = try ChildProcess(["export"], environment: installation.environment(), closingOutput: true)
      let result = await process.result()
      #expect(result.status == 128 + SIGPIPE)
      #expect(result.errors == "")
    }
  }

  @Test("An export that cannot be written names the file and the reason, and leaves no file behind")
  func unwritable() async throws {
    try await Installation.with { installation in
      try await withFolder(["full.jsonl": "as before"]) { folder in
        let lines = (1...20).map { #"{"guid": "\#($0)", "date": "2026-01-01T00:00:00Z", "text": "x"}"# }
        try Data(lines.joined(separator: "\n").utf8).write(to: folder.appending(path: "news.jsonl"))
        #expect(try await installation.run("import", folder.appending(path: "news.jsonl").path).status == 0)
        for path in ["/sys/export.jsonl", "/nowhere/export.jsonl", "/dev/null", folder.path] {
          let result = try await installation.run("export", path)
          #expect(result.status == 1)
          #expect(result.errors.contains("tidings: cannot ") && result.errors.contains(path), "\(result.errors)")
          #expect(!result.errors.contains("Errno"))
        }
        // A limit on file sizes simulates a full disk.
        let full = folder.appending(path: "full.jsonl").path
        let result = try await ChildProcess(
          ["--fsize=100", ChildProcess.tidings, "export", full], executable: "/usr/bin/prlimit",
          environment: installation.environment()
        ).result()
        #expect(result.status == 1)
        #expect(result.errors.contains("tidings: cannot write \(full).partial: file too large"), "\(result.errors)")
        #expect(try String(contentsOfFile: full, encoding: .utf8) == "as before")
        #expect(!FileManager.default.fileExists(atPath: full + ".partial"))
      }
    }
  }
}

/// A random item as an editor could write it, with everything that a feed importer would normalise.
private struct RandomItem: Encodable {
  static let slugs = ["desk", "a--b", "-", "x-", String(repeating: "long-", count: 12), "b2"]

  var date: String
  var text: String
  var title: String?
  var summary: String?
  var html: String?
  var topics: [String]
  var language: String?
  var url: String?
  var author: String?
  var breaking: Bool
  var attachments: [News.Attachment]

  init(_ random: inout SplitMix64) {
    func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
    let texts = [
      "plain", "  blanks around  ", "two\r\nlines\rand\tmore\n", "<b>no markup</b> &amp; none", "\u{FEFF}mark",
      "Zürich 東京 🗞 e\u{301}", "quotes \" and \\ \\u0000 and \u{2028}", "\u{85}next\u{9F}",
    ]
    date =
      "20\(pick(["09", "25", "26"]))-0\(pick([1, 2, 3]))-1\(pick([1, 2]))T00:00:0\(pick([1, 2])).00\(pick([1, 2]))Z"
    text = pick(texts)
    title = pick([nil] + texts)
    // The summary may equal the text; an importer drops such a summary.
    summary = pick([nil, text, pick(texts)])
    html = pick([
      nil, "<p>One <img src=\"https://example.org/in.png\" alt=\"in\"> two</p>", "<p>a &amp; b &lt;c&gt;</p>",
      "no tags",
    ])
    topics = Self.slugs.filter { _ in Bool.random(using: &random) }
    language = pick([nil, "en", "EN-us", "zh-hant-TW", "de-DE-1996"])
    url = pick([nil, "https://example.org/a?b=c&d=%20#e", "HTTPS://EXAMPLE.org", "https://example.org/ä"])
    author = pick([nil, "A. Writer", "A &amp; B", "<i>C</i>, D", "two  blanks"])
    breaking = Bool.random(using: &random)
    let attachment = News.Attachment(
      url: "https://example.org/x.JPG", type: pick(["image/jpeg", "Image/JPEG"]), bytes: pick([nil, 0, 17]),
      width: pick([nil, 640]), height: nil, alt: pick([nil, " two  blanks\n"]),
      sha256: pick([nil, String(repeating: "0a", count: 32)]))
    attachments = pick([[], [attachment], [attachment, attachment]])
  }
}
