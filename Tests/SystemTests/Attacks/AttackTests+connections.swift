import Foundation
import News
import TestKit
import TestSupport
import Testing

extension AttackTests {
  /// Requests that the server answers for as long as the client stays, each with the attacker's bytes after it.
  private static func waitingRequests(_ token: String) -> [String] {
    let upgrade = "Connection: Upgrade\r\nUpgrade: x\r\n"
    let body = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999999\r\n\r\n"
    let chunk = "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n"
    return ["/v1/events", "/v1/changes?wait=50&since=\(token)"].flatMap { path in
      let start = "GET \(path) HTTP/1.1\r\nHost: a\r\n"
      return [start + "\r\n" + body, start + "\r\n" + chunk, start + upgrade + "\r\n"]
    }
  }

  @Test("The server does not buffer an endless body after an event stream or a long poll")
  func endlessBodies() async throws {
    try await Self.with("endless bodies behind streams and long polls") { target in
      let server = target.server
      let token = try await server.send("GET", "/v1/state").json(FeedState.self).feed.description
      for request in Self.waitingRequests(token) {
        // Without a bound the server runs out of memory at 9.2 GB.
        let limit = Self.runsLongTests ? 12 << 30 : 256 << 20
        let bytes = Data(request.utf8) + Data(count: 4 << 20)
        let taken = try await RawConnection.fill(bytes, limit: limit, port: server.port)
        #expect(taken < 64 << 20, "\(request.prefix(60))")
      }
      // Many connections at once.
      let request = Self.waitingRequests(token)[2]
      let taken = try await withThrowingTaskGroup(of: Int.self) { group -> [Int] in
        for _ in 0..<(Self.runsLongTests ? 40 : 8) {
          group.addTask {
            try await RawConnection.fill(
              Data(request.utf8) + Data(count: 1 << 20), limit: 256 << 20, port: server.port)
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(taken.allSatisfy { $0 < 64 << 20 })
    }
  }

  @Test("Requests with very many errors get short responses, on all paths")
  func amplification() async throws {
    try await Self.with("requests with very many errors", growth: 192) { target in
      let server = target.server
      let query = Array(repeating: "a", count: 7000).joined(separator: "&")
      let rounds = Self.runsLongTests ? 200 : 10
      for path in ["/healthz", "/readyz", "/v1/items", "/v1/events", "/metrics"] {
        let request = "GET \(path)?\(query) HTTP/1.1\r\nHost: a\r\n\r\n"
        let bytes = Data(String(repeating: request, count: rounds).utf8)
        let answers = try await RawConnection.bytes([bytes], port: server.port)
        #expect(answers.count < bytes.count, "\(path): \(answers.count) bytes for \(bytes.count)")
      }
      let fields = (0..<90_000).map { "\"f\($0)\":0" }.joined(separator: ",")
      for _ in 0..<(Self.runsLongTests ? 20 : 2) {
        let answer = try await server.send("POST", "/v1/editorial/items", key: target.key, body: "{\(fields)}")
        #expect(answer.status == 422)
        #expect(answer.body.count < 8192)
      }
    }
  }

  @Test("Requests in absolute form for streams and long polls are served")
  func absoluteForm() async throws {
    try await Self.with("requests in absolute form") { target in
      let server = target.server
      let token = try await server.send("GET", "/v1/state").json(FeedState.self).feed.description
      for round in 0..<(Self.runsLongTests ? 500 : 20) {
        for path in ["/v1/events", "/v1/events?since=\(token)", "/v1/changes?wait=50&since=\(token)", "/v1/items"] {
          let scheme = ["http", "https", "HTTP"][round % 3]
          let request = "GET \(scheme)://news.example:80\(path) HTTP/1.1\r\nHost: news.example\r\n\r\n"
          let bytes = try await RawConnection.bytes([Data(request.utf8)], port: server.port)
          #expect(bytes.starts(with: Data("HTTP/1.1 200 OK\r\n".utf8)), "\(path)")
        }
      }
    }
  }
}
