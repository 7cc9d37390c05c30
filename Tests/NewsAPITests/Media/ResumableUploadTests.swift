import Foundation
import HTTPEdge
import MediaFiles
import NIOCore
import News
import NewsAPI
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite("An upload over several requests") struct ResumableUploadTests {
  static let photo = SampleMedia.png(bytes: 700_000)
  /// The digest of the empty body of most requests.
  private static let emptyDigest = Data().digestField

  @Test("becomes a file with its last request, like one that arrives at once")
  func parts() async throws {
    try await MediaServer.with { media in
      let digest = ("Repr-Digest", Self.photo.digestField)
      let begun = try await media.begin([
        digest, ("Content-Disposition", "attachment; filename=\"a b.png\""), ("Upload-Length", "700000"),
        ("Upload-Offset", "0"),
      ])
      #expect(begun.status == 201)
      #expect(begun["Upload-Offset"] == "0")
      #expect(begun["Upload-Complete"] == "?0")
      #expect(begun["Upload-Draft-Interop-Version"] == "6")
      #expect(begun["Upload-Limit"] == "max-size=2147483648, expires=86400")
      #expect(begun["Cache-Control"] == "private, no-store")
      let path = try #require(begun["Location"])
      #expect(begun.text.contains("\"\(path)\""))
      #expect(try await media.offset(of: path) == 0)
      #expect(try await media.state(of: path)["Upload-Limit"] == begun["Upload-Limit"])
      #expect(try media.parts().isEmpty)

      var offset = 0
      for end in [100_000, 100_001, 500_000] {
        let part = Self.photo[offset..<end]
        let answer = try await media.append(part, to: path, at: offset, isComplete: false)
        #expect(answer.status == 204)
        #expect(answer["Upload-Offset"] == "\(end)")
        #expect(answer["Upload-Complete"] == "?0")
        #expect(try await media.offset(of: path) == end)
        offset = end
      }
      let last = try await media.append(Self.photo[offset...], to: path, at: offset, isComplete: true)
      let attachment = try last.json(Attachment.self, status: 201)
      #expect(last["Upload-Complete"] == "?1")
      #expect(last["Upload-Offset"] == "700000")
      #expect(last["Location"] == attachment.url)
      #expect(attachment.sha256 == Self.photo.sha256)
      #expect([attachment.width, attachment.height] == [640, 480])
      #expect(try names(in: media.folder) == [Self.photo.sha256])
      let found = try await media.preview(attachment.url)
      #expect(found.body == Self.photo)
      #expect(found["Content-Disposition"] == "inline; filename=\"a b.png\"")
      // The same content in one request is the same file.
      #expect(try await media.upload(Self.photo).json(Attachment.self).url == attachment.url)
    }
  }

  @Test("answers its last request again to a client that has missed the response")
  func missedResponse() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      let stored = try await media.append(Self.photo, to: path, at: 0, isComplete: true)
        .json(Attachment.self, status: 201)
      let state = try await media.state(of: path)
      #expect(state.status == 204)
      #expect(state["Upload-Complete"] == "?1")
      #expect(state["Upload-Offset"] == "700000")
      let again = try await media.append(Data(), to: path, at: 700_000, isComplete: true)
      #expect(try again.json(Attachment.self).url == stored.url)
      for (bytes, offset) in [(Data("x".utf8), 700_000), (Self.photo, 0), (Data(), 0)] {
        let refused = try await media.append(bytes, to: path, at: offset, isComplete: true)
        #expect(refused.status == 409 && refused.text.contains("The upload is complete with 700000 bytes."))
        #expect(refused["Upload-Complete"] == "?1")
        #expect(refused["Upload-Offset"] == "700000")
      }
      #expect(try names(in: media.folder) == [Self.photo.sha256])
    }
  }

  @Test("is complete with a request that does not say whether more follows")
  func impliedEnd() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun(type: "application/octet-stream")
      let headers = [
        MediaServer.uploadVersion, ("Upload-Offset", "0"), ("Content-Type", "application/partial-upload"),
      ]
      let last = try await media.server.send("PATCH", path, key: media.key, headers: headers, file: Self.photo)
      let stored = try last.json(Attachment.self, status: 201)
      #expect(stored.sha256 == Self.photo.sha256 && stored.type == "image/png")
    }
  }

  @Test("refuses another offset with 409 and the right one, and changes nothing")
  func otherOffset() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      _ = try await media.append(Self.photo.prefix(300_000), to: path, at: 0, isComplete: false)
      for offset in [0, 299_999, 300_001, 700_000] {
        let refused = try await media.append(Data("x".utf8), to: path, at: offset, isComplete: true)
        #expect(refused.status == 409)
        #expect(refused.text.contains("/problems/upload-offset"))
        #expect(refused["Upload-Offset"] == "300000")
        #expect(refused["Upload-Complete"] == "?0")
      }
      let rest = try await media.append(Self.photo[300_000...], to: path, at: 300_000, isComplete: true)
      #expect(try rest.json(Attachment.self, status: 201).sha256 == Self.photo.sha256)
    }
  }

  @Test("keeps what has arrived of a request whose connection breaks", arguments: [1, 255_999, 256_001, 699_999])
  func interrupted(bytes: Int) async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      let request = media.truncatedAppend(Self.photo.prefix(bytes), of: 700_000, to: path, at: 0)
      let responses = try await RawConnection.exchange([request], port: media.server.port)
      #expect(responses.map(\.status) == [400])
      try await eventually("all of it is recorded") { try await media.offset(of: path) == bytes }
      let rest = try await media.append(Self.photo[bytes...], to: path, at: bytes, isComplete: true)
      #expect(try rest.json(Attachment.self, status: 201).sha256 == Self.photo.sha256)
    }
  }

  @Test("records its bytes while they arrive, so that a killed server loses few of them")
  func recorded() async throws {
    try await MediaServer.with { media in
      let sql = media.server.sql
      _ = try await sql.query("CREATE TABLE progress (received bigint)")
      _ = try await sql.query(
        """
        CREATE FUNCTION note_progress() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN INSERT INTO progress VALUES (NEW.received); RETURN NEW; END'
        """)
      _ = try await sql.query(
        "CREATE TRIGGER note_progress BEFORE UPDATE ON media_uploads FOR EACH ROW EXECUTE FUNCTION note_progress()")
      let (path, content) = (try await media.begun(), SampleMedia.png(bytes: 9 << 20))
      #expect(try await media.append(content, to: path, at: 0, isComplete: false).status == 204)
      let rows = try await sql.query("SELECT received FROM progress ORDER BY received")
      let recorded = try rows.map { try $0.decode(0, as: Int.self) }
      #expect(recorded.count == 2 && recorded[0] >= 8 << 20 && recorded[1] == 9 << 20)
    }
  }

  @Test("refuses a second request with 409 while the first one appends, and the first one wins")
  func concurrent() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      // The first request stays incomplete until its connection is closed.
      let connection = try Loopback.connect(to: media.server.port)
      let head = media.truncatedAppend(Self.photo.prefix(300_000), of: 700_000, to: path, at: 0)
      try Loopback.send(head, on: connection)
      try await eventually("the first has opened the part") { try !media.parts().isEmpty }
      try await eventually("the second is refused") {
        let second = try await media.append(Self.photo, to: path, at: 0, isComplete: true)
        return second.status == 409 && second.text.contains("/problems/upload-in-progress")
          && second["Retry-After"] == "1" && second["Upload-Draft-Interop-Version"] == "6"
      }
      close(connection)
      try await eventually("the part is free") {
        guard try await media.offset(of: path) == 300_000 else { return false }
        return try await media.append(Self.photo[300_000...], to: path, at: 300_000, isComplete: true).status == 201
      }
      #expect(try names(in: media.folder) == [Self.photo.sha256])
    }
  }

  @Test("continues at the bytes on disk, if the database knows more or less than the folder")
  func lostBytes() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      _ = try await media.append(Self.photo.prefix(300_000), to: path, at: 0, isComplete: false)
      let file = media.folder.appending(path: try #require(try media.parts().first))
      // A server that was killed before it had recorded these bytes.
      try (Data(contentsOf: file) + Data("unrecorded".utf8)).write(to: file)
      #expect(try await media.offset(of: path) == 300_000)
      // A folder that has lost bytes.
      try Self.photo.prefix(200_000).write(to: file)
      #expect(try await media.offset(of: path) == 200_000)
      let refused = try await media.append(Self.photo[300_000...], to: path, at: 300_000, isComplete: true)
      #expect(refused["Upload-Offset"] == "200000")
      try (Self.photo.prefix(200_000) + Data("unrecorded".utf8)).write(to: file)
      _ = try await media.server.sql.query("UPDATE media_uploads SET received = 200000")
      let rest = try await media.append(Self.photo[200_000...], to: path, at: 200_000, isComplete: true)
      #expect(try rest.json(Attachment.self, status: 201).sha256 == Self.photo.sha256)
    }
  }

  @Test(
    "is refused and removed if its content is wrong",
    arguments: [
      ("image/png", Data("<script>alert(1)</script>".utf8), 415), ("image/png", Data(), 415),
      ("image/gif", SampleMedia.png(bytes: 5000), 415),
    ])
  func wrongContent(type: String, content: Data, status: Int) async throws {
    try await MediaServer.with { media in
      let path = try await media.begun(type: type)
      let refused = try await media.append(content, to: path, at: 0, isComplete: true)
      #expect(refused.status == status)
      #expect(try names(in: media.folder).isEmpty)
      #expect(try await media.state(of: path).status == 404)
    }
  }

  @Test("with the wrong first bytes is refused before its last request, and with another digest at its end")
  func early() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      let first = try await media.append(Data(repeating: 0x20, count: 4096), to: path, at: 0, isComplete: false)
      #expect(first.status == 415)
      #expect(try await media.state(of: path).status == 404)
      let other = try await media.begun([("Repr-Digest", Data("other".utf8).digestField)])
      #expect(try await media.append(Self.photo, to: other, at: 0, isComplete: false).status == 204)
      let last = try await media.append(Data(), to: other, at: 700_000, isComplete: true)
      #expect(last.status == 422)
      #expect(last.text.contains("Repr-Digest"))
      #expect(try names(in: media.folder).isEmpty)
    }
  }

  @Test("stays within the limit of a file and the declared length")
  func tooLarge() async throws {
    try await MediaServer.with(settings: { $0.maximumMediaBytes = 500_000 }) { media in
      for length in ["500001", "999999999999999"] {
        #expect(try await media.begin([("Upload-Length", length)]).status == 413)
      }
      let path = try await media.begun()
      let refused = try await media.append(Self.photo, to: path, at: 0, isComplete: false)
      #expect(refused.status == 413)
      #expect(try await media.offset(of: path) == 0)
      let declared = try await media.begun([("Upload-Length", "1000")])
      let long = try await media.append(Self.photo.prefix(1001), to: declared, at: 0, isComplete: false)
      #expect(long.status == 413 && long.text.contains("1000"))
      let short = try await media.append(Self.photo.prefix(999), to: declared, at: 0, isComplete: true)
      #expect(short.status == 400)
      #expect(short.text.contains("Upload-Length") && short.text.contains("999 have arrived"))
      // The bytes are there, and the upload continues.
      #expect(try await media.append(Self.photo[999..<1000], to: declared, at: 999, isComplete: true).status == 201)
      // The last request may declare the length, too.
      let late = try await media.begun()
      func end(_ bytes: Data, at offset: Int, length: Int) async throws -> TestResponse {
        try await media.append(bytes, to: late, at: offset, isComplete: true, [("Upload-Length", "\(length)")])
      }
      for (bytes, offset, length) in [(Self.photo.prefix(2000), 0, 1999), (Data(), 2000, 2001)] {
        let wrong = try await end(bytes, at: offset, length: length)
        #expect(wrong.status == 400 && wrong.text.contains("Upload-Length"))
      }
      #expect(try await end(Data(), at: 2000, length: 2000).status == 201)
    }
  }

  @Test("refuses a request of any declared length beyond the limit", arguments: [699_001, Int.max])
  func declaredLength(length: Int) async throws {
    try await MediaServer.with(settings: { $0.maximumMediaBytes = 700_000 }) { media in
      let path = try await media.begun()
      #expect(try await media.append(Self.photo.prefix(1000), to: path, at: 0, isComplete: false).status == 204)
      let request = media.truncatedAppend(Data(), of: length, to: path, at: 1000)
      let responses = try await RawConnection.exchange([request], port: media.server.port, endsInput: false)
      #expect(responses.map(\.status) == [413])
      #expect(try await media.offset(of: path) == 1000)
    }
  }

  @Test("refuses bytes in chunks beyond the declared length")
  func chunks() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun([("Upload-Length", "1000")])
      var request = Data(
        """
        PATCH \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(media.key)\r\nUpload-Draft-Interop-Version: 6\r
        Upload-Offset: 0\r\nUpload-Complete: ?0\r\nContent-Type: application/partial-upload\r
        Transfer-Encoding: chunked\r\n\r\n
        """.utf8)
      // Each of them is within the length.
      for start in [0, 600] { request += Data("258\r\n".utf8) + Self.photo[start..<start + 600] + Data("\r\n".utf8) }
      let responses = try await RawConnection.exchange([request + Data("0\r\n\r\n".utf8)], port: media.server.port)
      #expect(responses.map(\.status) == [413])
      let offset = try #require(try await media.offset(of: path))
      try #require(offset <= 1000)
      let rest = try await media.append(Self.photo[offset..<1000], to: path, at: offset, isComplete: true)
      #expect(rest.status == 201)
    }
  }

  @Test("is limited in number and bytes for each key")
  func limits() async throws {
    try await MediaServer.with(settings: {
      $0.maximumMediaBytes = 1_000_000
      $0.unfinishedUploadsPerKey = 5
    }) { media in
      // Four times the size of a file.
      for _ in 0..<3 { _ = try await media.begun() }
      #expect(try await media.begin([("Upload-Length", "1000000")]).status == 201)
      let bytes = try await media.begin([("Upload-Length", "1")])
      #expect(bytes.status == 409)
      #expect(bytes.text.contains("/problems/upload-limit"))
      _ = try await media.server.sql.query("DELETE FROM media_uploads WHERE length IS NULL")
      for _ in 0..<4 { _ = try await media.begun([("Upload-Length", "1000")]) }
      #expect(try await media.begin([("Upload-Length", "1000")]).status == 409)
      let other = try await media.server.store.createKey(name: "photo", permissions: [.mediaWrite])
      #expect(try await media.begin(key: other).status == 201)
      // A complete upload does not count.
      let row = try await media.server.sql.query("SELECT id FROM media_uploads WHERE length = 1000 LIMIT 1").first
      let id: UUID = try #require(try row?.decode("id"))
      let path = "/v1/editorial/media/uploads/\(id.uuidString.lowercased())"
      #expect(try await media.append(Self.photo.prefix(1000), to: path, at: 0, isComplete: true).status == 201)
      #expect(try await media.begin([("Upload-Length", "1000")]).status == 201)
      #expect(try await media.begin([("Upload-Length", "1000")]).status == 409)
      // Nor does one that has expired.
      _ = try await media.server.sql.query(
        "UPDATE media_uploads SET expires_at = clock_timestamp() WHERE length = 1000000")
      #expect(try await media.begin([("Upload-Length", "1000")]).status == 201)
    }
  }

  @Test("begins once for repeated requests with an Idempotency-Key")
  func repeated() async throws {
    try await MediaServer.with { media in
      let name = ("Idempotency-Key", "photo-7")
      let first = try await media.begin([name])
      let second = try await media.begin([name])
      #expect(first["Location"] == second["Location"])
      #expect(second["Idempotency-Replayed"] == "true")
      #expect(try await media.uploadCount() == 1)
    }
  }

  @Test(
    "needs valid fields",
    arguments: [
      ("POST", ["Upload-Draft-Interop-Version": "5", "Upload-Complete": "?0"]), ("POST", ["Upload-Complete": "?0"]),
      ("POST", ["Upload-Offset": "0"]), ("POST", ["Upload-Length": "5"]),
      ("POST", ["Upload-Draft-Interop-Version": "6", "Upload-Complete": "0"]),
      ("POST", ["Upload-Draft-Interop-Version": "6", "Upload-Complete": "?0", "Upload-Offset": "7"]),
      ("POST", ["Upload-Draft-Interop-Version": "6", "Upload-Complete": "?0", "Upload-Length": "-1"]),
      // An integer has at most 15 digits (RFC 9651 section 3.3.1).
      ("POST", ["Upload-Draft-Interop-Version": "6", "Upload-Complete": "?0", "Upload-Length": "1000000000000000"]),
      ("POST", ["Upload-Draft-Interop-Version": "6", "Upload-Complete": "?0", "Upload-Length": "0"]),
      ("POST", ["Upload-Draft-Interop-Version": "6", "Upload-Complete": "?0", "Content-Digest": Self.emptyDigest]),
      (
        "PATCH",
        [
          "Upload-Draft-Interop-Version": "6", "Upload-Offset": "0", "Content-Type": "application/partial-upload",
          "Content-Digest": Self.emptyDigest,
        ]
      ),
      ("HEAD", [:]), ("HEAD", ["Upload-Draft-Interop-Version": "6", "Upload-Offset": "0"]),
      ("HEAD", ["Upload-Draft-Interop-Version": "6", "Upload-Complete": "?1"]),
      ("HEAD", ["Upload-Draft-Interop-Version": "6", "Upload-Length": "5"]),
      ("PATCH", ["Upload-Draft-Interop-Version": "6", "Content-Type": "application/partial-upload"]),
      ("PATCH", ["Upload-Draft-Interop-Version": "6", "Upload-Offset": "1e3"]),
      ("PATCH", ["Upload-Draft-Interop-Version": "3", "Upload-Offset": "0"]), ("DELETE", [:]),
    ])
  func fields(method: String, headers: [String: String]) async throws {
    try await MediaServer.with { media in
      let path = method == "POST" ? "/v1/editorial/media" : try await media.begun()
      let type = method == "POST" ? [("Content-Type", "image/png")] : []
      let answer = try await media.server.send(
        method, path, key: media.key, headers: type + headers.map { ($0.key, $0.value) })
      #expect(answer.status == 400)
      if method != "HEAD" { #expect(answer.text.contains("Upload-") || answer.text.contains("Content-Digest")) }
      #expect(try names(in: media.folder).isEmpty)
    }
  }

  @Test("needs the type of a part for its parts, and an empty body to begin")
  func types() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      let headers = [MediaServer.uploadVersion, ("Upload-Offset", "0"), ("Content-Type", "image/png")]
      let answer = try await media.server.send("PATCH", path, key: media.key, headers: headers, file: Self.photo)
      #expect(answer.status == 415)
      #expect(answer["Accept"] == "application/partial-upload")
      let full = try await media.server.send(
        "POST", "/v1/editorial/media", key: media.key,
        headers: [MediaServer.uploadVersion, ("Upload-Complete", "?0"), ("Content-Type", "image/png")],
        file: Self.photo)
      #expect(full.status == 400)
      #expect(full.text.contains("Content-Length"))
      let chunked = try await RawConnection.exchange(
        """
        POST /v1/editorial/media HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(media.key)\r\nContent-Type: image/png\r
        Upload-Draft-Interop-Version: 6\r\nUpload-Complete: ?0\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n
        """, port: media.server.port)
      #expect(chunked.map(\.status) == [400])
      let coded = try await media.append(Self.photo, to: path, at: 0, isComplete: true, [("Content-Encoding", "gzip")])
      #expect(coded.status == 415)
      #expect(try await media.offset(of: path) == 0)
      // A complete file in the first request is an upload like any other.
      let whole = try await media.upload(Self.photo, MediaServer.uploadVersion, ("Upload-Complete", "?1"))
      #expect(whole.status == 201)
      // So is one that does not say whether more follows.
      #expect(try await media.upload(Self.photo, MediaServer.uploadVersion).status == 200)
    }
  }
}
