import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Exports of whole newsrooms, and imports of them.
@Suite struct NewsroomExportTests {
  /// The newsroom as editors see it.
  private struct Newsroom: Equatable {
    var items: [EditorialItem]
    var counts: [EditorialItem.State: Int]
    var history: [HistoryEntry]
    var topics: [String]
    var subscriptions: [String]
    var files: [String]
    /// The statuses of the public addresses of all items.
    var statuses: [UUID: Int]
  }

  /// Runs the body with two databases and a folder for files.
  private func withTwo(_ body: @Sendable (Installation, Installation, [String: String]) async throws -> Void)
    async throws
  {
    try await withMediaFolder { folder in
      try await Installation.with { one in
        try await withTestDatabase { url in
          try await Installation.with(url: url) { two in
            #expect(try await two.run("migrate").status == 0)
            try await body(one, two, ["TIDINGS_MEDIA_DIRECTORY": folder.path])
          }
        }
      }
    }
  }

  private static func makeKey(_ installation: Installation) async throws -> String {
    try await installation.run("keys", "create", "--name", "desk", "--scope", "admin")
      .output.trimmingCharacters(in: .newlines)
  }

  /// Makes items in every state, with corrections, files, topics and subscriptions.
  private static func fill(_ installation: Installation, _ settings: [String: String]) async throws {
    #expect(try await installation.run("import", Project.root.appending(path: "Samples").path).status == 0)
    let key = try await makeKey(installation)
    try await installation.serve(changes: settings) { server in
      let editorial = "/v1/editorial/"
      @Sendable func send(
        _ method: String, _ path: String, _ body: String? = nil, status: Int, _ headers: (String, String)...
      ) async throws -> TestResponse {
        let response = try await server.send(method, editorial + path, key: key, headers: headers, body: body)
        #expect(response.status == status, "\(method) \(path): \(response.text)")
        return response
      }
      @Sendable func create(_ body: String) async throws -> String {
        let item = try await send("POST", "items", body, status: 201).json(EditorialItem.self, status: 201)
        return "items/" + item.item.id.uuidString.lowercased()
      }
      let any = ("If-Match", "*")
      for slug in ["a", "b-2", "unused"] {
        let body = #"{"slug": "\#(slug)", "titles": {"en": "T \#(slug)", "de": "Ü"}, "position": 3}"#
        _ = try await send("POST", "topics", body, status: 201)
      }
      _ = try await send("PUT", "topics/a", #"{"titles": {"en": "New"}, "position": -1}"#, status: 200, any)
      let file = try await server.client.send(
        "POST", editorial + "media", key: key, headers: [("Content-Type", "image/png")], file: SampleMedia.png())
      let url = try file.json(News.Attachment.self, status: 201).url
      _ = try await create(#"{"text": "undated", "title": "\"q\" \\ Ü 🗞", "state": "draft", "topics": ["a"]}"#)
      _ = try await create(#"{"text": "two\r\nlines\t", "state": "review", "date": "2026-01-01T00:00:00.123Z"}"#)
      _ = try await create(
        #"{"text": "later", "publishAt": "2999-01-01T00:00:00Z", "expireAt": "2999-02-01T00:00:00Z", "topics": ["b-2"]}"#
      )
      let published = try await create(
        """
        {"text": "with a file", "html": "<p>x</p>", "language": "en", "author": "A", "breaking": true,
         "url": "https://example.org/x", "summary": "s",
         "attachments": [{"url": "\(url)", "type": "image/png", "alt": "alt", "caption": "c", "credit": "d"}]}
        """)
      let correction = #"{"text": "corrected", "html": "<p>y</p>", "topics": ["a", "b-2"]}"#
      _ = try await send("PATCH", published, correction, status: 200, any)
      _ = try await send("PATCH", published, #"{"attachments": []}"#, status: 200, any)
      let withdrawn = try await create(#"{"text": "withdrawn"}"#)
      _ = try await send("PATCH", withdrawn, #"{"state": "draft"}"#, status: 200, any)
      let expired = try await create(#"{"text": "expired"}"#)
      _ = try await send("PATCH", expired, #"{"expireAt": "2026-01-01T00:00:00Z"}"#, status: 200, any)
      for body in [#"{"text": "retracted"}"#, #"{"text": "never published", "state": "draft"}"#] {
        _ = try await send("DELETE", try await create(body) + "?reason=A%20mistake", status: 204, any)
      }
      let erased = try await create(#"{"text": "quicksilver", "title": "quicksilver"}"#)
      _ = try await send("DELETE", erased, status: 204, any)
      _ = try await send("POST", erased + "/erase", status: 204)
      let body =
        #"{"url": "https://example.org/feed", "title": "Port", "topics": ["a"], "state": "draft", "paused": true}"#
      let made = try await send("POST", "subscriptions", body, status: 201)
      let subscription = try made.json(Subscription.self, status: 201).id.uuidString.lowercased()
      _ = try await send("PATCH", "subscriptions/" + subscription, #"{"language": "de"}"#, status: 200, any)
    }
  }

  private static func newsroom(_ installation: Installation, _ settings: [String: String]) async throws -> Newsroom {
    let key = try await makeKey(installation)
    return try await installation.serve(changes: settings) { server in
      func get<Value: Decodable>(_ path: String, _ type: Value.Type) async throws -> Value {
        try await server.send("GET", "/v1/editorial/" + path, key: key).json(type)
      }
      let list = try await get("items?limit=200", EditorialItemList.self)
      var statuses: [UUID: Int] = [:]
      for item in list.items {
        statuses[item.item.id] = try await server.status("/v1/items/\(item.item.id.uuidString.lowercased())")
      }
      return Newsroom(
        items: list.items.map { item in
          var item = item
          (item.item.version, item.item.updated) = (0, .distantPast)
          return item
        },
        counts: list.counts, history: try await get("history?limit=200", HistoryList.self).entries,
        topics: try await get("topics", TopicList.self).topics.map {
          "\($0.slug) \($0.titles.sorted { $0.key < $1.key }) \($0.revision ?? 0)"
        },
        subscriptions: try await get("subscriptions", SubscriptionList.self).subscriptions.map {
          "\($0.id) \($0.url) \($0.title ?? "") \($0.topics) \($0.state) \($0.language ?? "") \($0.paused) \($0.revision)"
        },
        files: try await get("media", EditorialMediaList.self).items.map { "\($0.id) \($0.attachment) \($0.uses)" },
        statuses: statuses)
    }
  }

  private static func export(_ installation: Installation, _ options: String...) async throws -> String {
    let result = try await ChildProcess(["export", "--all"] + options, environment: installation.environment()).result()
    #expect(result.status == 0, "\(result.errors)")
    let lines = result.output.split(separator: "\n")
    func number(_ kind: String) -> Int { lines.count { $0.hasPrefix("{\"\(kind)\": ") } }
    #expect(
      result.errors == """
        exported \(number("item")) items, \(number("topic")) topics, \(number("media")) files, \
        \(number("subscription")) subscriptions, \(number("history")) writes of the history

        """)
    return result.output
  }

  private static func importing(_ text: String, into installation: Installation) async throws -> ImportTests.Counts {
    try await withFolder(["newsroom.jsonl": text]) { folder in
      let result = try await installation.run("import", "--json", folder.appending(path: "newsroom.jsonl").path)
      #expect(result.status == 0 && result.errors == "", "\(result.errors)")
      return try JSONDecoder().decode(ImportTests.Counts.self, from: Data(result.output.utf8))
    }
  }

  @Test("A newsroom with every state is restored into an empty database: editors see the same, and its export is equal")
  func roundTrip() async throws {
    try await withTwo { one, two, settings in
      try await Self.fill(one, settings)
      let before = try await Self.newsroom(one, settings)
      #expect(Set(before.counts.keys) == Set(EditorialItem.State.allCases))
      let text = try await Self.export(one, "--history")
      #expect(!text.contains("quicksilver"))
      let count = before.counts.values.reduce(0, +)
      #expect(try await Self.importing(text, into: two) == ImportTests.Counts(read: count, inserted: count))
      #expect(try await Self.export(two, "--history") == text)
      let after = try await Self.newsroom(two, settings)
      #expect(after.items == before.items)
      #expect(after == before)
      #expect(Set(before.statuses.values) == [200, 404, 410])

      // Into its own database, and a second time, it changes nothing.
      for installation in [one, two] {
        #expect(try await Self.importing(text, into: installation) == ImportTests.Counts(read: count, unchanged: count))
        #expect(try await Self.export(installation, "--history") == text)
      }
      // Imports of the sources continue, and bring nothing back.
      let samples = Project.root.appending(path: "Samples").path
      let again = try await two.run("import", "--json", samples)
      let counts = try JSONDecoder().decode(ImportTests.Counts.self, from: Data(again.output.utf8))
      #expect(counts.inserted == 0 && counts.updated == 0)
    }
  }

  @Test("An export of the last version whose database cannot be migrated is imported completely")
  func exportBeforeTheBaseline() async throws {
    let file = Project.root.appending(path: "Tests/SystemTests/Commands/newsroom-before-1.0.jsonl")
    let text = try String(contentsOf: file, encoding: .utf8)
    try await Installation.with { installation in
      let count = text.split(separator: "\n").count { $0.hasPrefix("{\"item\": ") }
      #expect(count == 33)
      let imported = try await Self.importing(text, into: installation)
      #expect(imported == ImportTests.Counts(read: count, inserted: count))
      let exported = try await Self.export(installation, "--history")
      #expect(exported == text)
    }
  }

  @Test("Restored schedules are applied, and restored items are written with their next revisions")
  func schedules() async throws {
    try await withTwo { one, two, settings in
      try await Self.fill(one, settings)
      let text = try await Self.export(one)
      #expect(!text.contains(#""history": {"#))
      // The time of the scheduled item has come since the export.
      let due = text.replacing("2999-01-01T00:00:00.000Z", with: "2026-01-01T00:00:00.000Z")
      _ = try await Self.importing(due, into: two)
      // The history of items that exist is their own.
      let writes: Int = try await two.value("SELECT count(*) FROM item_history")
      _ = try await Self.importing(try await Self.export(one, "--history"), into: two)
      #expect(try await two.value("SELECT count(*) FROM item_history") == writes)
      let key = try await Self.makeKey(two)
      try await two.serve { server in
        let id: UUID = try await two.value("SELECT id FROM items WHERE text = 'later'")
        let path = "items/\(id.uuidString.lowercased())"
        try await eventually("the scheduled item is public") { try await server.status("/v1/\(path)") == 200 }
        let item = try await server.send("GET", "/v1/editorial/\(path)", key: key).json(EditorialItem.self)
        #expect(item.state == .published && item.revision == 2)
        let entries = try await server.send("GET", "/v1/editorial/\(path)/history", key: key).json(HistoryList.self)
          .entries
        #expect(entries.map(\.editor) == [.schedule, .import])
      }
    }
  }

  /// Returns the record of an item with a changed or an additional field.
  private static func item(_ number: Int, _ change: String) -> String {
    let fields = [
      String(format: "\"id\": \"019a1111-0000-7000-8000-%012d\"", number), #""state": "draft""#, #""revision": 1"#,
      #""created": "2026-01-01T00:00:00.000Z""#, #""edited": "2026-01-01T00:00:00.000Z""#,
      #""date": "2026-01-01T00:00:00.000Z""#, #""text": "x""#, #""topics": []"#, #""breaking": false"#,
      #""attachments": []"#,
    ]
    let name = change.prefix { $0 != ":" }
    return "{\"item\": {" + (fields.filter { !$0.hasPrefix(name) } + [change]).joined(separator: ", ") + "}}"
  }

  /// Returns the record of the first write of an item.
  private static func write(_ number: Int) -> String {
    let item = String(format: "019a1111-0000-7000-8000-%012d", number)
    return #"{"history": {"at": "2026-01-01T00:00:00.000Z", "item": "\#(item)", "state": "draft", "#
      + #""editor": "import", "fields": ["text"], "replaced": {"title": "y"}, "revision": 1}}"#
  }

  @Test("A newsroom with more items than one publication takes is restored with the history of all")
  func largest() async throws {
    try await Installation.with { installation in
      let items = (1...1100).map { Self.item($0, #""state": "published""#) }
      let writes = [1, 1100].map { Self.write($0) }
      let text = ([#"{"newsroom": {"history": true}}"#] + items + writes).joined(separator: "\n")
      let counts = try await Self.importing(text, into: installation)
      #expect(counts == ImportTests.Counts(read: 1100, inserted: 1100))
      #expect(try await installation.counter() == 1100)
      #expect(try await installation.value("SELECT count(*) FROM item_history") == 2)
      let exported = try await Self.export(installation, "--history")
      #expect(exported.count { $0 == "\n" } == 1103)
    }
  }

  @Test("A newsroom is exported to a file, which has its name once it is complete, with all that its records have")
  func file() async throws {
    try await Installation.with { installation in
      let id = "019a1111-0000-7000-8000-00000000000"
      let digest = String(repeating: "0a", count: 32)
      let records: [String] = [
        #"{"topic": {"slug": "a", "titles": {"en": "A"}, "position": -2, "revision": 4}}"#,
        #"{"media": {"id": "\#(id)1", "name": "ferry.png", "type": "image/png", "bytes": 7, "width": 3, "height": 5, "#
          + #""sha256": "\#(digest)", "created": "2026-01-01T00:00:00.123Z"}}"#,
        #"{"withdrawnMedia": {"id": "\#(id)2", "reason": "retracted"}}"#,
        #"{"subscription": {"id": "\#(id)3", "url": "https://feeds.example/", "state": "draft", "title": "Port", "#
          + #""paused": true, "topics": ["a"], "language": "de", "revision": 5}}"#,
        Self.write(4),
      ]
      let lines = [#"{"newsroom":{"history":true}}"#, Self.item(4, #""title": "t""#)] + records
      let counts = try await Self.importing(lines.joined(separator: "\n"), into: installation)
      #expect(counts == ImportTests.Counts(read: 1, inserted: 1))
      try await withFolder(["news.jsonl": "the one before"]) { folder in
        let path = folder.appending(path: "news.jsonl").path
        let result = try await installation.run("export", "--all", "--history", path)
        #expect(result.status == 0 && result.output == "", "\(result.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names == ["news.jsonl"])
        let exported = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { String($0) }
        #expect(exported.count == lines.count)
        for line in [lines[0]] + records { #expect(exported.contains(line), "\(exported)") }
        // Other users may read it, as far as the mask of the process allows.
        func mode(_ path: String) -> mode_t {
          var status = stat()
          return stat(path, &status) == 0 ? status.st_mode : 0
        }
        let other = folder.appending(path: "other").path
        close(open(other, O_WRONLY | O_CREAT, 0o644))
        #expect(mode(path) == mode(other) && mode(path) != 0)
      }
    }
  }

  @Test("Newsrooms of several files of a folder are restored once each, one without a header as one without a history")
  func folder() async throws {
    let files = (1...2).map { number in
      let header = number == 1 ? "" : #"{"newsroom": {"history": false}}"# + "\n"
      return ("\(number).jsonl", header + Self.item(number, #""title": "t""#))
    }
    try await Installation.with { installation in
      try await withFolder(Dictionary(uniqueKeysWithValues: files)) { folder in
        let result = try await installation.run("import", "--json", folder.path)
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        let counts = try JSONDecoder().decode(ImportTests.Counts.self, from: Data(result.output.utf8))
        #expect(counts == ImportTests.Counts(read: 2, inserted: 2))
        #expect(try await installation.value("SELECT count(*) FROM item_history") == 2)
      }
    }
  }

  @Test("A record that breaks a rule of written texts is reported with its field and left out; all others are restored")
  func rules() async throws {
    try await Installation.with { installation in
      let item = Self.item
      let future = (#""date": "2026-"#, #""date": "2999-"#)
      let lines = [
        #"{"newsroom": {"history": false}}"#, item(1, #""title": "good""#).replacing(future.0, with: future.1),
        item(2, #""title": " ""#),
        item(3, #""text": "a\u0007""#), item(4, #""state": "scheduled""#), item(5, #""topics": ["nowhere"]"#),
        item(6, #""language": "-""#), item(7, #""revision": 0"#), item(8, #""date": "yesterday""#),
        item(0, #""date": "2999-01-01T00:00:00Z""#).replacing("\"draft\"", with: "\"published\""),
        #"{"subscription": {"id": "019a1111-0000-7000-8000-000000000009", "url": "ftp://example.org", "topics": [], "#
          + #""state": "draft", "paused": true, "revision": 1}}"#,
        item(1, #""gone": "retracted""#),
      ]
      try await withFolder(["newsroom.jsonl": lines.joined(separator: "\n")]) { folder in
        let path = folder.appending(path: "newsroom.jsonl").path
        let result = try await installation.run("import", "--json", path)
        let counts = try JSONDecoder().decode(ImportTests.Counts.self, from: Data(result.output.utf8))
        #expect(counts == ImportTests.Counts(read: 11, inserted: 2, skipped: 9))
        let note = "019a1111-0000-7000-8000-000000000000: the date 2999-01-01T00:00:00.000Z is in the future"
        #expect(result.errors.contains("newsroom.jsonl: \(note)"), "\(result.errors)")
        for (line, field) in [
          (3, "item.title"), (4, "item.text"), (5, "item.publishAt"), (7, "item.language"), (8, "item.revision"),
          (9, "item.date"), (11, "subscription.url"),
        ] {
          #expect(result.errors.contains("line \(line): the field \"\(field)\" "), "\(field) in \(result.errors)")
        }
      }
      #expect(try await installation.value("SELECT count(*) FROM items WHERE title = 'good'") == 1)
      // Nothing of a second line with the same id counts.
      #expect(try await installation.value("SELECT count(*) FROM gone_items") == 0)
      // The date of a draft may be in the future.
      let states: String = try await installation.value(
        "SELECT string_agg(state, ',') FROM items WHERE date > clock_timestamp()")
      #expect(states == "draft")
      #expect(try await installation.value("SELECT bool_and(date = date_trunc('milliseconds', date)) FROM items"))
      #expect(try await installation.run("export", "--history").status != 0)
    }
  }
}
