import Foundation
import News
import TestSupport
import Testing

@Suite struct ConditionalRequestTests {
  private static let publicPaths = ["/v1/items", "/v1/changes", "/v1/state", "/v1/topics", "/openapi.yaml"]

  @Test(
    "The second request of each resource is a 304 without a body that repeats what caches need", arguments: publicPaths)
  func notModified(path: String) async throws {
    try await TestServer.with { server in
      _ = try await server.publish("x")
      let first = try await server.get(path)
      #expect(first.status == 200)
      let tag = try #require(first["ETag"])
      let second = try await server.get(path, ("If-None-Match", tag))
      #expect(second.status == 304)
      #expect(second.body.isEmpty)
      for name in ["ETag", "Cache-Control", "Vary", "Sync-Token", "Access-Control-Allow-Origin"] {
        #expect(second[name] == first[name], "\(name)")
      }
      #expect(second["Date"] != nil)
      #expect(second["X-Request-Id"] == nil)
      #expect(second["Content-Type"] == nil)
    }
  }

  @Test(
    "Every form of If-None-Match that names the tag is understood",
    arguments: [
      ("T", 304), ("W/T", 304), ("\"a,b\", T", 304), ("\"x\" , W/T", 304), ("*", 304), ("\"x\"", 200), ("x", 200),
      ("T-gz", 304),
    ])
  func formsOfIfNoneMatch(form: String, status: Int) async throws {
    try await TestServer.with { server in
      _ = try await server.publish("x")
      let tag = try #require(try await server.get("/v1/items")["ETag"])
      let field =
        form == "T-gz" ? String(tag.dropLast()) + "-gz\"" : form.replacing("T", with: tag)
      #expect(try await server.get("/v1/items", ("If-None-Match", field)).status == status)
    }
  }

  @Test("HEAD answers the header of GET, with the length and without the body", arguments: publicPaths)
  func head(path: String) async throws {
    try await TestServer.with { server in
      _ = try await server.publish("x")
      let get = try await server.get(path)
      let head = try await server.send("HEAD", path)
      #expect(head.status == 200)
      #expect(head.body.isEmpty)
      let names = ["ETag", "Cache-Control", "Vary", "Content-Type", "Content-Length", "Sync-Token", "Link"]
      for name in names { #expect(head[name] == get[name], "\(name)") }
      let conditional = try await server.send(
        "HEAD", path, headers: [("If-None-Match", try #require(get["ETag"]))])
      #expect(conditional.status == 304)
    }
  }

  @Test("A tag changes with its page only: edits off the page and edits that change nothing leave it")
  func tagsFollowContent() async throws {
    try await TestServer.with { server in
      let old = try await server.publish("old", date: "2026-01-01T00:00:00Z")
      let new = try await server.publish("new", date: "2026-01-02T00:00:00Z")
      let tag = try #require(try await server.get("/v1/items?limit=1")["ETag"])
      func status() async throws -> Int {
        try await server.get("/v1/items?limit=1", ("If-None-Match", tag)).status
      }
      _ = try await server.write("PATCH", "items/\(old.item.id)", #"{"text": "older"}"#, ("If-Match", "*"))
      #expect(try await status() == 304)
      _ = try await server.write("PATCH", "items/\(new.item.id)", #"{"text": "new"}"#, ("If-Match", "*"))
      #expect(try await status() == 304)
      _ = try await server.write("PATCH", "items/\(new.item.id)", #"{"text": "newer"}"#, ("If-Match", "*"))
      #expect(try await status() == 200)
    }
  }

  @Test("Answers of 1 KiB and more are compressed for those who accept it, under a tag of their own")
  func gzip() async throws {
    try await TestServer.with { server in
      _ = try await server.publish(String(repeating: "compressible ", count: 200))
      let plain = try await server.get("/v1/items")
      let packed = try await server.get("/v1/items", ("Accept-Encoding", "gzip"))
      #expect(packed["Content-Encoding"] == "gzip")
      #expect(packed.body.count < plain.body.count)
      #expect(try packed.body.gunzipped() == plain.body)
      let (tag, packedTag) = (try #require(plain["ETag"]), try #require(packed["ETag"]))
      #expect(packedTag == String(tag.dropLast()) + "-gz\"")
      #expect(packedTag.utf8.count <= 60)
      #expect(plain["Vary"] == "Accept-Encoding")
      #expect(packed["Vary"] == "Accept-Encoding")
      // Either tag holds for either variant.
      #expect(try await server.get("/v1/items", ("If-None-Match", packedTag)).status == 304)
      let crossed = try await server.get("/v1/items", ("If-None-Match", tag), ("Accept-Encoding", "gzip"))
      #expect(crossed.status == 304)
      #expect(crossed["ETag"] == packedTag)
      #expect(try await server.get("/v1/items", ("Accept-Encoding", "gzip;q=0"))["Content-Encoding"] == nil)
      #expect(try await server.get("/v1/state", ("Accept-Encoding", "gzip"))["Content-Encoding"] == nil)
    }
  }

  @Test("Last-Modified appears once its second is over, and If-Modified-Since is then honoured")
  func lastModified() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("x")
      let path = "/v1/items/\(item.item.id)"
      var date: String?
      while date == nil {
        try await Task.sleep(for: .milliseconds(50))
        date = try await server.get(path)["Last-Modified"]
      }
      let value = try #require(date)
      #expect(try await server.get(path, ("If-Modified-Since", value)).status == 304)
      #expect(try await server.get(path, ("If-Modified-Since", "Thu, 01 Jan 2015 00:00:00 GMT")).status == 200)
      #expect(try await server.get(path, ("If-Modified-Since", "yesterday")).status == 200)
      // If-None-Match decides alone where both are sent (RFC 9110 section 13.2.2).
      #expect(try await server.get(path, ("If-Modified-Since", value), ("If-None-Match", "\"x\"")).status == 200)
      #expect(try await server.get(path, ("If-Match", "\"x\"")).status == 412)
      #expect(try await server.get(path, ("If-Unmodified-Since", "Thu, 01 Jan 2015 00:00:00 GMT")).status == 412)
    }
  }

  @Test("A public read ignores credentials and sets no cookie")
  func publicReadsAreTheSameForAll() async throws {
    try await TestServer.with { server in
      let answer = try await server.get("/v1/items", ("Authorization", "Bearer nonsense"), ("Cookie", "a=b"))
      #expect(answer.status == 200)
      #expect(answer["Set-Cookie"] == nil)
      #expect(answer["Vary"] == "Accept-Encoding")
    }
  }

  @Test("A browser on another site may read, and sees the fields it needs")
  func crossOrigin() async throws {
    try await TestServer.with { server in
      let preflight = try await server.send(
        "OPTIONS", "/v1/items",
        headers: [("Origin", "https://example.org"), ("Access-Control-Request-Method", "GET")])
      #expect(preflight.status == 204)
      #expect(preflight["Access-Control-Allow-Origin"] == "*")
      #expect(preflight["Access-Control-Allow-Headers"]?.contains("If-None-Match") == true)
      for target in ["/v1/items", "/v1/items?limit=0", "/v1/items/x", "/v1/changes?since=1aaaaaabbbbb.1"] {
        let answer = try await server.get(target, ("Origin", "https://example.org"))
        #expect(answer["Access-Control-Allow-Origin"] == "*", "\(target)")
        #expect(answer["Access-Control-Expose-Headers"] == "*")
      }
    }
  }
}
