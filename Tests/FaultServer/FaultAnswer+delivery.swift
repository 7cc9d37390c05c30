public import Foundation

/// How the bytes of an answer arrive.
extension FaultAnswer {
  /// Hangs there until the server is stopped, or its answers are released; then the rest is sent.
  public func hanging(at point: FaultPoint) -> FaultAnswer { ending(.hang, at: point) }

  /// Aborts the connection there.
  ///
  /// What came before is on its way first, but a client that has not read it yet may lose it with the reset, as on
  /// any network.
  public func resetting(at point: FaultPoint) -> FaultAnswer { ending(.reset, at: point) }

  /// Closes the connection there: `Content-Length` has promised more, or the last chunk is missing.
  public func truncated(at point: FaultPoint) -> FaultAnswer { ending(.close, at: point) }

  /// Ends the answer at a point.
  public func ending(_ ending: FaultEnding, at point: FaultPoint) -> FaultAnswer {
    var answer = self
    answer.cut = Cut(point: point, ending: ending)
    return answer
  }

  /// Sends so many bytes at a time, with a pause before each, from a point on.
  public func dripping(bytes: Int = 1, every interval: Duration, from point: FaultPoint = .body(0)) -> FaultAnswer {
    var answer = self
    answer.pace = Pace(point: point, bytes: max(1, bytes), interval: interval)
    return answer
  }

  /// Spreads the body over a time, such as a minute, byte by byte or with more at a time where that is more often than
  /// each 10 ms.
  public func dripping(over duration: Duration) -> FaultAnswer {
    let count = max(1, body.count)
    let steps = min(count, max(1, Int(duration / .milliseconds(10))))
    return dripping(bytes: (count + steps - 1) / steps, every: duration / steps)
  }

  /// Tells another length than the body has. The connection stays open: after too short a body the client waits, and
  /// what is too long comes in front of the next answer.
  public func declaring(length: Int) -> FaultAnswer {
    framed(.length(length))
  }

  /// Tells the end of the body in another way.
  public func framed(_ framing: Framing) -> FaultAnswer {
    var answer = self
    answer.framing = framing
    return answer
  }

  /// Sends `103 Early Hints` first (RFC 8297).
  public func afterEarlyHints(_ count: Int = 1) -> FaultAnswer {
    var answer = self
    for _ in 0..<count {
      answer.prefix += Data("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload; as=style\r\n\r\n".utf8)
    }
    return answer
  }

  /// Sends `100 Continue` first, whether or not the request has asked for it.
  public func afterContinue() -> FaultAnswer {
    var answer = self
    answer.prefix += Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)
    return answer
  }

  /// Sends a field whose value has so many bytes.
  public func withHugeHeader(bytes: Int) -> FaultAnswer {
    adding("X-Padding", String(repeating: "a", count: bytes))
  }

  /// Sends so many fields.
  public func withManyHeaders(_ count: Int) -> FaultAnswer {
    var answer = self
    answer.headers += (0..<count).map { ("X-Padding-\($0)", "a") }
    return answer
  }

  /// Begins with a line that is no status line of HTTP/1.1.
  public func withStatusLine(_ line: String) -> FaultAnswer {
    var answer = self
    answer.statusLine = line
    return answer
  }

  /// Lines that no client should take for an answer with status 200.
  public static let wrongStatusLines = [
    "HTTP/1.1 2OO OK", "HTTP/1.1", "HTTP/9.9 200 OK", "HTTP/1.1 -200 OK", "HTTP/1.1 99999 OK", "ICY 200 OK",
    "\u{1}\u{2}", "<html>",
  ]

  /// Claims to have been sent at a time, by a clock that may be years off.
  public func dated(_ date: Date) -> FaultAnswer { setting("Date", HTTPDates.fixdate(date)) }
}
