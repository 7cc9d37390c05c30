import Foundation
import MediaFiles
import News
import NewsAPI
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Files that are no longer available to readers.
@Suite struct TakeDownTests {
  private static let photo = SampleMedia.png(bytes: 2000)
  private static let bounded = "max-age=0, s-maxage=1"

  private static func attachment(_ url: String) -> String {
    #""attachments": [{"url": "\#(url)", "type": "image/png"}]"#
  }

  private static func path(_ item: EditorialItem) -> String {
    "/v1/editorial/items/\(item.item.id.uuidString.lowercased())"
  }

  private static func publish(_ fields: String, _ media: MediaServer) async throws -> EditorialItem {
    try await media.item(fields).json(EditorialItem.self, status: 201)
  }

  private static func change(_ item: EditorialItem, _ patch: String, _ media: MediaServer) async throws -> Int {
    try await media.server.send(
      "PATCH", path(item), key: media.key, headers: [("If-Match", "*")], body: patch
    ).status
  }

  private static func retract(_ item: EditorialItem, _ media: MediaServer) async throws {
    let response = try await media.server.send("DELETE", path(item), key: media.key, headers: [("If-Match", "*")])
    #expect(response.status == 204)
  }

  private static func remove(_ path: String, _ media: MediaServer) async throws -> TestResponse {
    try await media.server.send("DELETE", path.replacing("/v1/", with: "/v1/editorial/"), key: media.key)
  }

