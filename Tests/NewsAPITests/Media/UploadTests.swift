import Foundation
import HTTPEdge
import MediaFiles
import NIOCore
import News
import NewsAPI
import NewsStore
import TestKit
import TestSupport
import Testing

@Suite struct UploadTests {
  private static let photo = SampleMedia.png(bytes: 700_000)

  @Test("An upload returns an attachment, and the file can be read")
  func upload() async throws {
    try await MediaServer.with { media in
      let response = try await media.upload(Self.photo, ("Content-Disposition", "attachment; filename=\"a b.png\""))
      let attachment = try response.json(Attachment.self, status: 201)
      #expect(attachment.type == "image/png")
      #expect(attachment.bytes == 700_000)
      #expect([attachment.width, attachment.height] == [640, 480])
      #expect(attachment.sha256 == Self.photo.sha256)
      #expect(response["Location"] == attachment.url)
      #expect(response["Cache-Control"] == "private, no-store")
      let found = try await media.preview(attachment.url)
      #expect(found.status == 200)
      #expect(found.body == Self.photo)
      #expect(found["Content-Disposition"] == "inline; filename=\"a b.png\"")
      #expect(try names(in: media.folder) == [Self.photo.sha256])
    }
  }

  @Test("The same content is stored once, under its first address and name")
  func again() async throws {
    try await MediaServer.with { media in
      let first = try await media.upload(Self.photo, ("Content-Disposition", "inline; filename=a.png"))
      let second = try await media.upload(Self.photo, ("Content-Disposition", "inline; filename=b.png"))
      #expect(first.status == 201)
      #expect(second.status == 200)
      #expect(first.body == second.body)
      #expect(first["Location"] == second["Location"])
      try await eventually("one file is left") { try names(in: media.folder).count == 1 }
      let path = try #require(first["Location"])
      #expect(try await media.preview(path)["Content-Disposition"] == "inline; filename=\"a.png\"")
    }
  }

  @Test("Concurrent uploads of the same content are stored once")
  func race() async throws {
    try await MediaServer.with { media in
      let responses = try await withThrowingTaskGroup(of: TestResponse.self) { tasks in
        for _ in 0..<8 { tasks.addTask { try await media.upload(Self.photo) } }
        return try await tasks.reduce(into: []) { $0.append($1) }
      }
      #expect(responses.count { $0.status == 201 } == 1)
      #expect(responses.count { $0.status == 200 } == 7)
      #expect(Set(responses.map(\.text)).count == 1)
      try await eventually("one file is left") { try names(in: media.folder) == [Self.photo.sha256] }
    }
  }

  @Test("A container declared as audio and as video has one address for each type, and one file")
  func twoTypes() async throws {
    try await MediaServer.with { media in
      let file = Data([0, 0, 0, 16] + Array("ftypisom0000mdat".utf8))
      let film = try await media.stored(file, type: "video/mp4")
      let sound = try await media.stored(file, type: "audio/mp4; codecs=\"mp4a.40.2\"")
      #expect(film != sound)
      #expect(try await media.preview(film)["Content-Type"] == "video/mp4")
      #expect(try await media.preview(sound)["Content-Type"] == "audio/mp4")
      try await eventually("one file is left") { try names(in: media.folder).count == 1 }
    }
  }

  @Test("If the server's own address is configured, files have absolute addresses")
  func absolute() async throws {
    try await MediaServer.with(settings: { $0.publicURL = "https://news.example/api" }) { media in
      let response = try await media.upload(Self.photo)
      let path = try #require(response["Location"])
      let url = try response.json(Attachment.self, status: 201).url
      #expect(url == "https://news.example/api" + path)
      #expect(try await media.item(#""attachments": [{"url": "\#(url)", "type": "image/png"}]"#).status == 201)
    }
  }

  @Test(
    "Content that does not match its type, or of an unsupported type, is refused and not stored",
    arguments: [
      ("text/html", "<script>alert(1)</script>"), ("image/svg+xml", "<svg/>"), ("application/xml", "<x/>"),
      ("application/octet-stream", "<script>alert(1)</script>"), ("image/png", "<script>alert(1)</script>"),
      ("image/png", "%PDF-1.7"),
      ("application/pdf", "\n%PDF-1.7"), ("image/png", ""), ("", "%PDF-1.7"), ("application/json", "{}"),
    ])
  func refused(type: String, body: String) async throws {
    try await MediaServer.with { media in
      let response = try await media.upload(Data(body.utf8), type: type)
      #expect(response.status == 415)
      #expect(response["Accept"]?.contains("image/png") == true)
      try await eventually("all files are removed") { try names(in: media.folder).isEmpty }
    }
  }

