import Foundation
import MediaFiles
import NewsAPI
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The keys and servers of uploads, the ends of those that do not become a file, and what remains of those that do.
extension ResumableUploadTests {
  @Test("is swept once it is complete, if a crash has left its part")
  func remains() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      #expect(try await media.append(Self.photo, to: path, at: 0, isComplete: true).status == 201)
      try Self.photo.write(to: media.part(of: path))
      // An upload in one request has left its bytes in the same way.
      try Self.photo.write(to: media.folder.appending(path: "upload-\(UUID())"))
      #expect(try await media.library.collect(unusedFor: .seconds(3600)) == MediaCollection(uploads: 2))
      #expect(try names(in: media.folder) == [Self.photo.sha256])
      #expect(try await media.state(of: path)["Upload-Complete"] == "?1")
      // Its cancellation leaves the file.
      #expect(try await media.cancel(path) == 204)
      #expect(try await media.uploadCount() == 0)
      #expect(try names(in: media.folder) == [Self.photo.sha256])
      #expect(try await media.server.store.mediaCounts().registered == 1)
    }
  }

  @Test("can be cancelled, and leaves nothing")
  func cancelled() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      _ = try await media.append(Self.photo.prefix(300_000), to: path, at: 0, isComplete: false)
      let empty = try await media.begun()
      for path in [path, empty] {
        let answer = try await media.server.send("DELETE", path, key: media.key, headers: [MediaServer.uploadVersion])
        #expect(answer.status == 204 && answer["Upload-Draft-Interop-Version"] == "6")
      }
      #expect(try names(in: media.folder).isEmpty)
      #expect(try await media.uploadCount() == 0)
      #expect(try await media.state(of: path).status == 404)
      #expect(try await media.append(Data(), to: path, at: 0, isComplete: true).status == 404)
      #expect(try await media.cancel(path) == 404)
      #expect(try names(in: media.folder).isEmpty)
    }
  }

  @Test("that is cancelled while a request appends stays cancelled, and leaves nothing")
  func cancelledDuringRequest() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      let id = try media.id(of: path)
      let connection = try Loopback.connect(to: media.server.port)
      try Loopback.send(media.truncatedAppend(Self.photo.prefix(300_000), of: 700_000, to: path, at: 0), on: connection)
      try await eventually("the first bytes are written") { try await media.storage.length(id) > 0 }
      #expect(try await media.cancel(path) == 204)
      #expect(try await media.state(of: path).status == 404)
      // The request removes the part at its end. The row stays until then, because a part without one would stay for ever.
      #expect(try await media.uploadCount() == 1)
      close(connection)
      try await eventually("nothing is left") {
        guard try await media.uploadCount() == 0 else { return false }
        return try names(in: media.folder).isEmpty
      }
    }
  }

  @Test("expires a day after its last progress, and is swept")
  func expiry() async throws {
    try await MediaServer.with { media in
      let paths = [try await media.begun(), try await media.begun()]
      let query: PostgresQuery =
        "SELECT extract(epoch FROM min(expires_at) - clock_timestamp())::float8 AS left FROM media_uploads"
      let first = try await media.server.sql.query(query).first?.decode("left", as: Double.self)
      #expect(86_000...86_400 ~= first ?? 0)
      // The day begins anew with each progress.
      _ = try await media.server.sql.query("UPDATE media_uploads SET expires_at = expires_at - interval '23 hours'")
      for path in paths { _ = try await media.append(Self.photo.prefix(5000), to: path, at: 0, isComplete: false) }
      let second = try await media.server.sql.query(query).first?.decode("left", as: Double.self)
      #expect(86_000...86_400 ~= second ?? 0)
      _ = try await media.server.sql.query(
        "UPDATE media_uploads SET expires_at = clock_timestamp() WHERE id = \(try media.id(of: paths[0]))")
      #expect(try await media.state(of: paths[0]).status == 404)
      #expect(try await media.cancel(paths[0]) == 404)
      // A part without an upload stays: it may belong to another database.
      let foreign = UUID()
      let foreignPart = media.folder.appending(path: "part-\(foreign.uuidString.lowercased())")
      try Data("x".utf8).write(to: foreignPart)
      #expect(try await media.library.collect(unusedFor: .seconds(3600)) == MediaCollection(uploads: 1))
      let report = try await media.library.report()
      #expect(report.partsWithoutRow == [foreign])
      #expect(!report.isConsistent)
      try FileManager.default.removeItem(at: foreignPart)
      #expect(try media.parts() == [media.part(of: paths[1]).lastPathComponent])
      #expect(try await media.offset(of: paths[1]) == 5000)
      #expect(try await media.uploadCount() == 1)
    }
  }

  @Test("that has expired keeps its row while its part is open")
  func openPart() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      #expect(try await media.append(Self.photo.prefix(5000), to: path, at: 0, isComplete: false).status == 204)
      let part = try #require(try await media.storage.open(try media.id(of: path)))
      _ = try await media.server.sql.query("UPDATE media_uploads SET expires_at = clock_timestamp()")
      #expect(try await media.library.collect(unusedFor: .seconds(3600)) == MediaCollection())
      #expect(try await media.uploadCount() == 1)
      await part.close()
      #expect(try await media.library.collect(unusedFor: .seconds(3600)) == MediaCollection(uploads: 1))
      #expect(try await media.uploadCount() == 0)
      #expect(try media.parts().isEmpty)
    }
  }

  @Test("belongs to its key, and another one changes nothing")
  func otherKey() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      #expect(try await media.append(Self.photo.prefix(5000), to: path, at: 0, isComplete: false).status == 204)
      let other = try await media.server.store.createKey(name: "photo", permissions: [.mediaWrite])
      #expect(try await media.state(of: path, key: other).status == 404)
      #expect(
        try await media.server.send("DELETE", path, key: other, headers: [MediaServer.uploadVersion]).status == 404)
      let headers = [
        MediaServer.uploadVersion, ("Upload-Offset", "5000"), ("Content-Type", "application/partial-upload"),
      ]
      let rest = Self.photo[5000...]
      #expect(try await media.server.send("PATCH", path, key: other, headers: headers, file: rest).status == 404)
      #expect(try await media.begin(key: media.server.key).status == 403)
      #expect(try await media.state(of: path, key: media.server.key).status == 403)
      #expect(try await media.offset(of: path) == 5000)
    }
  }

  @Test("is one of twenty at most that its key has begun")
  func number() async throws {
    try await MediaServer.with { media in
      let length = [("Upload-Length", "1000")]
      for _ in 0..<20 { _ = try await media.begun(length) }
      #expect(try await media.begin(length).status == 409)
      #expect(try await media.uploadCount() == 20)
    }
  }

  @Test("is described by OPTIONS")
  func options() async throws {
    try await MediaServer.with(settings: {
      $0.maximumMediaBytes = 1_000_000
      $0.uploadLifetime = 3600
    }) { media in
      let headers = [MediaServer.uploadVersion]
      let answer = try await media.server.send("OPTIONS", "/v1/editorial/media", key: media.key, headers: headers)
      #expect(answer.status == 204)
      #expect(answer["Upload-Draft-Interop-Version"] == "6")
      #expect(answer["Upload-Limit"] == "max-size=1000000, expires=3600")
      #expect(answer["Access-Control-Allow-Origin"] == nil)
      #expect(try await media.server.send("OPTIONS", "/v1/editorial/media", headers: headers).status == 401)
    }
  }

  @Test("is refused by a server without files")
  func notKept() async throws {
    try await TestServer.with { server in
      let key = try await server.store.createKey(name: "photo", permissions: [.mediaWrite])
      let headers = [MediaServer.uploadVersion]
      #expect(try await server.send("OPTIONS", "/v1/editorial/media", key: key, headers: headers).status == 501)
    }
  }
}
