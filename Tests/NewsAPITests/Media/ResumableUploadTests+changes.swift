import Foundation
import MediaFiles
import News
import NewsAPI
import NewsStore
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// Uploads that change before their part is opened, and requests that leave an upload as it is.
extension ResumableUploadTests {
  /// Appends bytes through a server with another view of the folder.
  private static func append(
    _ bytes: Data, to path: String, at offset: Int = 0, _ media: MediaServer, _ storage: LateParts
  ) async throws -> TestResponse {
    try await media.server.beside({ $0.media = storage }) { server in
      let beside = MediaServer(server: server, key: media.key, folder: media.folder, storage: media.storage)
      return try await beside.append(bytes, to: path, at: offset, isComplete: false)
    }
  }

  @Test("that is cancelled before its part is opened leaves no part and no row")
  func cancelledBeforeOpening() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      let storage = LateParts(storage: media.storage) {
        // The process that cancels it ends before it has removed the row.
        _ = try await media.server.sql.query("UPDATE media_uploads SET expires_at = '-infinity'")
      }
      #expect(try await Self.append(Self.photo.prefix(5000), to: path, media, storage).status == 404)
      #expect(try names(in: media.folder).isEmpty)
      #expect(try await media.uploadCount() == 0)
    }
  }

  @Test("keeps what another request stores before the part is opened")
  func continuedBeforeOpening() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      let storage = LateParts(storage: media.storage) {
        _ = try await media.append(Self.photo.prefix(5000), to: path, at: 0, isComplete: false)
      }
      let refused = try await Self.append(Self.photo.prefix(1000), to: path, media, storage)
      #expect(refused.status == 409 && refused["Upload-Offset"] == "5000")
      #expect(try await media.offset(of: path) == 5000)
      let rest = try await media.append(Self.photo[5000...], to: path, at: 5000, isComplete: true)
      #expect(try rest.json(Attachment.self, status: 201).sha256 == Self.photo.sha256)
    }
  }

  @Test("can go on as soon as a request was answered, or refused")
  func freed() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      // The storage keeps the parts, so that their release does not close them.
      let storage = LateParts(storage: media.storage) {}
      let refused = try await Self.append(Self.photo.prefix(5000), to: path, at: 7, media, storage)
      #expect(refused.status == 409 && refused.text.contains("/problems/upload-offset"))
      #expect(try await Self.append(Self.photo.prefix(5000), to: path, media, storage).status == 204)
      let last = try await media.append(Self.photo[5000...], to: path, at: 5000, isComplete: true)
      #expect(last.status == 201, "\(last.text)")
    }
  }

  @Test("that cannot be registered keeps its bytes, and its last request can be repeated")
  func refusedRegistration() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      _ = try await media.server.sql.query("ALTER TABLE media ADD CONSTRAINT none CHECK (false) NOT VALID")
      #expect(try await media.append(Self.photo, to: path, at: 0, isComplete: true).status >= 500)
      _ = try await media.server.sql.query("ALTER TABLE media DROP CONSTRAINT none")
      let state = try await media.state(of: path)
      #expect(state["Upload-Offset"] == "700000" && state["Upload-Complete"] == "?0")
      let again = try await media.append(
        Data(), to: path, at: 700_000, isComplete: true, [("Content-Encoding", "Identity")])
      #expect(try again.json(Attachment.self, status: 201).sha256 == Self.photo.sha256)
      #expect(try names(in: media.folder) == [Self.photo.sha256])
    }
  }

  @Test("with the content of a file that exists ends with the address of that file, and leaves no part")
  func sameContent() async throws {
    try await MediaServer.with { media in
      let stored = try await media.stored(Self.photo)
      let path = try await media.begun()
      let last = try await media.append(Self.photo, to: path, at: 0, isComplete: true)
      #expect(try last.json(Attachment.self, status: 200).url == stored && last["Location"] == stored)
      #expect(last["Upload-Offset"] == "700000" && last["Upload-Complete"] == "?1")
      #expect(try names(in: media.folder) == [Self.photo.sha256])
    }
  }

  @Test("that is complete refuses further bytes in chunks, and accepts an empty body in chunks")
  func chunksAfterEnd() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      #expect(try await media.append(Self.photo, to: path, at: 0, isComplete: true).status == 201)
      for (body, status) in [("1\r\nx\r\n0\r\n\r\n", 409), ("0\r\n\r\n", 200)] {
        let answers = try await RawConnection.exchange(
          """
          PATCH \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(media.key)\r\nUpload-Draft-Interop-Version: 6\r
          Upload-Offset: 700000\r\nContent-Type: application/partial-upload\r\nTransfer-Encoding: chunked\r\n\r
          \(body)
          """, port: media.server.port)
        #expect(answers.map(\.status) == [status])
      }
    }
  }

  @Test("that begins with a body is refused before the body arrives")
  func bodyAtBeginning() async throws {
    try await MediaServer.with { media in
      let head = """
        POST /v1/editorial/media HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(media.key)\r\nContent-Type: image/png\r
        Upload-Draft-Interop-Version: 6\r\nUpload-Complete: ?0\r\nContent-Length: 5\r\n\r\n
        """
      let answers = try await RawConnection.exchange(head, port: media.server.port, endsInput: false)
      #expect(answers.map(\.status) == [400])
    }
  }

  @Test("in one request has the offset 0 and the length of its body")
  func oneRequest() async throws {
    try await MediaServer.with { media in
      for (name, value) in [("Upload-Offset", "100"), ("Upload-Length", "699999"), ("Upload-Length", "700001")] {
        for isComplete in [[], [("Upload-Complete", "?1")]] {
          let fields = [MediaServer.uploadVersion, (name, value)] + isComplete
          let refused = try await media.server.send(
            "POST", "/v1/editorial/media", key: media.key, headers: [("Content-Type", "image/png")] + fields,
            file: Self.photo)
          #expect(refused.status == 400 && refused.text.contains(name), "\(name): \(value)")
        }
      }
      try await eventually("the refused files are removed") { try names(in: media.folder).isEmpty }
      let fields = [MediaServer.uploadVersion, ("Upload-Offset", "0"), ("Upload-Length", "700000")]
      let stored = try await media.server.send(
        "POST", "/v1/editorial/media", key: media.key, headers: [("Content-Type", "image/png")] + fields,
        file: Self.photo)
      #expect(stored.status == 201)
    }
  }

  @Test("has one length, whichever request declares it")
  func contradictingLength() async throws {
    try await MediaServer.with(settings: { $0.maximumMediaBytes = 800_000 }) { media in
      let (start, rest) = (Self.photo.prefix(1000), Self.photo[1000...])
      func append(
        _ bytes: Data, to path: String, at offset: Int, isComplete: Bool = false, _ length: Int
      ) async throws -> Int {
        let declared = [("Upload-Length", "\(length)")]
        let answer = try await media.append(bytes, to: path, at: offset, isComplete: isComplete, declared)
        #expect(answer.status < 400 || answer.status == 413 || answer.text.contains("Upload-Length"))
        return answer.status
      }
      let declared = try await media.begun([("Upload-Length", "700000")])
      #expect(try await append(start, to: declared, at: 0, 700_001) == 400)
      #expect(try await append(Self.photo, to: declared, at: 0, isComplete: true, 699_999) == 400)
      #expect(try await media.offset(of: declared) == 0)
      #expect(try await append(Self.photo, to: declared, at: 0, isComplete: true, 700_000) == 201)

      let late = try await media.begun()
      #expect(try await append(start, to: late, at: 0, 800_001) == 413)
      #expect(try await append(start, to: late, at: 0, 999) == 413)
      #expect(try await append(Data(), to: late, at: 0, 0) == 400)
      #expect(try await media.offset(of: late) == 0)
      #expect(try await append(start, to: late, at: 0, 700_000) == 204)
      #expect(try await append(Data(), to: late, at: 1000, 999) == 400)
      #expect(try await append(rest, to: late, at: 1000, isComplete: true, 700_001) == 400)
      let long = try await media.append(rest + Data("x".utf8), to: late, at: 1000, isComplete: true)
      #expect(long.status == 413)
      #expect(try await append(rest, to: late, at: 1000, isComplete: true, 700_000) == 200)

      let short = try await media.begun()
      #expect(try await media.append(start, to: short, at: 0, isComplete: false).status == 204)
      #expect(try await append(Data(), to: short, at: 1000, 999) == 400)
      #expect(try await append(Data(), to: short, at: 1000, isComplete: true, 1000) == 201)
    }
  }

  @Test("is recognised by a brand far from its beginning")
  func manyBrands() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun(type: "application/octet-stream")
      // It is one of the last bytes by which a format is recognised.
      let content = "ftypmif10000" + String(repeating: "mif1", count: 1019) + "avif"
      let last = try await media.append(
        Data([0, 0, 16, 0]) + Data(content.utf8), to: path, at: 0, isComplete: true)
      #expect(try last.json(Attachment.self, status: 201).type == "image/avif")
    }
  }

  @Test("that is cancelled while another process has its empty part open keeps its row until the part is gone")
  func cancelledEmptyPart() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      let part = try #require(try await media.storage.open(try media.id(of: path)))
      #expect(try await media.cancel(path) == 204)
      #expect(try await media.uploadCount() == 1)
      // The process ends without having removed the part.
      await part.close()
      #expect(try await media.library.collect(unusedFor: .seconds(3600)) == MediaCollection(uploads: 1))
      #expect(try await media.uploadCount() == 0)
      #expect(try names(in: media.folder).isEmpty)
    }
  }

  @Test("and its file refuse unknown parameters, and change nothing")
  func unknownParameters() async throws {
    try await MediaServer.with { media in
      let file = try await media.published(SampleMedia.png(seed: 2))
      let path = try await media.begun()
      let editorial = file.replacing("/v1/media/", with: "/v1/editorial/media/")
      for (method, target) in [
        ("GET", file), ("GET", editorial), ("DELETE", editorial), ("OPTIONS", "/v1/editorial/media"), ("HEAD", path),
        ("PATCH", path), ("DELETE", path),
      ] {
        var headers = [MediaServer.uploadVersion]
        if method == "PATCH" {
          headers.append(("Upload-Offset", "0"))
          headers.append(("Content-Type", "application/partial-upload"))
        }
        let answer = try await media.server.send(method, target + "?x=1", key: media.key, headers: headers)
        #expect(answer.status == 400, "\(method) \(target)")
      }
      #expect(try await media.offset(of: path) == 0)
      #expect(try await media.server.get(file).status == 200)
    }
  }
}

