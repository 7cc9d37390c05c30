public import Foundation

/// Delivery of the bytes of a response.
extension FaultResponse {
  /// Stalls at a point until the server is stopped or its responses are released. After a release, the rest is sent.
  public func hanging(at point: FaultPoint) -> FaultResponse { ending(.hang, at: point) }

  /// Aborts the connection at a point.
  ///
  /// The bytes before the point are sent first. A client that has not read them yet may lose them with the reset, as on
  /// any network.
  public func resetting(at point: FaultPoint) -> FaultResponse { ending(.reset, at: point) }

  /// Closes the connection at a point: the body is shorter than `Content-Length`, or the last chunk is missing.
  public func truncated(at point: FaultPoint) -> FaultResponse { ending(.close, at: point) }

  /// Ends the response at a point.
  public func ending(_ ending: FaultEnding, at point: FaultPoint) -> FaultResponse {
    var response = self
    response.cut = Cut(point: point, ending: ending)
    return response
  }

  /// From a point on, sends the given number of bytes at a time, with a pause before each write.
  public func dripping(bytes: Int = 1, every interval: Duration, from point: FaultPoint = .body(0)) -> FaultResponse {
    var response = self
    response.pace = Pace(point: point, bytes: max(1, bytes), interval: interval)
    return response
  }

  /// Spreads the body over a duration, byte by byte. Writes are at least 10 ms apart; a longer body is sent with more
  /// bytes per write.
  public func dripping(over duration: Duration) -> FaultResponse {
    let count = max(1, body.count)
    let steps = min(count, max(1, Int(duration / .milliseconds(10))))
    return dripping(bytes: (count + steps - 1) / steps, every: duration / steps)
  }

  /// Declares a wrong body length and keeps the connection open. If the body is too short, the client waits; the excess
  /// of a body that is too long precedes the next response.
  public func declaring(length: Int) -> FaultResponse {
    framed(.length(length))
  }

  /// Sets the framing of the body.
  public func framed(_ framing: Framing) -> FaultResponse {
    var response = self
    response.framing = framing
    return response
  }

  /// Sends `103 Early Hints` first (RFC 8297).
  public func afterEarlyHints(_ count: Int = 1) -> FaultResponse {
    var response = self
    for _ in 0..<count {
      response.prefix += Data("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload; as=style\r\n\r\n".utf8)
    }
    return response
  }

  /// Sends `100 Continue` first, whether or not the request asks for it.
  public func afterContinue() -> FaultResponse {
    var response = self
    response.prefix += Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)
    return response
  }

  /// Adds a field with a value of the given number of bytes.
  public func withHugeHeader(bytes: Int) -> FaultResponse {
    adding("X-Padding", String(repeating: "a", count: bytes))
  }

  /// Adds the given number of fields.
  public func withManyHeaders(_ count: Int) -> FaultResponse {
    var response = self
    response.headers += (0..<count).map { ("X-Padding-\($0)", "a") }
    return response
  }

  /// Replaces the status line with a line that need not be valid in HTTP/1.1.
  public func withStatusLine(_ line: String) -> FaultResponse {
    var response = self
    response.statusLine = line
    return response
  }

  /// Status lines that a client must not accept as status 200.
  public static let wrongStatusLines = [
    "HTTP/1.1 2OO OK", "HTTP/1.1", "HTTP/9.9 200 OK", "HTTP/1.1 -200 OK", "HTTP/1.1 99999 OK", "ICY 200 OK",
    "\u{1}\u{2}", "<html>",
  ]

  /// Sets `Date`, as a server does whose clock may be years off.
  public func dated(_ date: Date) -> FaultResponse { setting("Date", HTTPDates.fixdate(date)) }
}
