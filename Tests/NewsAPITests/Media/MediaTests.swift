import Foundation
import MediaFiles
import News
import NewsAPI
import TestSupport
import TestKit
import Testing

@Suite struct MediaTests {
  private static let photo = SampleMedia.png(bytes: 300_000)

  @Test("A file comes with all that a client needs to keep it, check it and go on with it")
  func whole() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let answer = try await media.server.get(path)
      #expect(answer.status == 200)
      #expect(answer.body == Self.photo)
      #expect(answer["Content-Type"] == "image/png")
      #expect(answer["Content-Length"] == "300000")
      #expect(answer["Accept-Ranges"] == "bytes")
      #expect(answer["Repr-Digest"] == Self.photo.digestField)
      #expect(answer["X-Content-Type-Options"] == "nosniff")
      #expect(answer["Content-Disposition"] == "inline")
      #expect(answer["Cache-Control"] == "max-age=3600, s-maxage=1, stale-while-revalidate=9, stale-if-error=300")
      #expect(answer["Access-Control-Allow-Origin"] == "*")
      #expect(answer["X-Request-Id"] == nil)
      #expect(answer["ETag"]?.hasPrefix("\"") == true)
    }
  }

  @Test("HEAD says what GET would, and ignores ranges")
  func head() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let got = try await media.server.get(path)
      let head = try await media.server.send("HEAD", path, headers: [("Range", "bytes=0-9")])
      #expect(head.status == 200)
      #expect(head.body.isEmpty)
      let volatile = ["date", "connection"]
      let fields = { (answer: TestResponse) in
        Set(
          answer.headers.filter { !volatile.contains($0.name.lowercased()) }.map {
            "\($0.name.lowercased()): \($0.value)"
          })
      }
      #expect(fields(head) == fields(got))
    }
  }

  @Test(
    "A range is sent alone, with its place and the digest of the whole",
    arguments: [
      ("bytes=0-9", 0..<10), ("bytes=299990-", 299_990..<300_000), ("bytes=-1", 299_999..<300_000),
      ("bytes=1000-999999999999999999999", 1000..<300_000), ("bytes=0-", 0..<300_000),
    ])
  func range(field: String, range: Range<Int>) async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let answer = try await media.server.get(path, ("Range", field))
      #expect(answer.status == 206)
      #expect(answer.body == Self.photo[range])
      #expect(answer["Content-Range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/300000")
      #expect(answer["Repr-Digest"] == Self.photo.digestField)
    }
  }

  @Test(
    "What is no single range that can be sent is answered with the whole",
    arguments: ["bytes=0-9,20-29", "bytes=9-0", "lines=1-2", "bytes=", "bytes=a-b"])
  func ignored(field: String) async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let answer = try await media.server.get(path, ("Range", field))
      #expect(answer.status == 200)
      #expect(answer.body == Self.photo)
    }
  }

  @Test("A range beyond the end is a problem that tells the length", arguments: ["bytes=300000-", "bytes=-0"])
  func unsatisfiable(field: String) async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let answer = try await media.server.get(path, ("Range", field))
      #expect(answer.status == 416)
      #expect(answer["Content-Range"] == "bytes */300000")
    }
  }

  @Test("A part is sent only of the file that the client has the beginning of")
  func ifRange() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let whole = try await media.server.get(path)
      let (tag, date) = (try #require(whole["ETag"]), try #require(whole["Last-Modified"]))
      for validator in [tag, date] {
        let part = try await media.server.get(path, ("Range", "bytes=5-"), ("If-Range", validator))
        #expect(part.status == 206)
      }
      for validator in ["\"other\"", "W/" + tag, "Sat, 14 Nov 2020 06:30:00 GMT", "x"] {
        let answer = try await media.server.get(path, ("Range", "bytes=999999-"), ("If-Range", validator))
        #expect(answer.status == 200)
      }
    }
  }

  @Test("Who has the file is told so; conditions go before ranges")
  func conditions() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let whole = try await media.server.get(path)
      let tag = try #require(whole["ETag"])
      let known = try await media.server.get(path, ("If-None-Match", "W/" + tag), ("Range", "bytes=0-1"))
      #expect(known.status == 304)
      #expect(known["ETag"] == tag)
      let since = try await media.server.get(path, ("If-Modified-Since", try #require(whole["Last-Modified"])))
      #expect(since.status == 304)
      #expect(try await media.server.get(path, ("If-Match", "\"other\""), ("Range", "bytes=0-1")).status == 412)
    }
  }

  @Test(
    "Where there is no file it says so",
    arguments: ["019a1111-0000-7000-8000-000000000000", "x", "..%2f..%2fetc%2fpasswd"])
  func missing(name: String) async throws {
    try await MediaServer.with { media in
      let answer = try await media.server.get("/v1/media/\(name)")
      #expect(answer.status == 404)
      #expect(answer["Cache-Control"] == "max-age=0, s-maxage=1")
      let head = try await media.server.send("HEAD", "/v1/media/\(name)")
      #expect(head.status == 404)
    }
  }

  @Test("A file that is gone from under its row is a fault of the server, which shows no path")
  func lost() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      try FileManager.default.removeItem(at: media.folder.appending(path: Self.photo.sha256))
      let answer = try await media.server.get(path)
      #expect(answer.status == 500)
      #expect(!answer.text.contains(media.folder.path))
    }
  }

  @Test("Answers follow each other on a connection in the order of the requests, files and others")
  func pipelining() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let requests = [path, "/v1/items", path, "/healthz", path, "/nowhere"].map { target in
        "GET \(target) HTTP/1.1\r\nHost: a\r\n\(target == path ? "Range: bytes=100000-299999\r\n" : "")\r\n"
      }
      let answers = try await RawConnection.exchange(requests.joined(), port: media.server.port)
      #expect(answers.map(\.status) == [206, 200, 206, 200, 206, 404])
      for index in [0, 2, 4] { #expect(answers[index].body == Self.photo[100_000...]) }
    }
  }

  @Test("An answer to HTTP/1.0 ends with the connection, and is whole")
  func oldClient() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let answers = try await RawConnection.exchange(
        "GET \(path) HTTP/1.0\r\n\r\n", port: media.server.port, endsInput: false)
      #expect(answers.map(\.status) == [200])
      #expect(answers[0].body == Self.photo)
    }
  }

  @Test("Who reads a file while it is removed gets all of it")
  func removedWhileRead() async throws {
    try await MediaServer.with { media in
      // More than the socket buffers hold.
      let film = Data([0, 0, 0, 16] + Array("ftypisom0000".utf8)) + SampleMedia.png(bytes: 24 << 20)
      let path = try await media.stored(film, type: "video/mp4")
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
      try await eventually("the answer has begun") {
        try await media.server.send("GET", "/metrics").text.contains(
          #"route="/v1/media/{id}",method="GET",status="200""#)
      }
      #expect(try await media.library.collect(unusedFor: .seconds(-10)) == 1)
      #expect(try names(in: media.folder).isEmpty)
      #expect(try await media.server.get(path).status == 404)
      isRemoved.finish()
      let answers = try await reading.value
      #expect(answers.map(\.status) == [200])
      #expect(answers[0].body == film)
    }
  }
}
