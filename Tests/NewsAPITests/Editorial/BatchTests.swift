import Foundation
import News
import NewsAPI
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Writes of several items in one request.
@Suite struct BatchTests {
  private static func id(_ item: EditorialItem) -> String { item.item.id.uuidString.lowercased() }

  private static func send(_ server: TestServer, _ entries: [String], atomic: Bool? = nil) async throws -> TestResponse
  {
    let flag = atomic.map { #""atomic": \#($0), "# } ?? ""
    return try await server.write("POST", "items/batch", "{\(flag)\"entries\": [\(entries.joined(separator: ","))]}")
  }

  private static func count(_ server: TestServer, _ sql: PostgresQuery) async throws -> Int {
    let rows = try await server.sql.query(sql)
    return try rows.first?.decode(0) ?? -1
  }

  @Test("Each entry has the result of a request of its own, in order, and all are written in one transaction")
  func mixed() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a"])
      let (one, two, three) = (
        try await server.publish("one"), try await server.publish("two"), try await server.publish("three")
      )
      let chosen = "019a1111-0000-7000-8000-000000000001"
      let token = try await server.get("/v1/changes").json(ChangeList.self).token
      let list = try await Self.send(
        server,
        [
          #"{"op": "create", "item": {"text": "new", "topics": ["a"]}}"#,
          #"{"op": "create", "id": "\#(chosen)", "item": {"text": "chosen", "state": "draft"}}"#,
          #"{"op": "replace", "id": "\#(Self.id(one))", "revision": 1, "item": {"text": "replaced"}}"#,
          #"{"op": "modify", "id": "\#(Self.id(two))", "revision": 1, "patch": {"title": "Two"}}"#,
          #"{"op": "retract", "id": "\#(Self.id(three))", "revision": 1, "reason": "A duplicate"}"#,
          // Refused entries, which do not affect the others.
          #"{"op": "create", "item": {"text": "", "topics": ["a"]}}"#,
          #"{"op": "create", "item": {"text": "x", "topics": ["unknown"]}}"#,
          #"{"op": "modify", "id": "\#(UUID().uuidString)", "revision": 1, "patch": {}}"#,
        ]
      ).json(BatchResultList.self)
      #expect(list.applied == 5)
      #expect(list.results.map(\.status) == [201, 201, 200, 200, 204, 422, 422, 412])
      #expect(list.results[0].item?.item.text == "new" && list.results[0].item?.state == .published)
      #expect(list.results[1].id?.uuidString.lowercased() == chosen && list.results[1].item?.state == .draft)
      #expect(list.results[2].item?.item.text == "replaced" && list.results[2].item?.revision == 2)
      #expect(list.results[3].item?.item.title == "Two" && list.results[3].item?.item.text == "two")
      #expect(list.results[4].item == nil && list.results[4].id == three.item.id)
      #expect(list.results[5].problem?.errors?.map(\.field) == ["text"] && list.results[5].id == nil)
      #expect(list.results[6].problem?.errors?.map(\.field) == ["topics"])

      let delta = try await server.get("/v1/changes?since=\(token)").json(ChangeList.self)
      #expect(delta.changes.count == 4)
      #expect(
        try await server.get("/v1/items/\(Self.id(three))").json(Problem.self, status: 410).detail == "A duplicate")
      let transactions = try await Self.count(
        server, "SELECT count(DISTINCT xmin::text) FROM items WHERE revision = 2 OR text IN ('new', 'chosen')")
      #expect(transactions == 1)
      #expect(
        try await server.write("GET", "history").json(HistoryList.self).entries.allSatisfy { $0.editor == .key("desk") }
      )
    }
  }

  @Test("An atomic batch is written as a whole, or refused as a whole with the result of each entry")
  func atomic() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("one")
      let create = #"{"op": "create", "id": "019a1111-0000-7000-8000-000000000001", "item": {"text": "new"}}"#
      func modify(_ revision: Int) -> String {
        #"{"op": "modify", "id": "\#(Self.id(item))", "revision": \#(revision), "patch": {"text": "changed"}}"#
      }
      let token = try await server.get("/v1/changes").json(ChangeList.self).token
      for (wrong, status) in [
        (modify(7), 412), (#"{"op": "create", "item": {"text": "x", "date": "2999-01-01T00:00:00Z"}}"#, 422),
        (#"{"op": "create", "item": {"text": "x", "topics": ["unknown"]}}"#, 422),
        (#"{"op": "create", "item": {"text": 7}}"#, 422),
        (#"{"op": "retract", "id": "\#(Self.id(item))"}"#, 428),
      ] {
        let response = try await Self.send(server, [create, wrong], atomic: true)
        let problem = try response.json(Problem.self, status: 422)
        #expect(
          problem.type == "/problems/batch-refused" && problem.results?.map(\.status) == [424, status], "\(wrong)")
      }
      #expect(try await server.get("/v1/changes").json(ChangeList.self).token == token)
      #expect(try await Self.count(server, "SELECT count(*) FROM items") == 1)

      let done = try await Self.send(server, [create, modify(1)], atomic: true).json(BatchResultList.self)
      #expect(done.applied == 2 && done.results.map(\.status) == [201, 200])
      #expect(try await server.get("/v1/items").json(ItemList.self).items.map(\.text).sorted() == ["changed", "new"])
      // A repeat of a creation is no change, and no refusal.
      let again = try await Self.send(server, [create], atomic: true).json(BatchResultList.self)
      #expect(again.results.map(\.status) == [200] && again.results[0].item?.revision == 1)
    }
  }

  @Test(
    "A malformed batch is refused as a whole, and the error names the entry and the rule", .sharedServer,
    arguments: [
      (#"{}"#, ["entries"]), (#"{"entries": []}"#, ["entries"]), (#"{"entries": 7}"#, ["entries"]),
      (#"{"entries": [7]}"#, ["entries[0]"]), (#"{"entries": [{}]}"#, ["entries[0].op"]),
      (#"{"entries": [{"op": "delete", "id": 7}]}"#, ["entries[0].op"]),
      (#"{"entries": [{"op": "create"}]}"#, ["entries[0].item"]),
      (#"{"entries": [{"op": "create", "item": {"text": "x"}, "revision": 1}]}"#, ["entries[0].revision"]),
      (#"{"entries": [{"op": "modify", "patch": {}}]}"#, ["entries[0].id"]),
      (#"{"entries": [{"op": "retract", "id": "x"}]}"#, ["entries[0].id"]),
      (#"{"entries": [{"op": "create", "item": {"text": "x"}}], "mode": 1}"#, ["mode"]),
      (#"{"entries": [{"op": "create", "item": {"text": "x"}}], "atomic": 1}"#, ["atomic"]),
      (
        #"""
        {"entries": [{"op": "create", "item": {"id": "019a1111-0000-7000-8000-000000000001", "text": "x"}},
          {"op": "retract", "id": "019A1111-0000-7000-8000-000000000001"}]}
        """#, ["entries[1].id"]
      ),
    ] as [(String, [String])])
  func malformed(body: String, fields: [String]) async throws {
    try await TestServer.withShared { server in
      let problem = try await server.write("POST", "items/batch", body).json(Problem.self, status: 422)
      #expect(problem.errors?.map(\.field) == fields)
      #expect(try await Self.count(server, "SELECT count(*) FROM items") == 0)
    }
  }

  @Test("A batch whose stored items are too large together is refused as a whole, whatever it changes in them")
  func storedSize() async throws {
    try await TestServer.with(settings: {
      ($0.maximumBatchBytes, $0.maximumStoredBatchBytes) = (8_000, 10_000)
    }) { server in
      let text = String(repeating: "x", count: 6_000)
      var items: [EditorialItem] = []
      for _ in 0..<3 { items.append(try await server.publish(text)) }
      let large = items.map { item in
        #"{"op": "modify", "id": "\#(Self.id(item))", "revision": 1, "patch": {"title": "x"}}"#
      }
      for (atomic, key) in [(false, nil), (true, nil), (false, "a"), (true, "b")] as [(Bool, String?)] {
        let headers = key.map { ("Idempotency-Key", $0) }
        let body = #"{"atomic": \#(atomic), "entries": [\#(large.joined(separator: ","))]}"#
        let response =
          if let headers { try await server.write("POST", "items/batch", body, headers) } else {
            try await server.write("POST", "items/batch", body)
          }
        let problem = try response.json(Problem.self, status: 413)
        #expect(problem.type == "/problems/batch-too-large" && problem.detail?.contains("16000 bytes") == true)
      }
      #expect(try await Self.count(server, "SELECT max(revision) FROM items") == 1)
      let done = try await server.write(
        "POST", "items/batch", #"{"entries": [\#(large[0]), \#(large[1])]}"#, ("Idempotency-Key", "c"))
      #expect(try done.json(BatchResultList.self).applied == 2)
      // A repetition has the stored answer, however large the items are by now.
      for item in items.prefix(2) {
        _ = try await server.write(
          "PATCH", "items/\(Self.id(item))", #"{"summary": "\#(String(repeating: "y", count: 5_000))"}"#,
          ("If-Match", "*"))
      }
      let again = try await server.write(
        "POST", "items/batch", #"{"entries": [\#(large[0]), \#(large[1])]}"#, ("Idempotency-Key", "c"))
      #expect(again["Idempotency-Replayed"] == "true" && again.status == 200)
    }
  }

  @Test("A thousand entries are written, one more is refused, and a larger body than allowed is refused")
  func limits() async throws {
    try await TestServer.with(settings: { $0.maximumBatchBytes = 200_000 }) { server in
      let entries = (0..<1000).map { #"{"op": "create", "item": {"text": "item \#($0)"}}"# }
      for isAtomic in [false, true] {
        let list = try await Self.send(server, entries, atomic: isAtomic).json(BatchResultList.self)
        #expect(list.applied == 1000 && list.results.allSatisfy { $0.status == 201 })
      }
      #expect(try await Self.count(server, "SELECT count(DISTINCT xmin::text) FROM items") == 2)
      let problem = try await Self.send(server, entries + [entries[0]]).json(Problem.self, status: 422)
      #expect(problem.errors?.map(\.field) == ["entries"])
      let large = #"{"op": "create", "item": {"text": "\#(String(repeating: "x", count: 200_000))"}}"#
      #expect(try await Self.send(server, [large]).status == 413)
      // Changes of a thousand items.
      let items = try await server.sql.query("SELECT id FROM items ORDER BY id LIMIT 1000")
      let changes = try items.map { row in
        #"{"op": "modify", "id": "\#(try row.decode("id", as: UUID.self))", "revision": 1, "patch": {"breaking": true}}"#
      }
      #expect(try await Self.send(server, changes).json(BatchResultList.self).applied == 1000)
      #expect(try await Self.count(server, "SELECT count(*) FROM change_log WHERE breaking") == 1000)
    }
  }

  @Test("A key for drafts may write drafts in a batch, and nothing that readers see")
  func drafts() async throws {
    try await TestServer.with { server in
      let (item, other) = (try await server.publish("one"), try await server.publish("two"))
      let key = try await server.store.createKey(name: "drafts", permissions: [.itemsWrite])
      let response = try await server.send(
        "POST", "/v1/editorial/items/batch", key: key,
        body: """
          {"entries": [{"op": "create", "item": {"text": "draft"}},
            {"op": "create", "item": {"text": "x", "state": "published"}},
            {"op": "modify", "id": "\(Self.id(item))", "revision": 1, "patch": {"text": "y"}},
            {"op": "retract", "id": "\(Self.id(other))", "revision": 1}]}
          """)
      let list = try response.json(BatchResultList.self)
      #expect(list.results.map(\.status) == [201, 403, 403, 403])
      #expect(list.results[0].item?.state == .draft)
      #expect(try await server.get("/v1/items").json(ItemList.self).items.map(\.text) == ["two", "one"])
    }
  }

  @Test("An entry whose item is locked by another transaction waits for it, and the others are written before")
  func locked() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("one")
      let isHeld = Flag()
      async let holder: Void = server.sql.transaction { transaction in
        _ = try await transaction.query("SELECT 1 FROM items WHERE id = \(item.item.id) FOR UPDATE")
        isHeld.set()
        try await eventually("the other entry is visible") {
          try await server.get("/v1/items").json(ItemList.self).items.contains { $0.text == "new" }
        }
      }
      try await eventually("the row is locked") { isHeld.isSet }
      let list = try await Self.send(
        server,
        [
          #"{"op": "modify", "id": "\#(Self.id(item))", "revision": 1, "patch": {"text": "changed"}}"#,
          #"{"op": "create", "item": {"text": "new"}}"#,
        ]
      ).json(BatchResultList.self)
      try await holder
      #expect(list.results.map(\.status) == [200, 201])
    }
  }

  @Test("Atomic batches over the same items, sent together, are each written as a whole or refused as a whole")
  func concurrentAtomic() async throws {
    try await TestServer.with { server in
      var items: [EditorialItem] = []
      for number in 0..<6 { items.append(try await server.publish("item \(number)")) }
      let ids = items.map(Self.id)
      let applied = try await withThrowingTaskGroup(of: Int.self) { group in
        for writer in 0..<8 {
          group.addTask {
            let entries = ids.shuffled().map {
              #"{"op": "modify", "id": "\#($0)", "revision": 1, "patch": {"title": "writer \#(writer)"}}"#
            }
            let response = try await Self.send(server, entries, atomic: true)
            if response.status == 200 { return 1 }
            #expect(response.status == 422)
            return 0
          }
        }
        return try await group.reduce(0, +)
      }
      #expect(applied == 1)
      #expect(try await Self.count(server, "SELECT count(DISTINCT title) FROM items") == 1)
    }
  }
}
