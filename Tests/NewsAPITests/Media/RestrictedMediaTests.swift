import Foundation
import News
import NewsStore
import TestSupport
import Testing

/// Files, as a key that is restricted to topics sees them.
@Suite struct RestrictedMediaTests {
  @Test("A restricted key sees the files of its items and those that no item uses, and removes no file of other items")
  func files() async throws {
    try await MediaServer.with { media in
      let server = media.server
      try await server.makeTopics(["sport", "economy"])
      let key = try await server.store.createKey(
        name: "sports desk", permissions: [.itemsPublish, .mediaWrite], topics: ["sport"])
      func file(_ seed: UInt64) async throws -> String { try await media.stored(SampleMedia.png(seed: seed)) }
      func draft(_ topic: String, _ path: String) async throws -> UUID {
        let attachment = #"{"url": "\#(path)", "type": "image/png"}"#
        let fields = #""state": "draft", "topics": ["\#(topic)"], "attachments": [\#(attachment)]"#
        return try await media.item(fields).json(EditorialItem.self, status: 201).item.id
      }
      let (free, own, shared, other) = (
        try await file(1), try await file(2), try await file(3), try await file(4)
      )
      let drafts = [try await draft("sport", own), try await draft("sport", shared)]
      _ = try await draft("economy", shared)
      _ = try await draft("economy", other)

      func list(_ query: String) async throws -> [EditorialMedia] {
        try await server.send("GET", "/v1/editorial/media" + query, key: key).json(EditorialMediaList.self).items
      }
      #expect(Set(try await list("").map(\.attachment.url)) == [free, own, shared])
      #expect(try await list("?used=false").map(\.attachment.url) == [free])
      let used = try await list("?used=true")
      #expect(Set(used.map(\.attachment.url)) == [own, shared])
      #expect(Set(used.flatMap(\.uses)) == Set(drafts))

      // The pages mix files of both kinds.
      var (target, paged): (String?, [String]) = ("/v1/editorial/media?limit=1", [])
      while let page = target, paged.count < 9 {
        let response = try await server.send("GET", page, key: key)
        paged += try response.json(EditorialMediaList.self).items.map(\.attachment.url)
        target = response.next
      }
      #expect(paged == [shared, own, free])

      func send(_ method: String, _ path: String) async throws -> TestResponse {
        try await server.send(method, path.replacing("/v1/media/", with: "/v1/editorial/media/"), key: key)
      }
      for path in [free, own, shared] { #expect(try await send("GET", path).status == 200) }
      #expect(try await send("GET", other).status == 404)
      for path in [other, shared] {
        let refused = try await send("DELETE", path).json(Problem.self, status: 403)
        #expect(refused.type == "/problems/topic-not-allowed")
        #expect(refused.detail?.contains("economy") == true)
        #expect(try await media.preview(path).status == 200)
      }
      for path in [free, own] { #expect(try await send("DELETE", path).status == 204) }
    }
  }
}
