import NIOCore
import NIOEmbedded
import NIOHTTP1
import NewsAPI
import Testing

@Suite struct TimeLimitsTests {
  private let limits = ConnectionLimits()
  private let channel: EmbeddedChannel

  init() throws {
    channel = EmbeddedChannel(handlers: [
      HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()), TimeLimits(limits: ConnectionLimits()),
    ])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
  }

  /// Receives bytes.
  ///
  /// - Parameter asksForMore: Whether the server reads on.
  private func receive(_ text: String, asksForMore: Bool = true) throws {
    try channel.writeInbound(ByteBuffer(string: text))
    if asksForMore { channel.read() }
  }

  private func answer() throws {
    try channel.writeOutbound(HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)))
    try channel.writeOutbound(HTTPServerResponsePart.end(nil))
  }

  private func pass(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }

  /// Whether the client exceeded a limit.
  private func isExceeded() -> Bool {
    do {
      try channel.throwIfErrorCaught()
      return false
    } catch {
      return error is TimeLimits.Exceeded
    }
  }

  private let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test("A connection without a request is closed when it has been idle for long, and no sooner")
  func idle() throws {
    pass(limits.idle - .seconds(1))
    #expect(channel.isActive)
    try receive(request)
    try answer()
    pass(limits.idle - .seconds(1))
    #expect(channel.isActive)
    pass(.seconds(1))
    #expect(!channel.isActive)
    #expect(!isExceeded())
  }

  @Test("A header that comes byte by byte has its time from the first byte on")
  func slowHeader() throws {
    pass(.seconds(60))
    for byte in request.dropLast(4) {
      try receive(String(byte))
      pass(.milliseconds(500))
    }
    #expect(isExceeded())
  }

  @Test("The time of a header ends with the header, and each has its own")
  func headersInTime() throws {
    for _ in 0..<10 {
      try receive("GET / HTTP/1.1\r\n")
      pass(limits.header - .seconds(1))
      try receive("Host: a\r\n\r\n")
      try answer()
      pass(.seconds(20))
    }
    #expect(channel.isActive)
    #expect(!isExceeded())
  }

  @Test("The time that the server takes is its own")
  func slowServer() throws {
    try receive(request)
    pass(.hours(1))
    #expect(channel.isActive)
    #expect(!isExceeded())
    try answer()
    pass(limits.idle)
    #expect(!channel.isActive)
  }

  @Test("Not the first of two answers but the last one makes a connection idle")
  func pipelining() throws {
    try receive(request + request)
    try answer()
    pass(.hours(1))
    #expect(channel.isActive)
    try answer()
    pass(limits.idle)
    #expect(!channel.isActive)
  }

  private let upload = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"

  @Test("A body that pauses is given up, however fast it came before")
  func pausingBody() throws {
    try receive(upload + String(repeating: "x", count: 500_000))
    pass(limits.bodyPause - .seconds(1))
    #expect(!isExceeded())
    pass(.seconds(1))
    #expect(isExceeded())
  }

  @Test("A body that never pauses but trickles is given up")
  func tricklingBody() throws {
    try receive(upload)
    var seconds = 0
    while !isExceeded(), seconds < 1000 {
      try receive("x")
      pass(.seconds(1))
      seconds += 1
    }
    #expect(seconds == 31)
  }

  @Test("A body that is slow but steady arrives")
  func slowBody() throws {
    try receive(upload)
    for _ in 0..<900 {
      try receive(String(repeating: "x", count: 1100))
      pass(.seconds(1))
    }
    #expect(!isExceeded())
    #expect(channel.isActive)
  }

  @Test("While the server does not read on, a body has time; then it must come as before")
  func slowTaker() throws {
    try receive(upload + String(repeating: "x", count: 50_000), asksForMore: false)
    // The timer that checks the pause fires in the middle of the client's next 30 s.
    pass(.hours(1) + .seconds(10))
    #expect(!isExceeded())
    channel.read()
    pass(limits.bodyPause - .seconds(1))
    #expect(!isExceeded())
    try receive("x")
    // The client has 30 s, and must average 1 KiB a second over the time in which the server was reading.
    pass(limits.bodyPause - .seconds(1))
    #expect(!isExceeded())
    pass(.seconds(1))
    #expect(isExceeded())
  }

  @Test("A body has its time, whatever number of bytes has come")
  func manyBytes() {
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    for before: Int64 in [9_223_372_036, 9_223_372_037, 1 << 40, .max - 1, .max] {
      var allowance = BodyAllowance(began: start, bytes: before)
      allowance.add(1)
      allowance.add(.max)
      #expect(allowance.deadline(at: start, limits) == start + limits.bodyPause)
      // The average rate extends the deadline by at most one year.
      let late = allowance.deadline(at: start + .hours(24 * 366), limits) - start - limits.bodyPause
      #expect(late >= .hours(24 * 365) && late <= .hours(24 * 365) + .seconds(1))
    }
  }

  @Test("More bytes of a body than nanoseconds fit into an integer are counted")
  func hugeBody() throws {
    let channel = EmbeddedChannel(handlers: [TimeLimits(limits: limits)])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    try channel.writeInbound(HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")))
    let part = HTTPServerRequestPart.body(ByteBuffer(repeating: 0, count: 64 << 20))
    for _ in 0..<150 { try channel.writeInbound(part) }
    channel.read()
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: limits.bodyPause)
    #expect(throws: TimeLimits.Exceeded.self) { try channel.throwIfErrorCaught() }
  }

  @Test("Chunks that have nothing in them but extensions are no progress")
  func chunkExtensions() throws {
    try receive("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;x=")
    for _ in 0..<30 {
      try receive("yyyy")
      pass(.seconds(1))
    }
    #expect(isExceeded())
  }

  @Test("A client that was too slow, and does not go then, is made to go")
  func afterwards() throws {
    try receive("GET / HTTP/1.1\r\n")
    pass(limits.header)
    #expect(isExceeded())
    #expect(channel.isActive)
    pass(limits.idle)
    #expect(!channel.isActive)
  }

  @Test("A client that has not read its answer yet is not idle, until it stops reading")
  func slowReader() throws {
    try receive(request)
    // Embedded channels send flushed bytes at once, so these are not flushed.
    channel.write(HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)), promise: nil)
    channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(repeating: 1, count: 1000))), promise: nil)
    channel.write(HTTPServerResponsePart.end(nil), promise: nil)
    pass(limits.idle)
    #expect(channel.isActive)
    pass(limits.bodyPause)
    #expect(!channel.isActive)
  }
}
