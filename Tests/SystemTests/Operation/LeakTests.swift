import Foundation
import News
import TestKit
import TestSupport
import Testing

/// Drafts and schedules, which change nothing that readers can request.
@Suite(.timeLimit(.minutes(15))) struct LeakTests {
  /// The number of drafts and scheduled items.
  private static let items = 1000

  /// The id of a draft, chosen by its author.
  private static func id(_ number: Int) -> String {
    "019a2222-0000-7000-8000-" + String(repeating: "0", count: 12 - "\(number)".count) + "\(number)"
  }

  @Test("Public responses are byte for byte the same before and after a thousand drafts and schedules")
  func nothingLeaks() async throws {
    try await withMediaFolder { media in
      try await Installation.with { installation in
        let created = try await installation.run(
          "keys", "create", "--name", "newsroom", "--scope", "items:publish", "media:write")
        try #require(created.status == 0)
        let key = created.output.trimmingCharacters(in: .newlines)
        let changes = ["TIDINGS_MEDIA_DIRECTORY": media.path, "TIDINGS_PUBLIC_URL": "https://news.example"]
        // The servers below start with the published items, and so with the same history of changes.
        let known = try await installation.serve(changes: changes) { server in
          try await Newsroom(server: server, key: key).publish()
        }
        try await installation.serve(changes: changes) { server in
          let newsroom = Newsroom(server: server, key: key)
          let reader = Reader(known: known)
          var events = try await EventSource(server.client.url)
          try await Reader.waitForHeaders(of: server)
          _ = try await reader.responses(of: server)
          let before = try await reader.responses(of: server)
          let files = try await newsroom.work()
          Reader.expectEqual(try await reader.responses(of: server), before, "of the same server")
          let unknown = try await Reader.response("GET", "/v1/media/\(UUID().uuidString.lowercased())", of: server)
          for file in files {
            #expect(try await Reader.response("GET", file, of: server) == unknown, "a file of a draft")
          }
          try await installation.serve(changes: changes) { later in
            try await Reader.waitForHeaders(of: later)
            Reader.expectEqual(try await reader.responses(of: later), before, "of a server that started later")
          }
          let item = try await newsroom.send("POST", "items", #"{"text": "At last."}"#)
            .json(EditorialItem.self, status: 201).item.id
          var ids: [UUID] = []
          while ids.isEmpty, let event = try await events.next() {
            if event.type.isEmpty { ids = try event.news().ids }
          }
          #expect(ids == [item], "the first event is the publication")
        }
      }
    }
  }

  /// An editor who publishes a little, and then writes what nobody shall see.
  private struct Newsroom {
    let server: RunningServer
    let key: String

    func send(_ method: String, _ path: String, _ body: String? = nil) async throws -> TestResponse {
      try await server.send(
        method, "/v1/editorial/" + path, key: key, headers: method == "POST" ? [] : [("If-Match", "*")], body: body)
    }

    /// Uploads a file.
    ///
    /// - Returns: The attachment as JSON, and its path.
    private func upload(_ seed: Int) async throws -> (attachment: String, path: String) {
      let response = try await server.client.send(
        "POST", "/v1/editorial/media", key: key, headers: [("Content-Type", "image/png")],
        file: SampleMedia.png(seed: UInt64(seed)))
      // Content that is stored already is answered with 200.
      try #require([200, 201].contains(response.status))
      let path = try #require(
        try response.json(Attachment.self, status: response.status).url.split(separator: "/").last)
      return (response.text, "/v1/media/\(path)")
    }

    private func create(_ fields: String) async throws -> String {
      try await send("POST", "items", "{\(fields)}").json(EditorialItem.self, status: 201).item.id.uuidString
        .lowercased()
    }

    /// Publishes items, and ends some of them in all ways.
    ///
    /// - Returns: The paths that readers know.
    func publish() async throws -> [String] {
      // The last topic has drafts only.
      for slug in ["city", "harbour", "planned"] {
        try #require(try await send("POST", "topics", #"{"slug": "\#(slug)", "titles": {"en": "x"}}"#).status == 201)
      }
      var paths: [String] = []
      for number in 0..<30 {
        let file = try await upload(1 + number % 3)
        let id = try await create(
          """
          "date": "2026-01-\(10 + number % 10)T12:00:00Z", "title": "Item \(number)", "text": "The ferry \(number)",
          "topics": ["\(number % 2 == 0 ? "city" : "harbour")"], "language": "\(number % 3 == 0 ? "de" : "en")",
          "author": "Mara Quill", "html": "<p>x</p>", "attachments": [\(number < 3 ? file.attachment : "")]
          """)
        paths += ["/v1/items/\(id)"] + (number < 3 ? [file.path] : [])
      }
      let items = paths.filter { $0.hasPrefix("/v1/items/") }.map { "items/" + $0.dropFirst(10) }
      try #require(try await send("DELETE", items[0] + "?reason=Wrong").status == 204)
      for (path, patch) in [
        (items[3], #"{"state": "draft"}"#), (items[4], #"{"expireAt": "2026-02-01T00:00:00Z"}"#),
      ] {
        try #require(try await send("PATCH", path, patch).status == 200)
      }
      return paths
    }

    /// Writes, changes, schedules, restores and discards a thousand items that are never public.
    ///
    /// - Returns: The paths of their files.
    func work() async throws -> [String] {
      var (attachments, files) = (["", ""], [String]())
      for number in 0..<20 {
        // One of the files has the content of a public one.
        let file = try await upload(number == 0 ? 1 : 100 + number)
        attachments.append(file.attachment)
        if number > 0 { files.append(file.path) }
      }
      let states = [
        #""state": "draft""#, #""state": "review""#, #""publishAt": "2099-01-01T00:00:00Z""#,
        #""publishAt": "2099-01-01T00:00:00Z", "expireAt": "2099-02-01T00:00:00Z""#,
      ]
      try await batch { number in
        let content = """
          "title": "Secret \(number)", "text": "The ferry is secret.", "author": "Mara Quill", "language": "en",
          "topics": ["planned", "city"], "breaking": true, "attachments": [\(attachments[number % attachments.count])]
          """
        return #"{"op": "create", "id": "\#(id(number))", "item": {\#(content), \#(states[number % 4])}}"#
      }
      let changes = [
        #"{"state": "review"}"#, #"{"title": "More secret"}"#, #"{"publishAt": "2098-01-01T00:00:00Z"}"#,
        #"{"state": "draft"}"#, #"{"topics": ["planned"], "attachments": []}"#,
      ]
      try await batch { number in
        number % 10 == 9
          ? #"{"op": "retract", "id": "\#(id(number))", "revision": 1, "reason": "Never mind"}"#
          : #"{"op": "modify", "id": "\#(id(number))", "revision": 1, "patch": \#(changes[number % 5])}"#
      }
      for number in 0..<8 {
        let path = "items/\(id(number))/history/1/restore"
        let response = try await server.send(
          "POST", "/v1/editorial/" + path, key: key, headers: [("If-Match", "*")])
        try #require(response.status == 200)
      }
      return files
    }

    /// Sends an entry for each item, in batches, and requires that none is refused.
    private func batch(_ entry: (Int) -> String) async throws {
      for start in stride(from: 0, to: items, by: 250) {
        let entries = (start..<start + 250).map(entry).joined(separator: ",")
        let list = try await send("POST", "items/batch", #"{"entries": [\#(entries)]}"#).json(BatchResultList.self)
        try #require(list.applied == 250, "\(list.results.first(where: { $0.status >= 300 }).debugDescription)")
      }
    }
  }

  /// A reader who records all responses as bytes.
  private struct Reader {
    /// The paths of items and files that were public, or still are.
    let known: [String]

    private static let lists = [
      "/v1/items", "/v1/items?limit=1", "/v1/items?limit=200", "/v1/items?topics=city", "/v1/items?topics=planned",
      "/v1/items?topics=city,planned&limit=7", "/v1/items?language=en", "/v1/items?author=Mara+Quill&limit=10",
      "/v1/items?breaking=true", "/v1/items?q=ferry", "/v1/items?q=secret", "/v1/items?q=ferry&topics=harbour",
      "/v1/items?from=2026-01-12T00:00:00Z&to=2026-01-15T00:00:00Z", "/v1/items?include=html", "/v1/changes",
      "/v1/changes?limit=3", "/v1/changes?topics=planned", "/v1/changes?topics=city,harbour", "/v1/state",
      "/v1/state?topics=city,harbour,planned", "/v1/topics", "/v1/topics/city", "/v1/topics/planned", "/v1/topics/none",
      "/healthz", "/readyz", "/openapi.yaml",
    ]

    /// Waits until a server sends the fields that it leaves out at first: the poll interval, which it computes after
    /// its start, and `Last-Modified`, until the second that it names is over.
    static func waitForHeaders(of server: RunningServer) async throws {
      try await eventually("all header fields are sent") {
        let response = try await server.send("GET", "/v1/items")
        return response["X-Poll-Interval"] != nil && response["Last-Modified"] != nil
      }
    }

    /// Returns the response to a request without `Date`, head and body.
    static func response(
      _ method: String, _ target: String, _ headers: String = "", of server: RunningServer
    ) async throws -> Data {
      let request = "\(method) \(target) HTTP/1.1\r\nHost: news.example\r\n\(headers)\r\n"
      var bytes = try await RawConnection.bytes([Data(request.utf8)], port: server.port)
      let end = Data("\r\n".utf8)
      // `Date` is the time, and `X-Request-Id`, which responses have that no cache stores, is a number of the request.
      for name in ["date", "x-request-id"] {
        let head = try #require(bytes.firstRange(of: end + end))
        let lowercased = Data(String(decoding: bytes[..<head.upperBound], as: UTF8.self).lowercased().utf8)
        guard let field = lowercased.firstRange(of: Data("\r\n\(name): ".utf8)),
          let line = lowercased[field.upperBound...].firstRange(of: end)
        else { continue }
        bytes.removeSubrange(field.lowerBound..<line.lowerBound)
      }
      return bytes
    }

    /// Returns the responses to all requests by request.
    func responses(of server: RunningServer) async throws -> [String: Data] {
      var targets = Self.lists + known + feedPaths
      targets += [0, 1, 2, 3, 9, 500].map { "/v1/items/\(LeakTests.id($0))" }
      for list in ["/v1/items?limit=5", "/v1/changes?limit=3"] {
        let response = try await server.send("GET", list)
        if let next = response.next { targets.append(next) }
        if let token = response["Sync-Token"] {
          targets += ["/v1/changes?since=\(token)", "/v1/items?at=\(token)", "/v1/changes?since=\(token)&limit=2"]
        } else {
          targets.append("/v1/changes?since=\(try response.json(ChangeList.self).token)")
        }
      }
      var responses: [String: Data] = [:]
      for target in targets {
        responses["GET \(target)"] = try await Self.response("GET", target, of: server)
        responses["HEAD \(target)"] = try await Self.response("HEAD", target, of: server)
        responses["GET \(target) as gzip"] = try await Self.response(
          "GET", target, "Accept-Encoding: gzip\r\n", of: server)
        let tag = try await server.send("GET", target)["ETag"]
        if let tag {
          let field = "If-None-Match: \(tag)\r\n"
          responses["GET \(target) if changed"] = try await Self.response("GET", target, field, of: server)
        }
      }
      return responses
    }

    static func expectEqual(_ responses: [String: Data], _ expected: [String: Data], _ what: Comment) {
      #expect(responses.count == expected.count, what)
      for (request, response) in expected where responses[request] != response {
        let texts = [response, responses[request] ?? Data()].map { String(decoding: $0, as: UTF8.self) }
        Issue.record("\(what.rawValue): \(request)\n\(texts[0])\n\(texts[1])")
      }
    }
  }
}
