import FaultServer
import Foundation
import Synchronization
import TestKit
import Testing

/// The request record of a server, and its queue of responses.
@Suite struct RecordTests {
  @Test func `requests are recorded as received`() async throws {
    let clock = Mutex(Duration.seconds(5))
    let server = try await FaultServer.start(time: { clock.withLock { $0 } })
    let connection = try RawConnection(port: server.port)
    let first = "POST /a%20b?x=1%2C2&y HTTP/1.1\r\nb: 2\r\nA: 1\r\nb:3 \r\nContent-Length: 3\r\n\r\nabc"
    try connection.send(first)
    _ = await connection.read(upTo: 1)
    #expect(server.bytesRead == first.utf8.count)
    clock.withLock { $0 = .seconds(9) }
    try connection.send("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nIf-None-Match: \"a\"\r\n\r\n")
    try connection.send("2\r\nde\r\n0\r\n\r\n")
    try await eventually("both came") { server.requests.count == 2 }
    let requests = server.takeRequests()
    #expect(requests.map(\.method) == ["POST", "PUT"])
    #expect(requests.map(\.arrival) == [.seconds(5), .seconds(9)])
    #expect(requests.map(\.isConditional) == [false, true])
    #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["abc", "de"])
    #expect(requests[0].headers.map { "\($0.name)=\($0.value)" } == ["b=2", "A=1", "b=3", "Content-Length=3"])
    #expect(requests[0].path == "/a%20b")
    #expect(requests[0].query == ["x": "1,2", "y": ""])
    #expect(requests[0]["B"] == "2")
    #expect(server.requests.isEmpty)
    await server.stop()
  }

  @Test func `a body that expects 100 Continue receives it`() async throws {
    try await FaultServer.with { server in
      let connection = try RawConnection(port: server.port)
      try connection.send("PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
      #expect(await connection.text(upTo: 25) == "HTTP/1.1 100 Continue\r\n\r\n")
      try connection.send("a")
      #expect(await connection.text(upTo: 12) == "HTTP/1.1 404")
    }
  }

  @Test func `queued responses are used first, and the handler can be replaced`() async throws {
    try await FaultServer.with({ _ in FaultResponse(body: Data("old".utf8)) }) { server async throws in
      server.respond(next: .busy(429, retryAfter: .seconds(7)), .notModified())
      #expect(try await exchange(server.port).head.hasPrefix("HTTP/1.1 429 Too Many Requests\r\n"))
      #expect(server.queued == 1)
      #expect(try await exchange(server.port).head == "HTTP/1.1 304 Not Modified\r\nETag: \"never-seen\"")
      #expect(try await exchange(server.port).body == Data("old".utf8))
      server.respond { _ in FaultResponse(body: Data("new".utf8)) }
      #expect(try await exchange(server.port).body == Data("new".utf8))
      #expect(server.connections == 4)
    }
  }

  @Test func `the server counts the bytes of a long body that were sent`() async throws {
    try await FaultServer.with({ _ in .huge(bytes: 64 << 20) }) { server in
      let connection = try RawConnection(port: server.port)
      try connection.get()
      _ = await connection.read(upTo: 1 << 20)
      try await eventually("what has come is counted") { server.bytesWritten >= 1 << 20 }
      #expect(server.bytesWritten < 32 << 20)
      _ = await connection.read(upTo: 63 << 20)
      try await eventually("all is counted") { server.bytesWritten > 64 << 20 }
    }
  }

  @Test func `a server can be restarted on its port`() async throws {
    let first = try await FaultServer.start()
    await first.stop()
    let second = try await FaultServer.start(port: first.port) { _ in .json("{}") }
    #expect(try await exchange(second.port).body == Data("{}".utf8))
    await second.stop()
  }
}
