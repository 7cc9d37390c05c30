public import Foundation

/// A point in the bytes of a response.
public enum FaultPoint: Sendable, Equatable {
  /// Before the first byte.
  case start
  /// After half of the head.
  case inHead
  /// After the given number of body bytes, without chunk framing; clamped to the length of a body that is not streamed.
  case body(Int)
}

/// The event at the point where a response ends early.
public enum FaultEnding: Sendable, Equatable {
  /// The response stalls until the server is stopped or its responses are released.
  case hang
  /// The connection is aborted (RST).
  case reset
  /// The connection is closed (FIN).
  case close
}

/// A plan for the bytes of a response. No field is added implicitly, not even `Date`.
public struct FaultResponse: Sendable {
  /// The framing that marks the end of the body (RFC 9112 section 6).
  public enum Framing: Sendable, Equatable {
    /// `Content-Length`: the actual length if nil, else the given one, which may be wrong.
    case length(Int?)
    /// Chunked transfer coding: one chunk and the last chunk.
    case chunked
    /// The end of the connection.
    case untilClose
    /// No framing, for 304 and similar statuses.
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

  /// The status code, sent as three digits.
  public var status: Int
  /// The replacement of the status line; nil for the regular one, such as `HTTP/1.1 200 OK`.
  public var statusLine: String?
  /// The fields in the order in which they are sent, before the field of the framing.
  public var headers: [(name: String, value: String)]
  /// The body as sent, without transfer coding.
  public var body: Data
  /// The framing of the body.
  public var framing: Framing
  /// The bytes before the status line: interim responses, or garbage.
  public var prefix = Data()
  /// The part of the body that follows ``body``, until the stream ends.
  public var stream: FaultStream?
  var cut: Cut?
  var pace: Pace?

  /// Creates a regular response, framed by its length.
  public init(status: Int = 200, headers: [(name: String, value: String)] = [], body: Data = Data()) {
    self.status = status
    self.headers = headers
    self.body = body
    framing = status == 204 || status == 304 ? .bare : .length(nil)
  }

  /// Returns bytes that need not be HTTP, followed by the end of the connection.
  public static func raw(_ bytes: Data) -> FaultResponse {
    var response = FaultResponse()
    response.prefix = bytes
    response.statusLine = ""
    return response
  }

  /// Returns a regular response with a JSON body.
  public static func json(_ text: String, status: Int = 200) -> FaultResponse {
    FaultResponse(status: status, headers: [("Content-Type", "application/json")], body: Data(text.utf8))
  }

  /// The value of the first field with a name; nil if there is none.
  public subscript(name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// Returns the response with a field that replaces all fields of the same name.
  public func setting(_ name: String, _ value: String) -> FaultResponse {
    var response = removing(name)
    response.headers.append((name, value))
    return response
  }

  /// Returns the response without the fields of a name.
  public func removing(_ name: String) -> FaultResponse {
    var response = self
    response.headers.removeAll { $0.name.lowercased() == name.lowercased() }
    return response
  }

  /// Returns the response with one more field; fields of the same name stay.
  public func adding(_ name: String, _ value: String) -> FaultResponse {
    var response = self
    response.headers.append((name, value))
    return response
  }

  /// Returns the response with a changed body.
  public func body(_ change: (Data) throws -> Data) rethrows -> FaultResponse {
    var response = self
    response.body = try change(body)
    return response
  }

  /// The response to HEAD: without the body, but with its length.
  public var headOnly: FaultResponse {
    var response = self
    if framing == .length(nil) { response.framing = .length(body.count) }
    response.body = Data()
    return response
  }
}

extension FaultResponse {
  private var isRaw: Bool { statusLine == "" }

  /// Whether the connection ends after the response.
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

  /// All bytes except those of the stream.
  var wire: Data {
    let bytes = prefix + head + chunkHead + body
    guard framing == .chunked else { return bytes }
    let lastChunk = stream == nil ? "0\r\n\r\n" : ""
    return bytes + Data(((body.isEmpty ? "" : "\r\n") + lastChunk).utf8)
  }

  /// Returns the number of bytes of ``wire`` before a point.
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
