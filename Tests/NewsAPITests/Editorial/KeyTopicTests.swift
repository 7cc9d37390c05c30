import Foundation
import News
import NewsAPI
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Keys that are restricted to topics, that expire, or that are replaced.
@Suite struct KeyTopicTests {
  private static func path(_ item: EditorialItem, _ suffix: String = "") -> String {
    "/v1/editorial/items/\(item.item.id.uuidString.lowercased())\(suffix)"
  }

  /// A server with three topics, and a key for two of them.
  private struct Desk {
    let server: TestServer
    let key: String

    static func with(_ body: @Sendable (Desk) async throws -> Void) async throws {
      try await TestServer.with { server in
        try await server.makeTopics(["politics", "sport", "economy"])
        let key = try await server.store.createKey(
          name: "sports desk", permissions: [.itemsPublish, .mediaWrite], topics: ["politics", "sport"])
        try await body(Desk(server: server, key: key))
      }
    }

    /// Sends a request with the restricted key, for any revision.
    func send(_ method: String, _ target: String, _ body: String? = nil) async throws -> TestResponse {
      let headers = method == "POST" ? [] : [("If-Match", "*")]
      return try await server.send(method, target, key: key, headers: headers, body: body)
    }

    func create(_ topics: String, _ fields: String = "") async throws -> TestResponse {
      try await send("POST", "/v1/editorial/items", #"{"text": "x", "topics": [\#(topics)]\#(fields)}"#)
    }

    /// Checks that a write was refused for its topics.
    ///
    /// - Parameter words: A part of the explanation.
    func expectRefusal(_ response: TestResponse, _ words: String, _ place: SourceLocation = #_sourceLocation) throws {
      let problem = try response.json(Problem.self, status: 403)
      #expect(problem.type == "/problems/topic-not-allowed", sourceLocation: place)
      let detail = problem.detail ?? ""
      #expect(detail.hasPrefix("The key is restricted to the topics politics, sport. "), sourceLocation: place)
      #expect(detail.contains(words), "\(detail)", sourceLocation: place)
      #expect(response["WWW-Authenticate"]?.contains("insufficient_scope") == true, sourceLocation: place)
    }
  }

  @Test("A restricted key writes items whose topics are all its own, in all ways")
  func within() async throws {
    try await Desk.with { desk in
      for topics in [#""sport""#, #""sport", "politics""#] {
        let item = try await desk.create(topics).json(EditorialItem.self, status: 201)
        #expect(item.state == .published)
        let path = Self.path(item)
        #expect(try await desk.send("PATCH", path, #"{"topics": ["politics"]}"#).status == 200)
        #expect(try await desk.send("PUT", path, #"{"text": "y", "topics": ["sport"]}"#).status == 200)
        #expect(try await desk.send("PATCH", path, #"{"state": "draft"}"#).status == 200)
        #expect(try await desk.send("PATCH", path, #"{"state": "published"}"#).status == 200)
        #expect(try await desk.server.send("GET", path, key: desk.key).status == 200)
        #expect(try await desk.send("DELETE", path).status == 204)
        #expect(try await desk.send("POST", Self.path(item, "/erase")).status == 204)
      }
    }
  }

