import Foundation
import MediaFiles
import News
import NewsAPI
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct MediaTests {
  private static let photo = SampleMedia.png(bytes: 300_000)

  @Test("A file has the fields that a client needs to cache it, verify it and resume its download")
  func whole() async throws {
    try await MediaServer.with { media in
      let path = try await media.published(Self.photo)
      let response = try await media.server.get(path)
      #expect(response.status == 200)
      #expect(response.body == Self.photo)
      #expect(response["Content-Type"] == "image/png")
      #expect(response["Content-Length"] == "300000")
      #expect(response["Accept-Ranges"] == "bytes")
      #expect(response["Repr-Digest"] == Self.photo.digestField)
      #expect(response["X-Content-Type-Options"] == "nosniff")
      #expect(response["Content-Disposition"] == "inline")
      #expect(response["Cache-Control"] == "max-age=3600, s-maxage=1, stale-while-revalidate=9, stale-if-error=300")
      #expect(response["Access-Control-Allow-Origin"] == "*")
      #expect(response["X-Request-Id"] == nil)
      #expect(response["ETag"]?.hasPrefix("\"") == true)
    }
  }

  @Test("HEAD returns the header of GET and ignores ranges")
  func head() async throws {
    try await MediaServer.with { media in
      let path = try await media.published(Self.photo)
      let got = try await media.server.get(path)
      let head = try await media.server.send("HEAD", path, headers: [("Range", "bytes=0-9")])
      #expect(head.status == 200)
      #expect(head.body.isEmpty)
      let volatile = ["date", "connection"]
      let fields = { (response: TestResponse) in
        Set(
          response.headers.filter { !volatile.contains($0.name.lowercased()) }.map {
            "\($0.name.lowercased()): \($0.value)"
          })
      }
      #expect(fields(head) == fields(got))
    }
  }

  @Test(
    "A range is sent with its position and the digest of the whole file",
    arguments: [
      ("bytes=0-9", 0..<10), ("bytes=299990-", 299_990..<300_000), ("bytes=-1", 299_999..<300_000),
      ("bytes=1000-999999999999999999999", 1000..<300_000), ("bytes=0-", 0..<300_000),
    ])
  func range(field: String, range: Range<Int>) async throws {
    try await MediaServer.with { media in
      let path = try await media.published(Self.photo)
      let response = try await media.server.get(path, ("Range", field))
      #expect(response.status == 206)
      #expect(response.body == Self.photo[range])
      #expect(response["Content-Range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/300000")
      #expect(response["Repr-Digest"] == Self.photo.digestField)
    }
  }

  @Test(
    "The whole file is sent for anything but a single valid range",
    arguments: ["bytes=0-9,20-29", "bytes=9-0", "lines=1-2", "bytes=", "bytes=a-b"])
  func ignored(field: String) async throws {
    try await MediaServer.with { media in
      let path = try await media.published(Self.photo)
      let response = try await media.server.get(path, ("Range", field))
      #expect(response.status == 200)
      #expect(response.body == Self.photo)
    }
  }

  @Test(
    "A range beyond the end is refused with a problem that contains the length",
    arguments: ["bytes=300000-", "bytes=-0"])
  func unsatisfiable(field: String) async throws {
    try await MediaServer.with { media in
      let path = try await media.published(Self.photo)
      let response = try await media.server.get(path, ("Range", field))
      #expect(response.status == 416)
      #expect(response["Content-Range"] == "bytes */300000")
    }
  }

  @Test("If-Range: a part is sent only if the client has the beginning of the same file")
  func ifRange() async throws {
    try await MediaServer.with { media in
      let path = try await media.published(Self.photo)
      let whole = try await media.server.get(path)
      let (tag, date) = (try #require(whole["ETag"]), try #require(whole["Last-Modified"]))
      for validator in [tag, date] {
        let part = try await media.server.get(path, ("Range", "bytes=5-"), ("If-Range", validator))
        #expect(part.status == 206)
      }
      for validator in ["\"other\"", "W/" + tag, "Sat, 14 Nov 2020 06:30:00 GMT", "x"] {
        let response = try await media.server.get(path, ("Range", "bytes=999999-"), ("If-Range", validator))
        #expect(response.status == 200)
      }
    }
  }

  @Test("A client that has the file gets 304; conditions take precedence over ranges")
  func conditions() async throws {
    try await MediaServer.with { media in
      let path = try await media.published(Self.photo)
      _ = try await media.server.sql.query("UPDATE media SET created_at = '2026-01-02 03:04:05Z'")
      let whole = try await media.server.get(path)
      #expect(whole["Last-Modified"] == "Fri, 02 Jan 2026 03:04:05 GMT")
      let tag = try #require(whole["ETag"])
      let known = try await media.server.get(path, ("If-None-Match", "W/" + tag), ("Range", "bytes=0-1"))
      #expect(known.status == 304)
      #expect(known["ETag"] == tag)
      for (second, status) in [("04", 200), ("05", 304)] {
        let since = try await media.server.get(path, ("If-Modified-Since", "Fri, 02 Jan 2026 03:04:\(second) GMT"))
        #expect(since.status == status)
      }
      #expect(try await media.server.get(path, ("If-Match", "\"other\""), ("Range", "bytes=0-1")).status == 412)
    }
  }

  @Test(
    "Unknown files are not found",
    arguments: ["019a1111-0000-7000-8000-000000000000", "x", "..%2f..%2fetc%2fpasswd"])
  func missing(name: String) async throws {
    try await MediaServer.with { media in
      let response = try await media.server.get("/v1/media/\(name)")
      #expect(response.status == 404)
      #expect(response["Cache-Control"] == "max-age=0, s-maxage=1")
      let head = try await media.server.send("HEAD", "/v1/media/\(name)")
      #expect(head.status == 404)
    }
  }

  @Test(
    "A missing or shortened file with an existing row is a server error that reveals no path", arguments: [nil, 1000])
  func lost(bytes: Int?) async throws {
    try await MediaServer.with { media in
      let path = try await media.published(Self.photo)
      let file = media.folder.appending(path: Self.photo.sha256)
      try FileManager.default.removeItem(at: file)
      if let bytes { try Self.photo.prefix(bytes).write(to: file) }
      let response = try await media.server.get(path)
      #expect(response.status == 500)
      #expect(!response.text.contains(media.folder.path))
    }
  }

  @Test("Files and other responses on a connection follow the order of the requests")
  func pipelining() async throws {
    try await MediaServer.with { media in
      let path = try await media.published(Self.photo)
      let requests = [path, "/v1/items", path, "/healthz", path, "/nowhere"].map { target in
        "GET \(target) HTTP/1.1\r\nHost: a\r\n\(target == path ? "Range: bytes=100000-299999\r\n" : "")\r\n"
      }
      let responses = try await RawConnection.exchange(requests.joined(), port: media.server.port)
      #expect(responses.map(\.status) == [206, 200, 206, 200, 206, 404])
      for index in [0, 2, 4] { #expect(responses[index].body == Self.photo[100_000...]) }
    }
  }

  @Test("A response to HTTP/1.0 is complete and ends the connection")
  func oldClient() async throws {
    try await MediaServer.with { media in
      let path = try await media.published(Self.photo)
      let responses = try await RawConnection.exchange(
        "GET \(path) HTTP/1.0\r\n\r\n", port: media.server.port, endsInput: false)
      #expect(responses.map(\.status) == [200])
      #expect(responses[0].body == Self.photo)
    }
  }

  @Test("A download that began before the removal of its file completes")
  func removedWhileRead() async throws {
    try await MediaServer.with { media in
      // More than the socket buffers hold.
      let film = Data([0, 0, 0, 16] + Array("ftypisom0000".utf8)) + SampleMedia.png(bytes: 24 << 20)
      let path = try await media.stored(film, type: "video/mp4")
      let item = try await media.item(#""attachments": [{"url": "\#(path)", "type": "video/mp4"}]"#)
        .json(EditorialItem.self, status: 201)
      let (begun, isReading) = AsyncStream.makeStream(of: Void.self)
      let (removed, isRemoved) = AsyncStream.makeStream(of: Void.self)
      let request = Data("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
      let reading = Task {
        let wait = DispatchSemaphore(value: 0)
        Task {
          for await _ in removed {}
          wait.signal()
        }
        return try await RawConnection.exchange([request], port: media.server.port, receiveBuffer: 1 << 18) {
          isReading.finish()
          wait.wait()
        }
      }
      for await _ in begun {}
      try await eventually("the response has begun") {
        try await media.server.send("GET", "/metrics").text.contains(
          #"route="/v1/media/{id}",method="GET",status="200""#)
      }
      let id = item.item.id.uuidString.lowercased()
      let released = try await media.server.send(
        "PATCH", "/v1/editorial/items/\(id)", key: media.key, headers: [("If-Match", "*")],
        body: #"{"attachments": []}"#)
      #expect(released.status == 200)
      #expect(try await media.library.collect(unusedFor: .seconds(-10)).files == 1)
      #expect(try names(in: media.folder).isEmpty)
      #expect(try await media.server.get(path).status == 404)
      isRemoved.finish()
      let responses = try await reading.value
      #expect(responses.map(\.status) == [200])
      #expect(responses[0].body == film)
    }
  }
}
