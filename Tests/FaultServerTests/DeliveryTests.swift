import FaultServer
import TestKit
import Foundation
import Testing

/// Tests that the faults reach the wire.
@Suite struct DeliveryTests {
  let answer = FaultAnswer(headers: [("X-Test", "yes")], body: Data("0123456789".utf8))

  private func sent(
    _ answer: FaultAnswer, silence: Duration = .seconds(30)
  ) async throws -> (head: String, body: Data, ending: RawConnection.Ending?) {
    try await FaultServer.with({ _ in answer }) { try await exchange($0.port, silence: silence) }
  }

  @Test func `an ordinary answer has what it was given and its length`() async throws {
    let (head, body, ending) = try await sent(answer)
    #expect(head == "HTTP/1.1 200 OK\r\nX-Test: yes\r\nContent-Length: 10")
    #expect(body == answer.body)
    #expect(ending == .closed)
  }

  @Test func `a connection is kept for further requests`() async throws {
    try await FaultServer.with({ FaultAnswer(body: Data($0.target.utf8)) }) { server in
      let connection = try RawConnection(port: server.port)
      try connection.send("GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\nConnection: close\r\n\r\n")
      let text = await connection.text()
      #expect(text.hasSuffix("\r\n\r\n/b"))
      #expect(text.contains("\r\n\r\n/aHTTP/1.1 200 OK"))
      #expect(server.requests.map(\.connection) == [1, 1])
    }
  }

  @Test func `an answer can drip`() async throws {
    let start = ContinuousClock.now
    let (_, body, _) = try await sent(answer.dripping(bytes: 2, every: .milliseconds(60)))
    #expect(body == answer.body)
    #expect(ContinuousClock.now - start >= .milliseconds(300))
  }

  @Test func `a drip can be spread over a time, and its first bytes come at once`() async throws {
    try await FaultServer.with({ _ in answer.dripping(over: .seconds(60)) }) { server in
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
  func `an answer can hang, be reset or closed at any point`(_ point: FaultPoint, _ end: String) async throws {
    let connections = try await FaultServer.with({ request in
      switch request.path {
      case "/hang": answer.hanging(at: point)
      case "/reset": answer.resetting(at: point)
      default: answer.truncated(at: point)
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

  @Test func `what hangs goes on when it is released, and ends when the server stops`() async throws {
    let server = try await FaultServer.start { _ in answer.hanging(at: .body(3)) }
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

  @Test func `a client that goes while an answer hangs or drips is noticed`() async throws {
    try await FaultServer.with({ request in
      request.path == "/hang" ? answer.hanging(at: .start) : answer.dripping(over: .seconds(600))
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

  @Test func `a chunked answer can lack its end`() async throws {
    let chunked = answer.framed(.chunked)
    #expect(try await String(decoding: sent(chunked).body, as: UTF8.self) == "a\r\n0123456789\r\n0\r\n\r\n")
    #expect(try await sent(chunked).head.hasSuffix("Transfer-Encoding: chunked"))
    let (_, body, ending) = try await sent(chunked.truncated(at: .body(10)))
    #expect(String(decoding: body, as: UTF8.self) == "a\r\n0123456789\r\n")
    #expect(ending == .closed)
    #expect(try await String(decoding: sent(chunked.truncated(at: .body(3))).body, as: UTF8.self) == "a\r\n012")
  }

  @Test func `an answer can end with its connection alone`() async throws {
    let (head, body, ending) = try await sent(answer.framed(.untilClose))
    #expect(head == "HTTP/1.1 200 OK\r\nX-Test: yes")
    #expect(body == answer.body)
    #expect(ending == .closed)
  }

  @Test func `a length can be a lie`() async throws {
    try await FaultServer.with({ _ in answer.declaring(length: 99) }) { server in
      let connection = try RawConnection(port: server.port)
      try connection.get()
      _ = try await connection.text(before: "Content-Length: 99\r\n\r\n0123456789")
      #expect(await connection.isSilent)
    }
    #expect(try await sent(answer.declaring(length: 3)).head.hasSuffix("Content-Length: 3"))
    #expect(try await sent(answer.declaring(length: 3)).body == answer.body)
  }

  @Test func `interim answers come in front`() async throws {
    let text = try await FaultServer.with({ _ in answer.afterContinue().afterEarlyHints(2) }) { server in
      let connection = try RawConnection(port: server.port)
      try connection.get("/", "Connection: close")
      return await connection.text()
    }
    #expect(text.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: "))
    #expect(text.components(separatedBy: "HTTP/1.1 ").count == 5)
  }

  @Test(arguments: FaultAnswer.wrongStatusLines)
  func `a status line can be wrong`(_ line: String) async throws {
    #expect(try await sent(answer.withStatusLine(line)).head.hasPrefix(line + "\r\nX-Test: yes\r\n"))
  }

  @Test func `heads can be huge, and answers no HTTP at all`() async throws {
    #expect(try await sent(answer.withHugeHeader(bytes: 1 << 20)).head.utf8.count > 1 << 20)
    #expect(try await sent(answer.withManyHeaders(5000)).head.components(separatedBy: "\r\n").count == 5003)
    let (head, _, ending) = try await sent(.raw(Data("SSH-2.0-OpenSSH_9.9\r\n".utf8)))
    #expect(head == "SSH-2.0-OpenSSH_9.9\r\n")
    #expect(ending == .closed)
  }
}
