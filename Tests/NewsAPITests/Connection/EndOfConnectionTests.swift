import Foundation
import TestSupport
import Testing

@Suite struct EndOfConnectionTests {
  @Test("A client that closes its sending side receives all responses")
  func halfClosed() async throws {
    try await TestServer.with { server in
      for _ in 0..<10 { _ = try await server.publish(String(repeating: "x", count: 100_000)) }
      // More than the socket buffers hold, first from the router, then from memory.
      let request = String(repeating: "GET /v1/items HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 20)
      for _ in 0..<2 {
        let responses = try await RawConnection.exchange(request, port: server.port)
        #expect(responses.map(\.status) == Array(repeating: 200, count: 20))
        #expect(responses.allSatisfy { $0.body.count > 1_000_000 && $0["Content-Length"] == "\($0.body.count)" })
      }
    }
  }

  @Test(
    "The server stops reading requests from a client that does not read its responses",
    arguments: ["/v1/items", "/v1/items?q=x"])
  func unread(target: String) async throws {
    try await TestServer.with { server in
      for _ in 0..<10 { _ = try await server.publish(String(repeating: "x ", count: 50_000)) }
      _ = try await server.get("/v1/items")
      let request = "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n"
      let requests = Data(String(repeating: request, count: 1000).utf8)
      let limit = 50_000_000
      let taken = try await RawConnection.fill(requests, limit: limit, port: server.port)
      // The buffers of two sockets, and the requests that were read before the first responses were written.
      #expect(taken < limit / 2)
      #expect(try await server.get("/healthz").status == 200)
    }
  }
}