  @Test("A restricted key creates no item without topics or with another topic, which the refusal names")
  func creation() async throws {
    try await Desk.with { desk in
      let id = #", "id": "019a1111-0000-7000-8000-000000000001""#
      for fields in ["", #", "state": "draft""#, id] {
        try desk.expectRefusal(try await desk.create("", fields), "has none of them")
        try desk.expectRefusal(try await desk.create(#""economy""#, fields), "has the topic economy,")
        try desk.expectRefusal(try await desk.create(#""economy", "sport""#, fields), "has the topic economy,")
        // It exists no more than a topic that the key may not see.
        try desk.expectRefusal(try await desk.create(#""fashion", "economy""#, fields), "the topics economy, fashion,")
      }
      let put = "/v1/editorial/items/019a1111-0000-7000-8000-000000000002"
      let headers = [("If-None-Match", "*")]
      let other = try await desk.server.send(
        "PUT", put, key: desk.key, headers: headers, body: #"{"text": "x", "topics": ["economy"]}"#)
      try desk.expectRefusal(other, "has the topic economy,")
      let own = try await desk.server.send(
        "PUT", put, key: desk.key, headers: headers, body: #"{"text": "x", "topics": ["sport"]}"#)
      #expect(own.status == 201)
      #expect(try await desk.server.write("GET", "items").json(EditorialItemList.self).items.count == 1)
      #expect(try await desk.create(#""sport""#, id).status == 201)
      #expect(try await desk.create(#""sport""#, id).status == 200)
    }
  }

  @Test("A restricted key neither moves its items to other topics nor writes items of these, in any state")
  func changes() async throws {
    try await Desk.with { desk in
      let own = try await desk.create(#""sport""#).json(EditorialItem.self, status: 201)
      for topics in [#"["economy"]"#, #"["economy", "sport"]"#] {
        for (method, body) in [("PATCH", #"{"topics": \#(topics)}"#), ("PUT", #"{"text": "y", "topics": \#(topics)}"#)]
        {
          try desk.expectRefusal(try await desk.send(method, Self.path(own), body), "has the topic economy,")
        }
      }
      try desk.expectRefusal(try await desk.send("PATCH", Self.path(own), #"{"topics": []}"#), "has none of them")
      #expect(try await desk.server.get("/v1/items").json(ItemList.self).items.map(\.topics) == [["sport"]])

      for (topics, words) in [
        (["economy"], "has the topic economy,"), (["economy", "sport"], "has the topic economy,"),
        ([], "has none of them"),
      ] {
        let item = try await desk.server.publish("z", topics: topics)
        let path = Self.path(item)
        let bodies = [#"{"text": "y"}"#, #"{"topics": ["sport"]}"#, #"{"state": "draft"}"#, #"{"nonsense": 1}"#]
        for body in bodies { try desk.expectRefusal(try await desk.send("PATCH", path, body), words) }
        let replacement = #"{"text": "y", "topics": ["sport"]}"#
        try desk.expectRefusal(try await desk.send("PUT", path, replacement), words)
        // The revision of an item that the key does not see is not disclosed.
        let guess = try await desk.server.send(
          "PATCH", path, key: desk.key, headers: [("If-Match", "\"r7\"")], body: #"{"text": "y"}"#)
        try desk.expectRefusal(guess, words)
        try desk.expectRefusal(try await desk.send("DELETE", path), words)
        #expect(try await desk.server.get("/v1/items/" + item.item.id.uuidString.lowercased()).status == 200)
        #expect(
          try await desk.server.write("DELETE", path.replacing("/v1/editorial/", with: ""), nil, ("If-Match", "*"))
            .status == 204)
        try desk.expectRefusal(try await desk.send("PATCH", path, #"{"text": "y"}"#), words)
        try desk.expectRefusal(try await desk.send("DELETE", path), words)
        try desk.expectRefusal(try await desk.send("POST", Self.path(item, "/erase")), words)
        #expect(try await desk.server.store.editorialItem(item.item.id).item.text == "z")
      }
    }
  }

  @Test("A restricted key sees and counts its own items only; others do not exist for it")
  func lists() async throws {
    try await Desk.with { desk in
      let hidden = try await desk.server.publish("hidden", topics: ["economy", "sport"])
      _ = try await desk.server.publish("hidden too", topics: [])
      for number in 1...3 { _ = try await desk.create(#""sport""#, #", "title": "\#(number)""#) }
      _ = try await desk.create(#""politics""#, #", "state": "draft""#)
      _ = try await desk.server.write("POST", "items", #"{"text": "hidden", "state": "draft", "topics": ["economy"]}"#)

      func list(_ query: String) async throws -> EditorialItemList {
        try await desk.server.send("GET", "/v1/editorial/items" + query, key: desk.key).json(EditorialItemList.self)
      }
      for (query, count) in [
        ("", 4), ("?state=draft", 1), ("?topics=sport", 3), ("?topics=economy", 0), ("?topics=economy,politics", 1),
        ("?q=hidden", 0), ("?q=x", 4),
      ] {
        let list = try await list(query)
        #expect(list.items.count == count, "\(query)")
        #expect(list.counts == [.published: 3, .draft: 1], "\(query)")
      }
      var (target, found): (String?, Int) = ("/v1/editorial/items?limit=1", 0)
      while let page = target, found < 10 {
        let response = try await desk.server.send("GET", page, key: desk.key)
        found += try response.json(EditorialItemList.self).items.count
        target = response.next
      }
      #expect(found == 4)
      #expect(
        try await desk.server.write("GET", "items").json(EditorialItemList.self).counts == [.published: 5, .draft: 2])
      let response = try await desk.server.send("GET", Self.path(hidden), key: desk.key)
      #expect(try response.json(Problem.self, status: 404).type == "/problems/not-found")
    }
  }

  @Test("A restricted key reads topics, and may not create, change, delete or merge them")
  func topics() async throws {
    try await Desk.with { desk in
      for (method, path, body) in [
        ("POST", "topics", #"{"slug": "chess"}"#), ("PUT", "topics/sport", #"{"titles": {"en": "Sports"}}"#),
        ("DELETE", "topics/sport", nil), ("DELETE", "topics/sport?mergeInto=politics", nil),
      ] as [(String, String, String?)] {
        try desk.expectRefusal(
          try await desk.send(method, "/v1/editorial/" + path, body), "may not create, change, delete or merge topics")
      }
      let list = try await desk.server.send("GET", "/v1/editorial/topics", key: desk.key).json(TopicList.self)
      #expect(list.topics.map(\.slug) == ["economy", "politics", "sport"])
      #expect(try await desk.server.send("GET", "/v1/editorial/topics/economy", key: desk.key).status == 200)
    }
  }

  @Test("After a merge a restricted key writes to the other topic; after a deletion of all its topics, nothing")
  func mergedTopics() async throws {
    try await Desk.with { desk in
      let item = try await desk.create(#""sport""#).json(EditorialItem.self, status: 201)
      for topic in ["sport", "politics"] {
        let path = "topics/\(topic)?mergeInto=economy"
        #expect(try await desk.server.write("DELETE", path, nil, ("If-Match", "*")).status == 204)
      }
      #expect(try await desk.send("PATCH", Self.path(item), #"{"text": "y"}"#).status == 200)
      #expect(try await desk.create(#""economy""#).status == 201)
      let list = try await desk.server.send("GET", "/v1/editorial/items", key: desk.key).json(EditorialItemList.self)
      for item in list.items { #expect(try await desk.send("DELETE", Self.path(item)).status == 204) }
      #expect(try await desk.server.write("DELETE", "topics/economy", nil, ("If-Match", "*")).status == 204)
      try await desk.server.makeTopics(["economy"])
      let refused = try await desk.create(#""economy""#).json(Problem.self, status: 403)
      #expect(refused.detail?.hasPrefix("The key is restricted to topics that were deleted. ") == true)
      let rest = try await desk.server.send("GET", "/v1/editorial/items", key: desk.key).json(EditorialItemList.self)
      #expect(rest.items.isEmpty && rest.counts.isEmpty)
    }
  }

  @Test("A restricted key for drafts obeys both restrictions")
  func drafts() async throws {
    try await Desk.with { desk in
      let key = try await desk.server.store.createKey(name: "intern", permissions: [.itemsWrite], topics: ["sport"])
      func create(_ topic: String, _ state: String) async throws -> TestResponse {
        try await desk.server.send(
          "POST", "/v1/editorial/items", key: key,
          body: #"{"text": "x", "topics": ["\#(topic)"], "state": "\#(state)"}"#)
      }
      #expect(try await create("sport", "draft").status == 201)
      let published = try await create("sport", "published").json(Problem.self, status: 403)
      #expect(published.type == "/problems/forbidden")
      let other = try await create("politics", "draft").json(Problem.self, status: 403)
      #expect(
        other.detail
          == "The key is restricted to the topics sport. The item has the topic politics, before or after the write.")
    }
  }

  @Test("Expired and replaced keys are refused with an explanation, as long as their secret is right")
  func refusals() async throws {
    try await TestServer.with { server in
      let store = server.store
      let old = try await store.createKey(name: "desk two", permissions: [.itemsWrite], expiry: .after(.seconds(3600)))
      let new = try await store.rotateKey(try await store.key("desk two").id, overlap: .seconds(3600))
      func answer(_ key: String) async throws -> TestResponse {
        try await server.send("GET", "/v1/editorial/items", key: key)
      }
      for key in [old, new] { #expect(try await answer(key).status == 200) }
      func expectRefusal(_ key: String, _ detail: String) async throws {
        // The server is notified of the change.
        try await eventually("the key is refused: \(detail)") {
          let refused = try await answer(key)
          guard refused.status == 401 else { return false }
          #expect(refused["WWW-Authenticate"]?.contains("invalid_token") == true)
          return try refused.json(Problem.self, status: 401).detail == detail
        }
      }
      _ = try await server.sql.query(
        "UPDATE api_keys SET previous_until = clock_timestamp() WHERE previous_until IS NOT NULL")
      try await expectRefusal(old, "The key was replaced by a new one and is no longer valid.")
      #expect(try await answer(new).status == 200)
      _ = try await server.sql.query("UPDATE api_keys SET expires_at = clock_timestamp() WHERE expires_at IS NOT NULL")
      for key in [old, new] { try await expectRefusal(key, "The key has expired.") }
      try await expectRefusal(String(new.dropLast()) + "x", "The key is unknown or revoked.")
      #expect(try await server.send("GET", "/v1/editorial/items", key: server.key).status == 200)
    }
  }
}
