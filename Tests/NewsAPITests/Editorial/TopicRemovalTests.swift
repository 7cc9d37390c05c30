import Foundation
import News
import NewsStore
import TestSupport
import Testing

/// Topics that are deleted or merged.
@Suite struct TopicRemovalTests {
  private static func path(_ item: EditorialItem) -> String { "items/\(item.item.id.uuidString.lowercased())" }

  @Test("A topic with items is kept, one without is deleted, and its followers receive an empty topic")
  func deletion() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      let item = try await server.publish("x", topics: ["a"])
      let draft = try await server.write("POST", "items", #"{"text": "y", "state": "draft", "topics": ["a"]}"#)
        .json(EditorialItem.self, status: 201)
      let expired = try await server.publish("z", topics: ["a"])
      let expiry = #"{"publishAt": "2026-01-01T00:00:00Z", "expireAt": "2026-01-02T00:00:00Z"}"#
      let end = try await server.write("PATCH", Self.path(expired), expiry, ("If-Match", "*"))
      #expect(try end.json(EditorialItem.self).state == .expired)
      #expect(try await server.write("DELETE", "topics/a").status == 428)
      #expect(try await server.write("DELETE", "topics/nowhere", nil, ("If-Match", "*")).status == 404)
      #expect(try await server.write("DELETE", "topics/a", nil, ("If-Match", "\"r2\"")).status == 412)
      let used = try await server.write("DELETE", "topics/a", nil, ("If-Match", "*")).json(Problem.self, status: 409)
      #expect(used.type == "/problems/topic-in-use" && used.detail?.contains("3 items") == true)
      let token = try await server.get("/v1/changes?topics=a").json(ChangeList.self).token
      for used in [item, draft, expired] {
        let refused = try await server.write("DELETE", "topics/a", nil, ("If-Match", "*"))
        #expect(refused.status == 409, "\(used.state)")
        let moved = try await server.write("PATCH", Self.path(used), #"{"topics": ["b"]}"#, ("If-Match", "*"))
        #expect(moved.status == 200)
      }
      #expect(try await server.write("DELETE", "topics/a", nil, ("If-Match", "\"r1\"")).status == 204)
      #expect(try await server.get("/v1/topics/a").status == 404)
      #expect(try await server.get("/v1/topics").json(TopicList.self).topics.map(\.slug) == ["b"])
      let changes = try await server.get("/v1/changes?topics=a&since=\(token)").json(ChangeList.self)
      #expect(changes.changes == [.remove(id: item.item.id, reason: .left)])
      #expect(try await server.get("/v1/items?topics=a").json(ItemList.self).items.isEmpty)
      let unknown = try await server.write("POST", "items", #"{"text": "z", "topics": ["a"]}"#)
      #expect(try unknown.json(Problem.self, status: 422).errors?.map(\.field) == ["topics"])
    }
  }

  @Test("Merging moves all items, publishes one version for each published one, and ends the topic for its followers")
  func merge() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b", "c"])
      var items: [EditorialItem] = []
      for number in 0..<5 {
        items.append(try await server.publish("\(number)", topics: number < 3 ? ["a"] : ["a", "b"]))
      }
      _ = try await server.write("POST", "items", #"{"text": "y", "state": "draft", "topics": ["a", "c"]}"#)
      #expect(try await server.write("DELETE", Self.path(items[0]), nil, ("If-Match", "*")).status == 204)
      let (a, b) = (
        try await server.get("/v1/changes?topics=a").json(ChangeList.self).token,
        try await server.get("/v1/changes?topics=b").json(ChangeList.self).token
      )
      let version = a.version
      for other in ["nowhere", "a", "A!"] {
        let refused = try await server.write("DELETE", "topics/a?mergeInto=\(other)", nil, ("If-Match", "*"))
        #expect(try refused.json(Problem.self, status: 400).errors?.map(\.field) == ["mergeInto"], "\(other)")
      }
      let merger = try await server.store.createKey(name: "merger", permissions: [.itemsPublish])
      let target = "/v1/editorial/topics/a?mergeInto=b"
      #expect(try await server.send("DELETE", target, key: merger, headers: [("If-Match", "*")]).status == 204)
      let left = try await server.get("/v1/changes?topics=a&since=\(a)").json(ChangeList.self)
      let removed = left.changes.compactMap { if case .remove(let id, .left) = $0 { id } else { nil } }
      #expect(removed.count == 4 && Set(removed) == Set(items[1...].map(\.item.id)))
      let joined = try await server.get("/v1/changes?topics=b&since=\(b)").json(ChangeList.self)
      let topics = joined.changes.map { change -> [String] in
        if case .put(let item) = change { item.topics } else { [] }
      }
      #expect(topics == Array(repeating: ["b"], count: 4))
      #expect(joined.token.version == version + 4)
      let drafts = try await server.write("GET", "items?state=draft").json(EditorialItemList.self).items
      #expect(drafts.map(\.item.topics) == [["b", "c"]])
      #expect(try await server.get("/v1/topics/b").json(Topic.self).items == 4)
      // The history names the editor.
      let history = try await server.write("GET", Self.path(items[4]) + "/history").json(HistoryList.self).entries
      #expect(history.first?.editor == .key("merger"))
    }
  }
}
