public import Foundation

/// Where in an answer something happens.
public enum FaultPoint: Sendable, Equatable {
  /// Before its first byte.
  case start
  /// Half of the head has been sent.
  case inHead
  /// So many bytes of the body have been sent, in a chunk if it is chunked; at most all there are.
  case body(Int)
}

/// What happens there instead of the rest.
public enum FaultEnding: Sendable, Equatable {
  /// Nothing, until the server is stopped or its answers are released.
  case hang
  /// The connection is aborted: RST.
  case reset
  /// The connection is closed: FIN.
  case close
}

/// An answer as a plan for its bytes. Nothing is added that is not here, a `Date` neither.
public struct FaultAnswer: Sendable {
  /// How the end of the body is told (RFC 9112 section 6).
  public enum Framing: Sendable, Equatable {
    /// By `Content-Length`: the true one, or a lie.
    case length(Int?)
    /// By one chunk and the last.
    case chunked
    /// By the end of the connection.
    case untilClose
    /// Not at all, for 304 and the like.
    case bare
  }

  struct Cut: Sendable {
    var point: FaultPoint
    var ending: FaultEnding
  }

  struct Pace: Sendable {
    var point: FaultPoint
    var bytes: Int
    var interval: Duration
  }

  /// Sent as three digits.
  public var status: Int
  /// What is sent instead of `HTTP/1.1 200 OK`; nil for the proper line.
  public var statusLine: String?
  /// In the order in which they are sent, before those of the framing.
  public var headers: [(name: String, value: String)]
  /// As sent, without transfer coding.
  public var body: Data
  /// How the end of the body is told.
  public var framing: Framing
  /// Bytes in front of the answer: interim answers, or garbage.
  public var prefix = Data()
  /// What is sent of the body behind ``body``, until that is ended.
  public var stream: FaultStream?
  var cut: Cut?
  var pace: Pace?

  /// An ordinary answer, framed by its length.
  public init(status: Int = 200, headers: [(name: String, value: String)] = [], body: Data = Data()) {
    self.status = status
    self.headers = headers
    self.body = body
    framing = status == 204 || status == 304 ? .bare : .length(nil)
  }

  /// Bytes that need not be HTTP, and then the end of the connection.
  public static func raw(_ bytes: Data) -> FaultAnswer {
    var answer = FaultAnswer()
    answer.prefix = bytes
    answer.statusLine = ""
    return answer
  }

  /// JSON, properly sent.
  public static func json(_ text: String, status: Int = 200) -> FaultAnswer {
    FaultAnswer(status: status, headers: [("Content-Type", "application/json")], body: Data(text.utf8))
  }

  /// The value of the first field of a name, nil where it is absent.
  public subscript(name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// With a field, in place of those of its name.
  public func setting(_ name: String, _ value: String) -> FaultAnswer {
    var answer = removing(name)
    answer.headers.append((name, value))
    return answer
  }

  /// Without the fields of a name.
  public func removing(_ name: String) -> FaultAnswer {
    var answer = self
    answer.headers.removeAll { $0.name.lowercased() == name.lowercased() }
    return answer
  }

  /// With one more field, whatever there is of its name.
  public func adding(_ name: String, _ value: String) -> FaultAnswer {
    var answer = self
    answer.headers.append((name, value))
    return answer
  }

  /// With a changed body.
  public func body(_ change: (Data) throws -> Data) rethrows -> FaultAnswer {
    var answer = self
    answer.body = try change(body)
    return answer
  }

  /// As it is answered to HEAD: without the body, with its length.
  public var headOnly: FaultAnswer {
    var answer = self
    if framing == .length(nil) { answer.framing = .length(body.count) }
    answer.body = Data()
    return answer
  }
}

extension FaultAnswer {
  private var isRaw: Bool { statusLine == "" }

  /// Whether the connection ends behind the answer.
  var endsConnection: Bool {
    isRaw || framing == .untilClose || self["Connection"]?.lowercased() == "close"
  }

  private var head: Data {
    if isRaw { return Data() }
    var lines = [statusLine ?? "HTTP/1.1 \(status) \(Self.reason(status))"]
    lines += headers.map { "\($0.name): \($0.value)" }
    switch framing {
    case .length(let lie): lines.append("Content-Length: \(lie ?? body.count)")
    case .chunked: lines.append("Transfer-Encoding: chunked")
    case .untilClose, .bare: break
    }
    return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  private var chunkHead: Data {
    framing == .chunked && !body.isEmpty ? Data((String(body.count, radix: 16) + "\r\n").utf8) : Data()
  }

  /// All bytes but those of the stream.
  var wire: Data {
    let bytes = prefix + head + chunkHead + body
    guard framing == .chunked else { return bytes }
    let lastChunk = stream == nil ? "0\r\n\r\n" : ""
    return bytes + Data(((body.isEmpty ? "" : "\r\n") + lastChunk).utf8)
  }

  /// How many bytes of ``wire`` are before a point.
  func offset(of point: FaultPoint) -> Int {
    switch point {
    case .start: return 0
    case .inHead: return prefix.count + head.count / 2
    case .body(let count):
      let count = stream == nil ? min(count, body.count) : count
      let chunkEnd = framing == .chunked && !body.isEmpty && count >= body.count ? 2 : 0
      return prefix.count + head.count + chunkHead.count + max(0, count) + chunkEnd
    }
  }

  private static func reason(_ status: Int) -> String {
    [
      200: "OK", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
      304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 404: "Not Found",
      405: "Method Not Allowed", 410: "Gone", 429: "Too Many Requests", 500: "Internal Server Error",
      503: "Service Unavailable",
    ][status] ?? "Status"
  }
}
