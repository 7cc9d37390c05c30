import Foundation
import News
import TestKit
import TestSupport
import Testing

@Suite struct ResumableUploadProxyTests {
  private static let version = ("Upload-Draft-Interop-Version", "6")

  /// Returns a PATCH with the length of the whole file and less content than that.
  private static func truncatedPart(_ bytes: Data, of length: Int, _ path: String, key: String) -> Data {
    let head = """
      PATCH \(path) HTTP/1.1\r\nHost: news.example\r\nAuthorization: Bearer \(key)\r\nUpload-Draft-Interop-Version: 6\r
      Upload-Offset: 0\r\nContent-Type: application/partial-upload\r\nContent-Length: \(length)\r\n\r\n
      """
    return Data(head.utf8) + bytes
  }

  @Test(
    "An upload over several requests passes, unbuffered, and continues after an interruption", arguments: Edge.installed
  )
  func upload(edge: Edge) async throws {
    let file = SampleMedia.png(bytes: 3_000_000)
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let key = try await installation.makeKey(scopes: ["media:write"])
        try await installation.serve(changes: ["TIDINGS_MEDIA_DIRECTORY": folder.path]) { server in
          let proxy = try await Proxy(edge.kind, servers: [server.port], cache: edge.hasCache)
          try await Proxy.with(proxy) { proxy in
            let options = try await proxy.client.send(
              "OPTIONS", "/v1/editorial/media", key: key, headers: [Self.version])
            #expect(options.status == 204)
            #expect(options["Upload-Draft-Interop-Version"] == "6")
            let begun = try await proxy.client.send(
              "POST", "/v1/editorial/media", key: key,
              headers: [Self.version, ("Upload-Complete", "?0"), ("Content-Type", "image/png")])
            let path = try #require(begun["Location"])
            func offset() async throws -> Int? {
              try await proxy.client.send("HEAD", path, key: key, headers: [Self.version])["Upload-Offset"]
                .flatMap { Int($0) }
            }
            #expect(try await offset() == 0)

            let connection = try Loopback.connect(to: proxy.port)
            try Loopback.send(
              Self.truncatedPart(file.prefix(2_000_000), of: file.count, path, key: key), on: connection)
            // A proxy that buffers the request sends nothing before it is complete.
            try await eventually("the bytes are at the server") {
              guard let name = try names(in: folder).first(where: { $0.hasPrefix("part-") }) else { return false }
              return try Data(contentsOf: folder.appending(path: name)).count > 1_500_000
            }
            close(connection)
            try await eventually("all of them are recorded") { try await offset() ?? 0 > 1_500_000 }
            let start = try #require(try await offset())
            try await eventually("the server takes the rest") {
              let rest = try await proxy.client.send(
                "PATCH", path, key: key,
                headers: [
                  Self.version, ("Upload-Offset", "\(start)"), ("Upload-Complete", "?1"),
                  ("Content-Type", "application/partial-upload"),
                ], file: file[start...])
              // The first request may still hold the part for a moment.
              if rest.status == 409 { return false }
              #expect(try rest.json(Attachment.self, status: 201).sha256 == file.sha256)
              return true
            }
            #expect(try await offset() == file.count)
            let deleted = try await proxy.client.send("DELETE", path, key: key, headers: [Self.version])
            #expect(deleted.status == 204)
            #expect(try names(in: folder) == [file.sha256])
          }
        }
      }
    }
  }
}
