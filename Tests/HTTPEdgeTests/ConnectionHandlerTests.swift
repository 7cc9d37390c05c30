import HTTPEdge
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@Suite struct ConnectionHandlerTests {
  private let connection: TestConnection

  init() throws {
    connection = try TestConnection()
  }

  private let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test("A refusal is sent after the previous responses and is the last one")
  func order() throws {
    try connection.receive(request + request + "GET / HTTP/1.1\r\n\r\n" + request)
    #expect(try connection.sent().isEmpty)
    try connection.respond()
    #expect(try !connection.sent().contains("Connection: close"))
    try connection.respond()
    let end = try connection.sent()
    #expect(end.hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 400 Bad Request\r\n"))
    try connection.receive(request)
    #expect(try connection.sent().isEmpty)
  }

  @Test("Only the last response of a connection has Connection: close")
  func lastAnswerAlone() throws {
    try connection.receive(request + "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + request)
    try connection.respond()
    #expect(try !connection.sent().contains("Connection"))
    try connection.respond()
    #expect(try connection.sent().contains("Connection: close\r\n"))
  }

  @Test("A header that takes too long is answered with 408")
  func slowHeader() throws {
    try connection.receive("GET / HTTP/1.1\r\n")
    connection.advance(by: ConnectionLimits().headerTimeout)
    #expect(try connection.sent().hasPrefix("HTTP/1.1 408 "))
  }

  @Test("A malformed or late body throws in its handler, whose response is the last one")
  func brokenBodies() throws {
    try connection.receive("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    try connection.receive("zz\r\n")
    #expect(throws: HTTPParserError.self) {
      try connection.startReadingBody()
      try connection.channel.throwIfErrorCaught()
    }
    #expect(try connection.sent().isEmpty)
    try connection.respond()
    #expect(try connection.sent().hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n"))
  }

  @Test("A body that no handler reads does not delay the end of the connection")
  func unreadBody() throws {
    try connection.receive("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx")
    try connection.respond()
    #expect(try connection.sent().contains("Connection: close"))
    try connection.receive("xxxxxxxxx" + request)
    #expect(try connection.sent().isEmpty)
    #expect(throws: ChannelError.outputClosed) { try connection.respond() }
  }

  @Test(
    "Nothing is read after the last request until its response has been written",
    arguments: [
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n\r\n",
      "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
  func lastInput(request: String) throws {
    connection.channel.read()
    #expect(connection.reads == 1)
    try connection.receive(request)
    connection.channel.read()
    #expect(connection.reads == 1)
    try connection.respond()
    #expect(try connection.sent().contains("Connection: close\r\n"))
    // `LingeringClose` reads the bytes that still arrive.
    #expect(connection.reads == 2)
  }

  @Test("The body of the last request is read to its end")
  func lastBody() throws {
    try connection.receive("PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 10\r\n\r\n")
    connection.channel.read()
    #expect(connection.reads == 1)
    try connection.receive("0123456789")
    connection.channel.read()
    #expect(connection.reads == 1)
  }

  @Test("A 100 (Continue) is sent only when a handler reads the body")
  func expectation() throws {
    try connection.receive("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n")
    #expect(try connection.sent().isEmpty)
    try connection.startReadingBody()
    #expect(try connection.sent() == "HTTP/1.1 100 Continue\r\n\r\n")
    try connection.startReadingBody()
    #expect(try connection.sent().isEmpty)
  }

  @Test("A handler is informed whether the body that it has read is complete")
  func wholeBody() throws {
    let taken = { try connection.channel.triggerUserOutboundEvent(ConnectionHandler.Event.bodyReadEnded).wait() }
    try connection.receive("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx")
    #expect(throws: ConnectionHandler.IncompleteBody.self) { try taken() }
    try connection.receive("x")
    try taken()
    // The body of the first request is whole, whatever has arrived of the next one.
    try connection.receive("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx")
    try taken()
  }

  @Test("The refusal of a HEAD request has no body")
  func head() throws {
    try connection.receive("HEAD / HTTP/1.1\r\n\r\n")
    let text = try connection.sent()
    #expect(text.hasPrefix("HTTP/1.1 400 "))
    #expect(text.hasSuffix("\r\n\r\n"))
  }

  @Test("A request beyond the rate limit is refused after the previous responses, and does not affect them")
  func rate() throws {
    let bucket = RateBucket(RequestRate(perMinute: 2), at: .now())
    let limits = AddressLimits(
      RequestRate(perMinute: 2), proxies: TrustedProxies(), unlimitedPaths: ["/healthz"]
    ) { _ in }
    let connection = try TestConnection(client: .bucket(bucket), limits: limits)
    try connection.receive(request + "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" + request + request + request)
    #expect(try connection.routed().count == 3)
    for _ in 0..<2 { try connection.respond() }
    #expect(try !connection.sent().contains("400"))
    try connection.respond()
    #expect(try connection.sent().contains("tooManyRequests"))
  }
}