  @Test(
    "For application/octet-stream the server detects the type of the file",
    arguments: [
      ("%PDF-1.7", "application/pdf"), ("GIF89a\u{1}\0\u{1}\0", "image/gif"), ("OggS", "audio/ogg"),
      ("\0\0\0\u{10}ftypisom0000", "video/mp4"),
    ])
  func recognised(body: String, type: String) async throws {
    try await MediaServer.with { media in
      let stored = try await media.upload(Data(body.utf8), type: "application/octet-stream")
        .json(Attachment.self, status: 201)
      #expect(stored.type == type)
      #expect(try await media.preview(stored.url)["Content-Type"] == type)
      // A second upload of the same bytes with this type finds the file.
      #expect(try await media.upload(Data(body.utf8), type: type).json(Attachment.self).url == stored.url)
    }
  }

  @Test("Content with the wrong first bytes is refused before all of it has arrived")
  func early() async throws {
    try await MediaServer.with { media in
      let head = """
        POST /v1/editorial/media HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(media.key)\r\nContent-Type: image/png\r
        Content-Length: 1000000000\r\n\r\n
        """ + String(repeating: "<p>", count: 3000)
      let responses = try await RawConnection.exchange(head, port: media.server.port, endsInput: false)
      #expect(responses.map(\.status) == [415])
      #expect(responses[0]["Connection"] == "close")
    }
  }

  @Test("A file that is too large is refused by its declared length, or at the limit if no length is declared")
  func tooLarge() async throws {
    try await MediaServer.with(settings: { $0.maximumMediaBytes = 500_000 }) { media in
      let head = """
        POST /v1/editorial/media HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(media.key)\r\nContent-Type: image/png\r
        Content-Length: 500001\r\nExpect: 100-continue\r\n\r\n
        """
      let responses = try await RawConnection.exchange(head, port: media.server.port, endsInput: false)
      #expect(responses.map(\.status) == [413])
      #expect(try await media.upload(Self.photo).status == 413)
      // A busy server may receive the whole body before it refuses it; the connection could then continue.
      let chunked = try await RawConnection.exchange(
        [Self.chunked(Self.photo, key: media.key)], port: media.server.port)
      #expect(chunked.map(\.status) == [413])
      #expect(chunked[0].text.contains("500000"))
      #expect(try await media.upload(Self.photo.prefix(500_000)).status == 201)
      try await eventually("all other files are removed") { try names(in: media.folder).count == 1 }
    }
  }

  private static func chunked(
    _ file: Data, type: String = "image/png", key: String, _ fields: String = "", by size: Int = 50_000,
    isCut: Bool = false
  ) -> Data {
    var message = Data(
      """
      POST /v1/editorial/media HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\nContent-Type: \(type)\r
      Transfer-Encoding: chunked\r\n\(fields)\r\n
      """.utf8)
    for start in stride(from: 0, to: file.count, by: size) {
      let part = file.dropFirst(start).prefix(size)
      message += Data("\(String(part.count, radix: 16))\r\n".utf8) + part + Data("\r\n".utf8)
    }
    return isCut ? message : message + Data("0\r\n\r\n".utf8)
  }

  @Test("A file may be sent in chunks, and after 100 Continue")
  func chunks() async throws {
    try await MediaServer.with { media in
      let whole = Self.chunked(Self.photo, key: media.key, "Expect: 100-continue\r\n")
      let head = try #require(whole.firstRange(of: Data("\r\n\r\n".utf8))).upperBound
      let responses = try await RawConnection.exchange(
        [whole[..<head], whole[head...]], port: media.server.port)
      #expect(responses.map(\.status) == [100, 201])
      #expect(try await media.upload(Self.photo).status == 200)
    }
  }

  @Test("The type of a file is detected once enough of it has arrived")
  func pieces() async throws {
    try await MediaServer.with { media in
      // The type of the document is in the middle of its header.
      let type = Data([0x42, 0x82, 0x84] + Array("webm".utf8))
      let film = Data([0x1a, 0x45, 0xdf, 0xa3]) + Data(count: 60) + type + Data(count: 60)
      let message = Self.chunked(film, type: "application/octet-stream", key: media.key, by: 16)
      let responses = try await RawConnection.exchange([message], port: media.server.port)
      #expect(try responses.first?.json(Attachment.self, status: 201).type == "video/webm")
    }
  }

