import Foundation
import News
import NewsAPI
import NewsStore
import TestKit
import TestSupport
import Testing

@Suite struct ConditionalRequestTests {
  private static let publicPaths = ["/v1/items", "/v1/changes", "/v1/state", "/v1/topics", "/openapi.yaml"]

  @Test(
    "A repeated request for any resource gets a 304 without a body, with the fields that caches need",
    arguments: publicPaths)
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

  @Test("A 304 for an item, a topic or a file repeats the fields of the 200 that caches and browsers need")
  func notModifiedResources() async throws {
    try await MediaServer.with { media in
      let server = media.server
      try await server.makeTopics(["city"])
      let item = try await server.publish("x", topics: ["city"])
      let path = "/v1/items/\(item.item.id)"
      try await eventually("there is a date") { try await server.get(path)["Last-Modified"] != nil }
      for path in [path, "/v1/topics/city", try await media.published(SampleMedia.png())] {
        let first = try await server.get(path)
        let tag = try #require(first["ETag"])
        #expect((first["Last-Modified"] == nil) == path.contains("topics"), "\(path)")
        let second = try await server.get(path, ("If-None-Match", tag))
        #expect(second.status == 304)
        #expect(second.body.isEmpty)
        for name in [
          "ETag", "Cache-Control", "Last-Modified", "Vary", "Access-Control-Allow-Origin",
          "Access-Control-Expose-Headers",
        ] {
          #expect(second[name] == first[name], "\(path), \(name)")
        }
        #expect(second["Access-Control-Allow-Origin"] == "*")
        #expect(second["Content-Type"] == nil)
      }
      let editorial = "/v1/editorial/items/\(item.item.id)"
      let known = try await server.send(
        "GET", editorial, key: server.key, headers: [("If-None-Match", "\"r1\"")])
      #expect((known.status, known["ETag"], known["Cache-Control"]) == (304, "\"r1\"", "private, no-store"))
    }
  }

  @Test(
    "Every form of If-None-Match that contains the entity tag matches",
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

  @Test("HEAD returns the header of GET, including the length, without the body", arguments: publicPaths)
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

  @Test("The entity tag of a page changes with its content only, not with edits off the page or edits without effect")
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

  @Test("Responses of 1 KiB or more are compressed for clients that accept it, with a separate entity tag")
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
      // Either tag is valid for either variant.
      #expect(try await server.get("/v1/items", ("If-None-Match", packedTag)).status == 304)
      let crossed = try await server.get("/v1/items", ("If-None-Match", tag), ("Accept-Encoding", "gzip"))
      #expect(crossed.status == 304)
      #expect(crossed["ETag"] == packedTag)
      #expect(try await server.get("/v1/items", ("Accept-Encoding", "gzip;q=0"))["Content-Encoding"] == nil)
      #expect(try await server.get("/v1/state", ("Accept-Encoding", "gzip"))["Content-Encoding"] == nil)
    }
  }

  @Test("Last-Modified appears once its second is over, and If-Modified-Since is honoured from then on")
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
      // `If-None-Match` takes precedence if both fields are sent (RFC 9110 section 13.2.2).
      #expect(try await server.get(path, ("If-Modified-Since", value), ("If-None-Match", "\"x\"")).status == 200)
      #expect(try await server.get(path, ("If-Match", "\"x\"")).status == 412)
      #expect(try await server.get(path, ("If-Unmodified-Since", "Thu, 01 Jan 2015 00:00:00 GMT")).status == 412)
    }
  }

  @Test("Last-Modified is omitted until its second is over by the database's clock")
  func dateOfThePresentSecond() {
    let start = ContinuousClock.now
    let date = Date(timeIntervalSince1970: 1_767_225_600.2)
    let modified = LastModified(date, DatabaseInstant(date + 0.1, at: start))
    #expect(modified.value(at: start) == nil)
    #expect(modified.value(at: start + .milliseconds(650)) == nil)
    #expect(modified.value(at: start + .milliseconds(750)) == date)
    #expect(LastModified(date, DatabaseInstant(date + 0.8, at: start)).value(at: start) == date)
    // The current clock may be behind the clock that dated the item.
    #expect(LastModified(date, DatabaseInstant(date - 3, at: start)).value(at: start + .seconds(3)) == nil)
    // The local clock, which provides `Date`, may be behind the database's clock (RFC 9110 section 8.8.2.1).
    let past = LastModified(date, DatabaseInstant(date + 9, at: start))
    #expect(past.value(at: start, by: date - 1) == nil)
    #expect(past.value(at: start, by: date + 0.7) == nil)
    #expect(past.value(at: start, by: date + 0.9) == date)
  }

  @Test(
    "The first item beyond a full page changes its entity tag and date, because the page gets a link to the next one")
  func tagCoversTheLink() async throws {
    try await TestServer.with { server in
      for day in 10..<12 { _ = try await server.publish("x", date: "2026-01-\(day)T00:00:00Z") }
      for target in ["/v1/items?limit=2", "/v1/items?limit=1&from=2026-01-11T00:00:00Z"] {
        var dated: TestResponse?
        try await eventually("the date is shown") {
          dated = try await server.get(target)
          return dated?["Last-Modified"] != nil
        }
        let before = try #require(dated)
        #expect(before["Link"] == nil)
        let date = target.contains("from") ? "2026-01-11T00:00:00Z" : "2026-01-02T00:00:00Z"
        // Among items of the same date, the later id comes first.
        let id = "00000000-0000-4000-8000-000000000001"
        let body =
          target.contains("from")
          ? #"{"id": "\#(id)", "date": "\#(date)", "text": "older"}"# : #"{"date": "\#(date)", "text": "older"}"#
        _ = try await server.write("POST", "items", body).json(EditorialItem.self, status: 201)
        let after = try await server.get(target, ("If-None-Match", try #require(before["ETag"])))
        #expect(after.status == 200, "\(target)")
        #expect(after["Link"] != nil)
        #expect(after.body == before.body)
        try await eventually("the date has changed") {
          let date = try await server.get(target)["Last-Modified"]
          return date != nil && date != before["Last-Modified"]
        }
      }
    }
  }

  @Test(
    "A shared cache may serve a response for ten seconds, or for its configured maximum age if that is longer",
    arguments: [(1, 9), (3, 7), (10, 0), (60, 0)])
  func sharedCaching(seconds: Int, revalidating: Int) async throws {
    try await TestServer.with(settings: { $0.sharedMaxAge = seconds }) { server in
      let expected =
        "max-age=0, s-maxage=\(seconds), stale-while-revalidate=\(revalidating), stale-if-error=300"
      for _ in 0..<2 {
        let answer = try await server.get("/v1/items")
        #expect(answer["Cache-Control"] == expected)
      }
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

  @Test("A browser on another site may read responses, including the fields that it needs")
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
