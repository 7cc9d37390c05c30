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

  @Test("A refusal waits for the answers before it, and nothing comes after it")
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

  @Test("The answer to the request before one that ends the connection does not say that it closes")
  func lastAnswerAlone() throws {
    try connection.receive(request + "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + request)
    try connection.respond()
    #expect(try !connection.sent().contains("Connection"))
    try connection.respond()
    #expect(try connection.sent().contains("Connection: close\r\n"))
  }

  @Test("A header that takes too long is a 408")
  func slowHeader() throws {
    try connection.receive("GET / HTTP/1.1\r\n")
    connection.advance(by: ConnectionLimits().headerTimeout)
    #expect(try connection.sent().hasPrefix("HTTP/1.1 408 "))
  }

  @Test("A body that breaks or stops is an error for its reader, whose answer is the last one")
  func brokenBodies() throws {
    try connection.receive("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    try connection.receive("zz\r\n")
    #expect(throws: HTTPParserError.self) {
      try connection.wantBody()
      try connection.channel.throwIfErrorCaught()
    }
    #expect(try connection.sent().isEmpty)
    try connection.respond()
    #expect(try connection.sent().hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n"))
  }

  @Test("A body that no handler waits for any more does not hold up the end")
  func unreadBody() throws {
    try connection.receive("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx")
    try connection.respond()
    #expect(try connection.sent().contains("Connection: close"))
    try connection.receive("xxxxxxxxx" + request)
    #expect(try connection.sent().isEmpty)
    #expect(throws: ChannelError.outputClosed) { try connection.respond() }
  }

  @Test(
    "Nothing is read behind the last request until its answer has been written",
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

  @Test("A client that waits for a 100 gets one when a handler reads the body, and only then")
  func expectation() throws {
    try connection.receive("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n")
    #expect(try connection.sent().isEmpty)
    try connection.wantBody()
    #expect(try connection.sent() == "HTTP/1.1 100 Continue\r\n\r\n")
    try connection.wantBody()
    #expect(try connection.sent().isEmpty)
  }

  @Test("A handler learns whether the body that it has read was whole")
  func wholeBody() throws {
    let taken = { try connection.channel.triggerUserOutboundEvent(ConnectionHandler.Event.bodyTaken).wait() }
    try connection.receive("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx")
    #expect(throws: ConnectionHandler.BodyCut.self) { try taken() }
    try connection.receive("x")
    try taken()
    // The body of the first request is whole, whatever has arrived of the next one.
    try connection.receive("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx")
    try taken()
  }

  @Test("HEAD is refused without a body")
  func head() throws {
    try connection.receive("HEAD / HTTP/1.1\r\n\r\n")
    let text = try connection.sent()
    #expect(text.hasPrefix("HTTP/1.1 400 "))
    #expect(text.hasSuffix("\r\n\r\n"))
  }

  @Test("A request beyond the rate limit is refused in its turn, and costs those before it nothing")
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