/// A folder of files that runs an action before each part is opened, and keeps the part.
private struct LateParts: MediaStorage, MediaPartStorage {
  private final class Opened: Sendable {
    let parts = Mutex<[any MediaPart]>([])
  }

  let storage: MediaDirectory
  let willOpen: @Sendable () async throws -> Void
  private let opened = Opened()

  init(storage: MediaDirectory, willOpen: @escaping @Sendable () async throws -> Void) {
    (self.storage, self.willOpen) = (storage, willOpen)
  }

  var labelled: (any LabelledStorage)? { storage.labelled }
  var parts: (any MediaPartStorage)? { self }

  func begin() async throws -> any MediaUpload { try await storage.begin() }
  func open(_ digest: MediaDigest) async throws -> MediaFile? { try await storage.open(digest) }
  func digests() async throws -> [MediaDigest] { try await storage.digests() }

  func remove(_ digests: [MediaDigest], storedBefore date: Date) async throws -> Int {
    try await storage.remove(digests, storedBefore: date)
  }

  func sweep() async throws -> Int { try await storage.sweep() }

  func open(_ id: UUID) async throws -> (any MediaPart)? {
    try await willOpen()
    let part = try await storage.open(id)
    if let part { opened.parts.withLock { $0.append(part) } }
    return part
  }

  func length(_ id: UUID) async throws -> Int { try await storage.length(id) }
  func ids() async throws -> [UUID] { try await storage.ids() }
  func remove(_ ids: [UUID]) async throws -> Int { try await storage.remove(ids) }
}
