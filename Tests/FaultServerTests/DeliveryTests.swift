import FaultServer
import Foundation
import TestKit
import Testing

/// Tests that the faults reach the wire.
@Suite struct DeliveryTests {
  let response = FaultResponse(headers: [("X-Test", "yes")], body: Data("0123456789".utf8))

  private func sent(
    _ response: FaultResponse, timeout: Duration = .seconds(30)
  ) async throws -> (head: String, body: Data, ending: RawConnection.Ending?) {
    try await FaultServer.with({ _ in response }) { try await exchange($0.port, timeout: timeout) }
  }

  @Test func `a regular response has its fields, its body and its length`() async throws {
    let (head, body, ending) = try await sent(response)
    #expect(head == "HTTP/1.1 200 OK\r\nX-Test: yes\r\nContent-Length: 10")
    #expect(body == response.body)
    #expect(ending == .closed)
  }

  @Test func `a connection is kept for further requests`() async throws {
    try await FaultServer.with({ FaultResponse(body: Data($0.target.utf8)) }) { server in
      let connection = try RawConnection(port: server.port)
      try connection.send("GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\nConnection: close\r\n\r\n")
      let text = await connection.text()
      #expect(text.hasSuffix("\r\n\r\n/b"))
      #expect(text.contains("\r\n\r\n/aHTTP/1.1 200 OK"))
      #expect(server.requests.map(\.connection) == [1, 1])
    }
  }

  @Test func `a response can be sent slowly`() async throws {
    let start = ContinuousClock.now
    let (_, body, _) = try await sent(response.dripping(bytes: 2, every: .milliseconds(60)))
    #expect(body == response.body)
    #expect(ContinuousClock.now - start >= .milliseconds(300))
  }

  @Test func `a body can be spread over a duration, and its first bytes are sent at once`() async throws {
    try await FaultServer.with({ _ in response.dripping(over: .seconds(60)) }) { server in
      let connection = try RawConnection(port: server.port)
      try connection.get()
      _ = try await connection.text(before: "Content-Length: 10\r\n\r\n")
      #expect(await connection.isSilent)
    }
  }

  @Test(arguments: [
    (FaultPoint.start, ""), (.inHead, "HTTP/1.1 200 OK\r\nX-Test: y"), (.body(0), "\r\n\r\n"),
    (.body(4), "\r\n\r\n0123"), (.body(99), "0123456789"),
  ])
  func `a response can hang, be reset or closed at any point`(_ point: FaultPoint, _ end: String) async throws {
    let connections = try await FaultServer.with({ request in
      switch request.path {
      case "/hang": response.hanging(at: point)
      case "/reset": response.resetting(at: point)
      default: response.truncated(at: point)
      }
    }) { server in
      for (path, ending) in [("/reset", RawConnection.Ending.reset), ("/close", .closed)] {
        let connection = try RawConnection(port: server.port)
        try connection.get(path)
        let (bytes, seen) = await connection.read()
        #expect(seen == ending)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(end.isEmpty ? text.isEmpty : text.hasSuffix(end), "\(path)")
      }
      let connection = try RawConnection(port: server.port)
      try connection.get("/hang")
      _ = try await connection.text(before: end)
      #expect(await connection.isSilent)
      return server.connections
    }
    #expect(connections == 3)
  }

  @Test func `a stalled response continues after a release, and ends when the server stops`() async throws {
    let server = try await FaultServer.start { _ in response.hanging(at: .body(3)) }
    let connection = try RawConnection(port: server.port)
    try connection.get()
    _ = try await connection.text(before: "\r\n\r\n012")
    #expect(await connection.isSilent)
    server.release()
    #expect(await connection.text(upTo: 7) == "3456789")
    try connection.get()
    _ = try await connection.text(before: "\r\n\r\n012")
    await server.stop()
    #expect(await connection.read().ending == .closed)
    #expect(server.openConnections == 0)
  }

  @Test func `the server notices a client that disconnects during a stalled or slow response`() async throws {
    try await FaultServer.with({ request in
      request.path == "/hang" ? response.hanging(at: .start) : response.dripping(over: .seconds(600))
    }) { server in
      var clients = try ["/hang", "/drip"].map { target in
        let connection = try RawConnection(port: server.port)
        try connection.get(target)
        return connection
      }
      try await eventually("both are there") { server.requests.count == 2 }
      #expect(server.openConnections == 2)
      clients = []
      try await eventually("both are gone") { server.openConnections == 0 }
      #expect(clients.isEmpty)
    }
  }

  @Test func `a chunked response can lack its end`() async throws {
    let chunked = response.framed(.chunked)
    #expect(try await String(decoding: sent(chunked).body, as: UTF8.self) == "a\r\n0123456789\r\n0\r\n\r\n")
    #expect(try await sent(chunked).head.hasSuffix("Transfer-Encoding: chunked"))
    let (_, body, ending) = try await sent(chunked.truncated(at: .body(10)))
    #expect(String(decoding: body, as: UTF8.self) == "a\r\n0123456789\r\n")
    #expect(ending == .closed)
    #expect(try await String(decoding: sent(chunked.truncated(at: .body(3))).body, as: UTF8.self) == "a\r\n012")
  }

  @Test func `a response can end with the connection`() async throws {
    let (head, body, ending) = try await sent(response.framed(.untilClose))
    #expect(head == "HTTP/1.1 200 OK\r\nX-Test: yes")
    #expect(body == response.body)
    #expect(ending == .closed)
  }

  @Test func `a declared length can be wrong`() async throws {
    try await FaultServer.with({ _ in response.declaring(length: 99) }) { server in
      let connection = try RawConnection(port: server.port)
      try connection.get()
      _ = try await connection.text(before: "Content-Length: 99\r\n\r\n0123456789")
      #expect(await connection.isSilent)
    }
    #expect(try await sent(response.declaring(length: 3)).head.hasSuffix("Content-Length: 3"))
    #expect(try await sent(response.declaring(length: 3)).body == response.body)
  }

  @Test func `interim responses precede the response`() async throws {
    let text = try await FaultServer.with({ _ in response.afterContinue().afterEarlyHints(2) }) { server in
      let connection = try RawConnection(port: server.port)
      try connection.get("/", "Connection: close")
      return await connection.text()
    }
    #expect(text.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: "))
    #expect(text.components(separatedBy: "HTTP/1.1 ").count == 5)
  }

  @Test(arguments: FaultResponse.wrongStatusLines)
  func `a status line can be wrong`(_ line: String) async throws {
    #expect(try await sent(response.withStatusLine(line)).head.hasPrefix(line + "\r\nX-Test: yes\r\n"))
  }

  @Test func `heads can be huge, and a response need not be HTTP`() async throws {
    #expect(try await sent(response.withHugeHeader(bytes: 1 << 20)).head.utf8.count > 1 << 20)
    #expect(try await sent(response.withManyHeaders(5000)).head.components(separatedBy: "\r\n").count == 5003)
    let (head, _, ending) = try await sent(.raw(Data("SSH-2.0-OpenSSH_9.9\r\n".utf8)))
    #expect(head == "SSH-2.0-OpenSSH_9.9\r\n")
    #expect(ending == .closed)
  }
}
