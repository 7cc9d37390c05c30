import FaultServer
import Foundation
import TestSupport
import Testing

/// The fields in which the shipped nginx names the client.
@Suite struct ForwardingTests {
  private static func values(_ name: String, of request: FaultRequest) -> [String] {
    request.headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  @Test("nginx names its peer, whatever the client has written into any such field", .enabled(if: Proxy.isInstalled))
  func forged() async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 200) }) { server in
      let proxy = try await Proxy(.nginx, servers: [server.port], cache: false)
      try await Proxy.with(proxy) { proxy in
        let fields = [
          "X-Forwarded-For: 203.0.113.9", "x-forwarded-for: 203.0.113.8, 127.0.0.1", "Forwarded: for=203.0.113.9",
          "X-Forwarded-Proto: https",
        ]
        for path in [
          "/v1/items", "/v1/events", "/v1/editorial/items", "/v1/media/x", "/v1/websub/x", "/console", "/worker.js",
          "/console/live/events",
        ] {
          let head = "GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + fields.joined(separator: "\r\n")
          _ = try await RawConnection.bytes([Data("\(head)\r\n\r\n".utf8)], port: proxy.port, endsInput: false)
          let request = try #require(server.takeRequests().last { $0.path == path }, "\(path)")
          #expect(Self.values("X-Forwarded-For", of: request) == ["127.0.0.1"], "\(path)")
          #expect(Self.values("X-Forwarded-Proto", of: request) == ["http"], "\(path)")
          #expect(Self.values("Forwarded", of: request) == [], "\(path)")
        }
      }
    }
  }
}
