import Foundation
import TestSupport
import Testing

@Suite struct AssetTests {
  /// Reads the addresses of the styles and scripts of the sign-in page.
  private static func addresses(_ console: ConsoleServer) async throws -> [String] {
    try await console.browser().get("/console/sign-in").scan.tags.compactMap { $0["href"] ?? $0["src"] }.filter {
      $0.hasSuffix(".css") || $0.hasSuffix(".js")
    }
  }

  @Test("Styles and scripts are compressed for browsers that accept this, and stay the same")
  func compression() async throws {
    try await ConsoleServer.with { console in
      let client = TestClient(url: console.server.url)
      let addresses = try await Self.addresses(console)
      #expect(Set(addresses).count == 2)
      for address in addresses {
        let plain = try await client.send("GET", address)
        let compressed = try await client.send("GET", address, headers: [("Accept-Encoding", "br, gzip")])
        let refused = try await client.send("GET", address, headers: [("Accept-Encoding", "gzip;q=0, identity")])
        for answer in [plain, compressed, refused] {
          #expect(answer.status == 200)
          #expect(answer["Vary"] == "Accept-Encoding")
          #expect(answer["Cache-Control"] == "public, max-age=31536000, immutable")
          #expect(answer["Content-Length"] == "\(answer.body.count)")
        }
        #expect(compressed["Content-Encoding"] == "gzip")
        #expect(try compressed.body.gunzipped() == plain.body)
        #expect(compressed.body.count * 2 < plain.body.count)
        for answer in [plain, refused] { #expect(answer["Content-Encoding"] == nil) }
        #expect(refused.body == plain.body)
      }
    }
  }

  @Test("An address with the hash of another version gets the current file, which no cache keeps")
  func otherVersions() async throws {
    try await ConsoleServer.with { console in
      let client = TestClient(url: console.server.url)
      let current = try await client.send("GET", try #require(try await Self.addresses(console).first))
      let other = try await client.send("GET", "/console/assets/console-0123456789abcdef.css")
      #expect(other.status == 200)
      #expect(other.body == current.body)
      #expect(other["Cache-Control"] == "no-store")
      #expect(try await client.send("GET", "/console/assets/other-0123456789abcdef.css").status == 404)
    }
  }
}