  @Test("A body that is cut off in the middle is not stored", arguments: [true, false])
  func cut(isChunked: Bool) async throws {
    try await MediaServer.with { media in
      let head = """
        POST /v1/editorial/media HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(media.key)\r\nContent-Type: image/png\r
        Content-Length: 700000\r\n\r\n
        """
      let message =
        isChunked
        ? Self.chunked(Self.photo, key: media.key, isCut: true) : Data(head.utf8) + Self.photo.prefix(600_000)
      let responses = try await RawConnection.exchange([message], port: media.server.port)
      #expect(responses.map(\.status) == [400])
      try await eventually("all files are removed") { try names(in: media.folder).isEmpty }
      #expect(try await media.upload(Self.photo).status == 201)
    }
  }

  @Test("A body that is cut off before the server reads it is not stored", arguments: [true, false])
  func cutEarly(isChunked: Bool) async throws {
    try await MediaServer.with { media in
      let (ended, hasEnded) = AsyncStream.makeStream(of: Void.self)
      let slow = SlowStorage(base: media.storage, ended: ended)
      try await media.server.beside({ $0.media = slow }) { server in
        let head = """
          POST /v1/editorial/media HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(media.key)\r\nContent-Type: image/png\r
          Content-Length: 20000\r\n\r\n
          """
        let message =
          isChunked
          ? Self.chunked(Self.photo.prefix(20_000), key: media.key, isCut: true)
          : Data(head.utf8) + Self.photo.prefix(15_000)
        let responses = try await RawConnection.exchange([message], port: server.port) {
          // The server has time to receive all bytes. Otherwise this would be the same test as the previous one.
          Thread.sleep(forTimeInterval: 0.3)
          hasEnded.finish()
        }
        #expect(responses.map(\.status) == [400])
        try await eventually("all files are removed") { try names(in: media.folder).isEmpty }
      }
    }
  }

  @Test("An upload that stalls is ended and not stored")
  func stalling() async throws {
    var limits = ConnectionLimits()
    limits.bodyIdleTimeout = .milliseconds(300)
    try await withMediaFolder { [limits] folder in
      let storage = try MediaDirectory(folder)
      try await TestServer.with(limits: limits, settings: { $0.media = storage }) { server in
        let key = try await server.store.createKey(name: "desk", permissions: [.mediaWrite])
        let message = Self.chunked(Self.photo, key: key, isCut: true)
        let responses = try await RawConnection.exchange([message], port: server.port, endsInput: false)
        #expect(responses.map(\.status) == [408])
        try await eventually("all files are removed") { try names(in: folder).isEmpty }
      }
    }
  }

  @Test("A digest in the request must match the body", arguments: ["Repr-Digest", "Content-Digest"])
  func digests(field: String) async throws {
    try await MediaServer.with { media in
      let wrong = try await media.upload(Self.photo, (field, Data("other".utf8).digestField))
      #expect(wrong.status == 422)
      #expect(wrong.text.contains(field))
      try await eventually("all files are removed") { try names(in: media.folder).isEmpty }
      // A right one beside it makes no difference, and is not named.
      let other = field == "Repr-Digest" ? "Content-Digest" : "Repr-Digest"
      let half = try await media.upload(
        Self.photo, (other, Self.photo.digestField), (field, Data("other".utf8).digestField))
      #expect(half.status == 422 && half.text.contains(field) && !half.text.contains(other))
      let malformed = try await media.upload(Self.photo, (field, "sha-256=:AAAA:"))
      #expect(malformed.status == 400)
      #expect(malformed.text.contains(field))
      #expect(try await media.upload(Self.photo, (field, Self.photo.digestField)).status == 201)
    }
  }

