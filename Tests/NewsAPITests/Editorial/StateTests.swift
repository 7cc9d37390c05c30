import Foundation
import News
import NewsStore
import TestKit
import TestSupport
import Testing

/// The states of an item, as editors set them.
@Suite struct StateTests {
  private static func time(_ seconds: Double) -> String { RFC3339.string(from: Date() + seconds) }
  private static func path(_ item: EditorialItem) -> String { "items/\(item.item.id.uuidString.lowercased())" }

  private static func fields(_ response: TestResponse) throws -> [String] {
    try response.json(Problem.self, status: 422).errors?.map(\.field) ?? []
  }

  @Test("Without a state, an item is published or scheduled by its publishAt")
  func derivedStates() async throws {
    try await TestServer.with { server in
      func created(_ fields: String) async throws -> EditorialItem {
        try await server.write("POST", "items", #"{"text": "x"\#(fields)}"#).json(EditorialItem.self, status: 201)
      }
      let now = try await created("")
      #expect(now.state == .published && now.hasDate && abs(now.item.date.timeIntervalSinceNow) < 60)
      #expect(try await created(#", "publishAt": "\#(Self.time(-60))""#).state == .published)
      let later = try await created(#", "publishAt": "\#(Self.time(3600))""#)
      #expect(later.state == .scheduled && !later.hasDate && later.item.version == 0)
      let json = try await server.write("GET", Self.path(later)).json([String: AnyJSON].self)
      #expect(json["date"] == nil && json["publishAt"] != nil)
      let review = try await created(#", "state": "review""#)
      #expect(review.state == .review)
      #expect(try await server.get("/v1/items").json(ItemList.self).items.count == 2)
    }
  }

  @Test("Times that contradict the state are refused, and nothing is written")
  func contradictions() async throws {
    try await TestServer.with { server in
      for (fields, field) in [
        (#""state": "published", "publishAt": "\#(Self.time(3600))""#, "publishAt"),
        (#""state": "scheduled""#, "publishAt"),
        (#""state": "scheduled", "publishAt": "\#(Self.time(-3600))""#, "publishAt"),
        (#""expireAt": "\#(Self.time(-10))""#, "expireAt"),
        (#""publishAt": "\#(Self.time(3600))", "expireAt": "\#(Self.time(3600))""#, "expireAt"),
        (#""publishAt": "\#(Self.time(3600))", "date": "\#(Self.time(7200))""#, "date"),
        (#""state": "expired""#, "state"), (#""state": "retracted""#, "state"), (#""state": "gone""#, "state"),
        (#""publishAt": "tomorrow""#, "publishAt"), (#""expireAt": 7"#, "expireAt"),
      ] {
        let response = try await server.write("POST", "items", #"{"text": "x", \#(fields)}"#)
        #expect(try Self.fields(response) == [field], "\(fields)")
      }
      #expect(try await server.write("GET", "items").json(EditorialItemList.self).items.isEmpty)
      // The date of a scheduled item may be that of its publication.
      let time = Self.time(3600)
      let response = try await server.write(
        "POST", "items", #"{"text": "x", "publishAt": "\#(time)", "date": "\#(time)"}"#)
      #expect(response.status == 201)
    }
  }

  @Test("An item lives: draft, review, scheduled, published, withdrawn, published, retracted")
  func life() async throws {
    try await TestServer.with { server in
      let draft = try await server.write("POST", "items", #"{"text": "x", "state": "draft"}"#)
        .json(EditorialItem.self, status: 201)
      let path = Self.path(draft)
      func patch(_ body: String, _ status: Int = 200) async throws -> EditorialItem {
        try await server.write("PATCH", path, body, ("If-Match", "*")).json(EditorialItem.self, status: status)
      }
      #expect(try await patch(#"{"state": "review", "title": "t"}"#).state == .review)
      #expect(try await patch(#"{"text": "y"}"#).state == .review)
      #expect(try await patch(#"{"publishAt": "\#(Self.time(3600))"}"#).state == .scheduled)
      #expect(try await patch(#"{"text": "z"}"#).state == .scheduled)
      #expect(
        try Self.fields(try await server.write("PATCH", path, #"{"state": "published"}"#, ("If-Match", "*"))) == [
          "publishAt"
        ])
      #expect(try await server.get("/v1/" + path).status == 404)
      let start = try await server.get("/v1/changes").json(ChangeList.self).token
      let published = try await patch(#"{"state": "published", "publishAt": null}"#)
      #expect(published.state == .published && published.hasDate)
      #expect(try await server.get("/v1/" + path).json(NewsItem.self).date == published.item.date)
      let token = try await server.get("/v1/changes?since=\(start)").json(ChangeList.self).token

      let withdrawn = try await patch(#"{"state": "draft"}"#)
      #expect(withdrawn.state == .draft && withdrawn.item.date == published.item.date)
      #expect(try await server.get("/v1/" + path).status == 404)
      let removal = try await server.get("/v1/changes?since=\(token)").json(ChangeList.self)
      #expect(removal.changes == [.remove(id: draft.item.id, reason: .retracted)])
      // The list of unknown items must not outlast the publication.
      #expect(try await server.get("/v1/" + path).status == 404)
      #expect(try await patch(#"{"state": "published"}"#).state == .published)
      #expect(try await server.get("/v1/" + path).status == 200)

      #expect(try await server.write("DELETE", path, nil, ("If-Match", "*")).status == 204)
      #expect(try await server.get("/v1/" + path).status == 410)
      #expect(try await server.write("PATCH", path, #"{"state": "draft"}"#, ("If-Match", "*")).status == 410)
    }
  }

  @Test("A published item can be ended at once by its expiry, and returns if the expiry moves into the future")
  func expiry() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("x")
      let path = Self.path(item)
      func patch(_ body: String) async throws -> TestResponse {
        try await server.write("PATCH", path, body, ("If-Match", "*"))
      }
      #expect(try await patch(#"{"expireAt": "\#(Self.time(3600))"}"#).json(EditorialItem.self).state == .published)
      let token = try await server.get("/v1/changes").json(ChangeList.self).token
      #expect(try await patch(#"{"expireAt": "\#(Self.time(-1))"}"#).json(EditorialItem.self).state == .expired)
      let gone = try await server.get("/v1/" + path).json(Problem.self, status: 410)
      #expect(gone.reason == "expired")
      let changes = try await server.get("/v1/changes?since=\(token)").json(ChangeList.self).changes
      #expect(changes == [.remove(id: item.item.id, reason: .expired)])
      // An edit does not publish it again.
      #expect(try await patch(#"{"text": "y"}"#).json(EditorialItem.self).state == .expired)
      #expect(try await patch(#"{"expireAt": "\#(Self.time(3600))"}"#).json(EditorialItem.self).state == .published)
      #expect(try await server.get("/v1/" + path).json(NewsItem.self).text == "y")
      #expect(try await patch(#"{"expireAt": null}"#).json(EditorialItem.self).expireAt == nil)
    }
  }

  @Test("A creation is repeatable although the schedule has moved the item on")
  func repeatedCreation() async throws {
    try await TestServer.with { server in
      let time = Self.time(1)
      let body = #"{"id": "019a1111-0000-7000-8000-000000000001", "text": "x", "publishAt": "\#(time)"}"#
      #expect(try await server.write("POST", "items", body).json(EditorialItem.self, status: 201).state == .scheduled)
      #expect(try await server.write("POST", "items", body).json(EditorialItem.self, status: 200).state == .scheduled)
      try await eventually("it is published") {
        _ = try await server.store.applySchedule()
        return try await server.get("/v1/items").json(ItemList.self).items.count == 1
      }
      #expect(try await server.write("POST", "items", body).json(EditorialItem.self, status: 200).state == .published)
      let other = body.replacing("\"x\"", with: "\"y\"")
      #expect(try await server.write("POST", "items", other).status == 409)
    }
  }

  @Test("A key for drafts makes drafts, and changes nothing that readers see or will see")
  func draftKey() async throws {
    try await TestServer.with { server in
      let key = try await server.store.createKey(name: "intern", permissions: [.itemsWrite])
      func send(_ method: String, _ path: String, _ body: String?) async throws -> TestResponse {
        try await server.send(method, "/v1/editorial/" + path, key: key, headers: [("If-Match", "*")], body: body)
      }
      let draft = try await server.send(
        "POST", "/v1/editorial/items", key: key, body: #"{"text": "x", "publishAt": "\#(Self.time(3600))"}"#
      ).json(EditorialItem.self, status: 201)
      #expect(draft.state == .draft && draft.publishAt != nil)
      let path = Self.path(draft)
      #expect(try await send("PATCH", path, #"{"state": "review"}"#).json(EditorialItem.self).state == .review)
      #expect(
        try await send("PATCH", path, #"{"publishAt": "\#(Self.time(60))"}"#).json(EditorialItem.self).state == .review)
      for state in ["published", "scheduled"] {
        let refused = try await send("PATCH", path, #"{"state": "\#(state)", "publishAt": "\#(Self.time(3600))"}"#)
        #expect(try refused.json(Problem.self, status: 403).type == "/problems/forbidden")
        #expect(refused["WWW-Authenticate"]?.contains(#"scope="items:publish""#) == true)
      }
      let published = Self.path(try await server.publish("y"))
      for (method, body) in [("PATCH", #"{"text": "z"}"#), ("PUT", #"{"text": "z"}"#), ("DELETE", nil)] {
        #expect(try await send(method, published, body).status == 403, "\(method)")
      }
      #expect(try await server.get("/v1/" + published).json(NewsItem.self).text == "y")
      #expect(try await send("DELETE", path, nil).status == 204)
      #expect(try await server.get("/v1/" + path).status == 404)
    }
  }
}

/// Any JSON value.
private struct AnyJSON: Decodable {
  init(from decoder: any Decoder) throws {}
}
