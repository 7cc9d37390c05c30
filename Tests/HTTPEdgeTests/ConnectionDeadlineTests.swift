import HTTPEdge
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@Suite struct ConnectionDeadlineTests {
  private let limits = ConnectionLimits()
  private let connection: TestConnection

  init() throws {
    connection = try TestConnection()
  }

  private var isActive: Bool { connection.channel.isActive }

  /// Receives bytes.
  ///
  /// - Parameter readsOn: Whether the server reads on.
  private func receive(_ text: String, readsOn: Bool = true) throws {
    try connection.receive(text)
    if readsOn { connection.channel.read() }
  }

  private func pass(_ time: TimeAmount) { connection.advance(by: time) }

  /// Whether the client exceeded a limit in a header.
  private func isHeaderExceeded() throws -> Bool { try connection.sent().hasPrefix("HTTP/1.1 408 ") }

  /// Whether the client exceeded a limit in a body.
  private func isBodyExceeded() -> Bool {
    do {
      try connection.startReadingBody()
      try connection.channel.throwIfErrorCaught()
      return false
    } catch {
      return error is ConnectionDeadline.Exceeded
    }
  }

  private let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test("A connection without a request is closed at the idle timeout, not before")
  func idle() throws {
    pass(limits.idleTimeout - .seconds(1))
    #expect(isActive)
    try receive(request)
    try connection.respond()
    pass(limits.idleTimeout - .seconds(1))
    #expect(isActive)
    pass(.seconds(1))
    #expect(!isActive)
    #expect(!isBodyExceeded())
  }

  @Test("The timeout of a header that arrives byte by byte starts with its first byte")
  func slowHeader() throws {
    pass(.seconds(60))
    for byte in request.dropLast(4) {
      try receive(String(byte))
      pass(.milliseconds(500))
    }
    #expect(try isHeaderExceeded())
  }

  @Test("Each header has a timeout of its own, which ends with the header")
  func headersInTime() throws {
    for _ in 0..<10 {
      try receive("GET / HTTP/1.1\r\n")
      pass(limits.headerTimeout - .seconds(1))
      try receive("Host: a\r\n\r\n")
      try connection.respond()
      pass(.seconds(20))
    }
    #expect(isActive)
    #expect(try !isHeaderExceeded())
  }

  @Test("The time that the server takes for a response does not count against the client")
  func slowServer() throws {
    try receive(request)
    pass(.hours(1))
    #expect(isActive)
    #expect(!isBodyExceeded())
    try connection.respond()
    pass(limits.idleTimeout)
    #expect(!isActive)
  }

  @Test("A connection is idle after the last of two responses, not after the first")
  func pipelining() throws {
    try receive(request + request)
    try connection.respond()
    pass(.hours(1))
    #expect(isActive)
    try connection.respond()
    pass(limits.idleTimeout)
    #expect(!isActive)
  }

  private let upload = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"

  @Test("A body that pauses for too long is rejected, however fast it was before")
  func pausingBody() throws {
    try receive(upload + String(repeating: "x", count: 500_000))
    pass(limits.bodyIdleTimeout - .seconds(1))
    #expect(!isBodyExceeded())
    pass(.seconds(1))
    #expect(isBodyExceeded())
  }

  @Test("A body below the minimum rate is rejected, even if it never pauses")
  func tricklingBody() throws {
    try receive(upload)
    var seconds = 0
    while !isBodyExceeded(), seconds < 1000 {
      try receive("x")
      pass(.seconds(1))
      seconds += 1
    }
    #expect(seconds == 31)
  }

  @Test("A body at the minimum rate is accepted")
  func slowBody() throws {
    try receive(upload)
    for _ in 0..<900 {
      try receive(String(repeating: "x", count: 1100))
      pass(.seconds(1))
    }
    #expect(!isBodyExceeded())
    #expect(isActive)
  }

  @Test("The deadline of a body is extended by the time in which the server does not read")
  func slowTaker() throws {
    try receive(upload + String(repeating: "x", count: 50_000), readsOn: false)
    // The timer that checks the pause fires in the middle of the client's next 30 s.
    pass(.hours(1) + .seconds(10))
    #expect(!isBodyExceeded())
    connection.channel.read()
    pass(limits.bodyIdleTimeout - .seconds(1))
    #expect(!isBodyExceeded())
    try receive("x")
    // The client has 30 s, and must average 1 KiB a second over the time in which the server was reading.
    pass(limits.bodyIdleTimeout - .seconds(1))
    #expect(!isBodyExceeded())
    pass(.seconds(1))
    #expect(isBodyExceeded())
  }

  @Test("The deadline of a body is finite for any number of received bytes")
  func manyBytes() {
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    for before: Int64 in [9_223_372_036, 9_223_372_037, 1 << 40, .max - 1, .max] {
      var body = BodyDeadline(start: start, bytes: before)
      body.add(1)
      body.add(.max)
      #expect(body.deadline(at: start, limits) == start + limits.bodyIdleTimeout)
      // The average rate extends the deadline by at most one year.
      let late = body.deadline(at: start + .hours(24 * 366), limits) - start - limits.bodyIdleTimeout
      #expect(late >= .hours(24 * 365) && late <= .hours(24 * 365) + .seconds(1))
    }
  }

  @Test("The number of received bytes does not overflow")
  func hugeBody() {
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    var deadline = ConnectionDeadline(limits)
    deadline.receiveHead(at: start)
    for _ in 0..<150 { deadline.receiveBody(bytes: 64 << 20, at: start) }
    #expect(deadline.expire(at: start + limits.bodyIdleTimeout - .nanoseconds(1), unsentBytes: 0) == .wait)
    #expect(deadline.expire(at: start + limits.bodyIdleTimeout, unsentBytes: 0) == .fail)
  }

  @Test("Chunks that contain only extensions do not count as progress")
  func chunkExtensions() throws {
    try receive("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;x=")
    for _ in 0..<30 {
      try receive("yyyy")
      pass(.seconds(1))
    }
    #expect(isBodyExceeded())
  }

  @Test("A client that was too slow and does not close is disconnected")
  func afterwards() throws {
    try receive(upload)
    pass(limits.bodyIdleTimeout)
    #expect(isBodyExceeded())
    #expect(isActive)
    pass(limits.idleTimeout)
    #expect(!isActive)
  }

  @Test("A client that is still reading its response is not idle")
  func slowReader() throws {
    try receive(request)
    // Embedded channels send flushed bytes at once, so these are not flushed.
    connection.channel.write(
      HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)), promise: nil)
    connection.channel.write(
      HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(repeating: 1, count: 1000))), promise: nil)
    connection.channel.write(HTTPServerResponsePart.end(nil), promise: nil)
    pass(limits.idleTimeout)
    #expect(isActive)
    pass(limits.bodyIdleTimeout)
    #expect(!isActive)
  }
}