  @Test("An unreadable file name or a content coding is refused")
  func headers() async throws {
    try await MediaServer.with { media in
      let name = try await media.upload(Self.photo, ("Content-Disposition", "attachment; filename=\"a"))
      #expect(name.status == 400)
      #expect(name.text.contains("Content-Disposition"))
      #expect(try await media.upload(Self.photo, ("Content-Encoding", "gzip")).status == 415)
      #expect(try await media.upload(Self.photo, ("Content-Encoding", "Identity, gzip")).status == 415)
      #expect(try await media.upload(Self.photo, ("Content-Encoding", "Identity")).status == 201)
      #expect(
        try await media.server.send(
          "POST", "/v1/editorial/media?x=1", key: media.key, headers: [("Content-Type", "image/png")], file: Self.photo
        ).status == 400)
    }
  }

  @Test("A key for items cannot upload files, and a key for files cannot write items")
  func scopes() async throws {
    try await MediaServer.with { media in
      let headers = [("Content-Type", "image/png")]
      let server = media.server
      let path = "/v1/editorial/media"
      #expect(try await server.send("POST", path, headers: headers, file: Self.photo).status == 401)
      #expect(try await server.send("POST", path, key: server.key, headers: headers, file: Self.photo).status == 403)
      let key = try await server.store.createKey(name: "photo", permissions: [.mediaWrite])
      #expect(try await server.send("POST", path, key: key, headers: headers, file: Self.photo).status == 201)
      #expect(try await server.send("GET", "/v1/editorial/items", key: key).status == 403)
    }
  }

  @Test("Without a media directory uploads are refused with a hint for the operator, and no file exists")
  func notKept() async throws {
    try await TestServer.with { server in
      let key = try await server.store.createKey(name: "photo", permissions: [.mediaWrite])
      let response = try await server.send(
        "POST", "/v1/editorial/media", key: key, headers: [("Content-Type", "image/png")], file: Self.photo)
      #expect(response.status == 501)
      #expect(response.text.contains("TIDINGS_MEDIA_DIRECTORY"))
      // Whatever else is wrong with the request.
      #expect(try await server.send("POST", "/v1/editorial/media", key: key, body: "{}").status == 501)
      #expect(try await server.get("/v1/media/019a1111-0000-7000-8000-000000000000").status == 404)
    }
  }

  @Test(
    "A full, read-only or failing disk causes a separate problem, not an internal error",
    arguments: [
      (MediaError.full, 507, "storage-full"), (.failed("open", code: EROFS), 507, "storage-read-only"),
      (.failed("fdatasync", code: EIO), 503, "storage-failed"),
    ])
  func failing(error: MediaError, status: Int, name: String) async throws {
    try await TestServer.with(settings: { $0.media = FailingStorage(error: error) }) { server in
      let key = try await server.store.createKey(name: "photo", permissions: [.mediaWrite])
      let response = try await server.send(
        "POST", "/v1/editorial/media", key: key, headers: [("Content-Type", "image/png")], file: Self.photo)
      #expect(response.status == status)
      #expect(response.text.contains("/problems/\(name)"))
      #expect(response["Retry-After"] == (status == 503 ? "60" : nil))
      #expect(!response.text.contains("fdatasync"))
      // The storage has some of the file before all of it has arrived.
      let cut = Self.chunked(Self.photo, key: key, isCut: true)
      let early = try await RawConnection.exchange([cut], port: server.port, endsInput: false)
      #expect(early.map(\.status) == [status])
    }
  }

  @Test("A storage without parts takes files in one request only")
  func noParts() async throws {
    try await TestServer.with(settings: { $0.media = FailingStorage(error: .full) }) { server in
      let key = try await server.store.createKey(name: "photo", permissions: [.mediaWrite])
      let begun = try await server.send(
        "POST", "/v1/editorial/media", key: key,
        headers: [MediaServer.uploadVersion, ("Upload-Complete", "?0"), ("Content-Type", "image/png")])
      #expect(begun.status == 501)
    }
  }
}

/// A storage that accepts no upload until the stream ends.
private struct SlowStorage: MediaStorage {
  let base: MediaDirectory
  let ended: AsyncStream<Void>

  func begin() async throws -> any MediaUpload {
    for await _ in ended {}
    return try await base.begin()
  }

  func open(_ digest: MediaDigest) async throws -> MediaFile? { try await base.open(digest) }
  func digests() async throws -> [MediaDigest] { try await base.digests() }
  func remove(_ digests: [MediaDigest], storedBefore date: Date) async throws -> Int { 0 }
  func sweep() async throws -> Int { 0 }
}

/// A storage that can only be read.
private struct FailingStorage: MediaStorage, MediaUpload {
  let error: MediaError

  func begin() async throws -> any MediaUpload { self }
  func open(_ digest: MediaDigest) async throws -> MediaFile? { nil }
  func digests() async throws -> [MediaDigest] { [] }
  func remove(_ digests: [MediaDigest], storedBefore date: Date) async throws -> Int { 0 }
  func sweep() async throws -> Int { 0 }
  func write(_ bytes: [UInt8]) async throws { throw error }
  func finish(_ format: MediaFormat) async throws -> StoredMedia { throw error }
  func publish() async throws {}
}