  @Test(
    "A file is 410 for any request once its only item is retracted, and caches may store that for one second")
  func retracted() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let item = try await Self.publish(Self.attachment(path), media)
      let tag = try #require(try await media.server.get(path)["ETag"])
      try await Self.retract(item, media)
      for headers in [[], [("If-None-Match", tag)], [("Range", "bytes=0-9")], [("Range", "bytes=99999-")]] {
        let response = try await media.server.send("GET", path, headers: headers)
        let problem = try response.json(Problem.self, status: 410)
        #expect((problem.type, problem.reason) == ("/problems/withdrawn", "retracted"))
        #expect(response["Cache-Control"] == Self.bounded)
        #expect(response["X-Request-Id"] == nil)
      }
      #expect(try await media.server.send("HEAD", path).status == 410)
      // A second server over the same database and folder has no outdated memory.
      let beside = try await media.server.beside({ $0.media = media.storage }) { other in
        try await other.get(path).status
      }
      #expect(beside == 410)
    }
  }

  @Test("A file stays available while one published item uses it, and becomes available again when another one does")
  func shared() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let one = try await Self.publish(Self.attachment(path), media)
      let two = try await Self.publish(#""html": "<p><a href=\"https://news.example\#(path)\">map</a></p>""#, media)
      try await Self.retract(one, media)
      #expect(try await media.server.get(path).status == 200)
      // Only a retracted item still uses the file.
      #expect(try await Self.change(two, #"{"html": null}"#, media) == 200)
      #expect(try await media.server.get(path).status == 410)
      // A draft does not make the file available.
      let draft = try await Self.publish(Self.attachment(path) + #", "state": "draft""#, media)
      #expect(try await media.server.get(path).status == 410)
      #expect(try await Self.change(draft, #"{"state": "published"}"#, media) == 200)
      #expect(try await media.server.get(path).status == 200)
      try await Self.retract(draft, media)
      #expect(try await media.server.get(path).status == 410)
      // Another upload does not restore the file.
      #expect(try await media.upload(Self.photo).json(Attachment.self).url == path)
      #expect(try await media.server.get(path).status == 410)
    }
  }

  @Test("A file of a draft or of no item is unknown to readers, and one of an item that expired by plain SQL is 410")
  func otherStates() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      #expect(try await media.server.get(path).status == 404)
      let item = try await Self.publish(Self.attachment(path) + #", "state": "draft""#, media)
      #expect(try await media.server.get(path).status == 404)
      #expect(try await Self.change(item, #"{"state": "published"}"#, media) == 200)
      let id = item.item.id
      try await media.server.sql.transaction { transaction in
        _ = try await transaction.query("UPDATE items SET state = 'expired' WHERE id = \(id)")
        _ = try await transaction.query("SELECT publish(ARRAY[\(id)])")
      }
      #expect(try await media.server.get(path).json(Problem.self, status: 410).reason == "expired")
    }
  }

  @Test("A removed file is 410 permanently; its bytes are deleted, and the same content gets another address")
  func removal() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let response = try await Self.remove(path, media)
      #expect(response.status == 204)
      #expect(response["Cache-Control"] == "private, no-store")
      let gone = try await media.server.get(path)
      #expect(try gone.json(Problem.self, status: 410).reason == "removed")
      #expect(gone["Cache-Control"] == Self.bounded)
      #expect(try names(in: media.folder).isEmpty)
      // A repeated removal succeeds. An unknown file is not found.
      #expect(try await Self.remove(path, media).status == 204)
      #expect(try await Self.remove("/v1/media/019a1111-0000-7000-8000-000000000000", media).status == 404)
      let other = try await media.stored(Self.photo)
      #expect(other != path)
      #expect(try await media.preview(other).body == Self.photo)
      #expect(try await media.server.get(path).status == 410)
    }
  }

  @Test("A file that a published item uses is not removed: 409 names the rule and the items")
  func removalRefused() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let item = try await Self.publish(Self.attachment(path), media)
      let problem = try await Self.remove(path, media).json(Problem.self, status: 409)
      #expect(problem.type == "/problems/media-in-use")
      #expect(problem.detail?.contains(item.item.id.uuidString.lowercased()) == true)
      #expect(try await media.server.get(path).status == 200)
      try await Self.retract(item, media)
      #expect(try await Self.remove(path, media).status == 204)
      #expect(try await media.server.get(path).json(Problem.self, status: 410).reason == "removed")
    }
  }

  @Test("Of many published items with a file, the refusal of its removal names the ten newest")
  func manyUses() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      var ids: [String] = []
      for _ in 0..<11 {
        ids.append(try await Self.publish(Self.attachment(path), media).item.id.uuidString.lowercased())
      }
      ids.sort()
      let detail = try #require(try await Self.remove(path, media).json(Problem.self, status: 409).detail)
      #expect(ids.map { detail.contains($0) } == [false] + Array(repeating: true, count: 10))
    }
  }

  @Test("A draft with a removed file cannot be published until it no longer names the file")
  func draftLosesFile() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let draft = try await Self.publish(Self.attachment(path) + #", "state": "draft""#, media)
      #expect(try await Self.remove(path, media).status == 204)
      #expect(try await Self.change(draft, #"{"state": "published"}"#, media) == 422)
      #expect(try await Self.change(draft, #"{"state": "published", "attachments": []}"#, media) == 200)
    }
  }

  @Test("If one of two addresses of the same bytes is removed, the other one keeps them")
  func sharedBytes() async throws {
    try await MediaServer.with { media in
      let file = Data([0, 0, 0, 16] + Array("ftypisom0000mdat".utf8))
      let film = try await media.stored(file, type: "video/mp4")
      let sound = try await media.stored(file, type: "audio/mp4")
      #expect(try await Self.remove(film, media).status == 204)
      #expect(try await media.preview(sound).body == file)
      #expect(try await media.server.get(film).status == 410)
    }
  }

  @Test("A writer that publishes an item during the removal of its file waits, and is refused with the field's name")
  func removalBeforeWriter() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let draft = try await Self.publish(Self.attachment(path) + #", "state": "draft""#, media)
      let id = try #require(UUID(uuidString: String(path.suffix(36))))
      let writing = try await media.server.sql.transaction { transaction in
        _ = try await transaction.query("SELECT 1 FROM media WHERE id = \(id) FOR UPDATE")
        let writing = Task { try await Self.change(draft, #"{"state": "published"}"#, media) }
        try await Self.waitForLock(media)
        _ = try await transaction.query("DELETE FROM media_uses WHERE media = \(id)")
        _ = try await transaction.query("DELETE FROM media WHERE id = \(id)")
        return writing
      }
      #expect(try await writing.value == 422)
      #expect(try await media.server.get("/v1/items").json(ItemList.self).items.isEmpty)
    }
  }

  @Test("A removal during the publication of an item with the file waits, and is refused")
  func writerBeforeRemoval() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let draft = try await Self.publish(Self.attachment(path) + #", "state": "draft""#, media)
      let id = draft.item.id
      let removing = try await media.server.sql.transaction { transaction in
        _ = try await transaction.query("UPDATE items SET state = 'published' WHERE id = \(id)")
        let removing = Task { try await Self.remove(path, media).status }
        try await Self.waitForLock(media)
        _ = try await transaction.query("SELECT publish(ARRAY[\(id)])")
        return removing
      }
      #expect(try await removing.value == 409)
      #expect(try await media.server.get(path).status == 200)
    }
  }

  @Test("If one of two items with a file is retracted while the other is published, readers can get the file")
  func retractionBesidePublication() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let old = try await Self.publish(Self.attachment(path), media)
      let new = try await Self.publish(Self.attachment(path) + #", "state": "draft""#, media)
      let id = new.item.id
      let retracting = try await media.server.sql.transaction { transaction in
        _ = try await transaction.query("UPDATE items SET state = 'published' WHERE id = \(id)")
        let retracting = Task { try await Self.retract(old, media) }
        try await Self.waitForLock(media)
        _ = try await transaction.query("SELECT publish(ARRAY[\(id)])")
        return retracting
      }
      try await retracting.value
      #expect(try await media.server.get(path).status == 200)
    }
  }

  @Test(
    "Concurrent uploads, removals and collections of the same content leave no address without its bytes",
    arguments: [1, 2, 3])
  func uploadsBesideRemovals(round: Int) async throws {
    try await MediaServer.with { media in
      let file = SampleMedia.png(bytes: 5000, seed: UInt64(round))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            for _ in 0..<10 {
              let stored = try await media.upload(file)
              #expect([200, 201].contains(stored.status))
              let url = try stored.json(Attachment.self, status: stored.status).url
              let response = try await media.preview(url)
              #expect(
                response.status == 200 && response.body == file || response.status == 410 || response.status == 404)
            }
          }
        }
        group.addTask {
          for _ in 0..<20 {
            let known = try await media.server.sql.query("SELECT id FROM media")
            for row in known {
              let id: UUID = try row.decode("id")
              #expect(try await Self.remove("/v1/media/\(id.uuidString.lowercased())", media).status == 204)
            }
          }
        }
        group.addTask {
          for _ in 0..<10 { _ = try await media.library.collect(unusedFor: .seconds(3600)) }
        }
        try await group.waitForAll()
      }
      let uploaded = try await media.upload(file)
      let last = try uploaded.json(Attachment.self, status: uploaded.status).url
      #expect(try await media.preview(last).body == file)
    }
  }

  private static func waitForLock(_ media: MediaServer) async throws {
    try await eventually("a session waits for a lock") {
      let waiting: PostgresQuery = """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
        """
      return try await media.server.sql.query(waiting).first?.decode(0, as: Int.self) == 1
    }
  }
}
