package import NIOHTTP1

/// The requests that are recognised in the bytes of a connection, by a strict subset of HTTP/1.1 (RFC 9112). Whatever is
/// outside of it is left to the decoder, which may accept it.
///
///     GET /v1/items?limit=20 HTTP/1.1
///     Host: news.example
///     If-None-Match: "x"
///
package enum RequestGrammar {
  /// The beginning of some bytes.
  package enum Match {
    /// A GET or HEAD of this length in bytes, without a body, after which the next request begins.
    case request(Request)
    /// The beginning of such a request.
    case incomplete
    /// Something else.
    case other
  }

  package struct Request {
    /// The length in bytes.
    package let length: Int
    /// The request, if it is plain.
    package let plain: PlainRequest?
    /// The values of the field in which proxies name their client, one for each line.
    package let forwarded: [String]
  }

  /// The maximum length of a request in bytes.
  package static let maximumLength = 8192
  /// The maximum number of field lines. It is lower than that of the decoder.
  private static let maximumFields = 100

  /// Reads a request.
  ///
  /// - Parameter forwardingField: The name of the field in which proxies name their client, in lower case; nil if its
  ///   values are not needed.
  package static func match(_ bytes: UnsafeRawBufferPointer, forwardingField: String? = nil) -> Match {
    var reader = Reader(bytes: UnsafeRawBufferPointer(rebasing: bytes.prefix(maximumLength)))
    do {
      return .request(try reader.request(forwardingField))
    } catch {
      guard case .incomplete = error else { return .other }
      return bytes.count < maximumLength ? .incomplete : .other
    }
  }

  private enum Failure: Error {
    case incomplete, unknown
  }

  private struct Reader {
    let bytes: UnsafeRawBufferPointer
    var place = 0

    mutating func request(_ forwardingField: String?) throws(Failure) -> Request {
      // Every other method is left to the router anyway, and most have a body.
      let isGet = try byte() == UInt8(ascii: "G")
      place = 0
      try skip(isGet ? "GET " : "HEAD ")
      let target = try text(to: UInt8(ascii: " ")) { 33...126 ~= $0 && $0 != UInt8(ascii: "#") }
      guard target.first == UInt8(ascii: "/") else { throw .unknown }
      try skip("HTTP/1.1\r\n")
      var plain = isGet ? PlainRequest(target: String(decoding: target, as: UTF8.self)) : nil
      var (hosts, count) = (0, 0)
      var forwarded: [String] = []
      while try byte() != UInt8(ascii: "\r") {
        count += 1
        guard count <= maximumFields else { throw .unknown }
        let name = try text(to: UInt8(ascii: ":"), where: Self.isToken)
        let value = try value()
        switch PlainField(name) {
        case .host:
          hosts += 1
          if !Self.isHost(value) { plain = nil }
        case .connection:
          guard PlainField.isKeepAlive(value) else { throw .unknown }
        case .refused: throw .unknown
        case .ignored:
          if let forwardingField, name.equals(forwardingField.utf8) {
            forwarded.append(String(decoding: value, as: UTF8.self))
          }
        case let field: if plain?.set(field, String(decoding: value, as: UTF8.self)) == false { plain = nil }
        }
      }
      try skip("\r\n")
      return Request(length: place, plain: hosts == 1 ? plain : nil, forwarded: forwarded)
    }

    /// Returns the next byte without moving on.
    private func byte() throws(Failure) -> UInt8 {
      guard place < bytes.count else { throw .incomplete }
      return bytes[place]
    }

    private mutating func skip(_ expected: StaticString) throws(Failure) {
      for offset in 0..<expected.utf8CodeUnitCount {
        guard try byte() == expected.utf8Start[offset] else { throw .unknown }
        place += 1
      }
    }

    /// Reads bytes, at least one, and the one after them.
    private mutating func text(
      to end: UInt8, where isAllowed: (UInt8) -> Bool
    ) throws(Failure) -> UnsafeRawBufferPointer {
      let start = place
      while true {
        let byte = try byte()
        place += 1
        if byte == end { break }
        guard isAllowed(byte) else { throw .unknown }
      }
      guard place - start > 1 else { throw .unknown }
      return UnsafeRawBufferPointer(rebasing: bytes[start..<place - 1])
    }

    /// Reads the value of a field, without spaces before it but with those after it, as the decoder does, and the end of
    /// its line.
    private mutating func value() throws(Failure) -> UnsafeRawBufferPointer {
      while try byte() == UInt8(ascii: " ") { place += 1 }
      let start = place
      while try byte() != UInt8(ascii: "\r") {
        // The decoder keeps tabs in some places.
        guard 32...126 ~= bytes[place] else { throw .unknown }
        place += 1
      }
      let value = UnsafeRawBufferPointer(rebasing: bytes[start..<place])
      try skip("\r\n")
      return value
    }

    /// RFC 9110 section 5.6.2.
    private static func isToken(_ byte: UInt8) -> Bool {
      switch byte {
      case 48...57, 65...90, 94...122, 124, 126: true
      case UInt8(ascii: "!"), 35...39, UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
      default: false
      }
    }

    /// Whether a value is a name or an IPv4 address with an optional port. Other hosts are left to the decoder.
    private static func isHost(_ value: UnsafeRawBufferPointer) -> Bool {
      guard value.count <= 255 else { return false }
      var (length, hasPort) = (0, false)
      for byte in value {
        switch byte {
        case 48...57: break
        case 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."): guard !hasPort else { return false }
        case UInt8(ascii: ":"):
          guard !hasPort else { return false }
          hasPort = true
        default: return false
        }
        if !hasPort { length += 1 }
      }
      return length > 0
    }
  }
}

/// A GET without a body and without anything that only the router can answer. Its response depends on these parts alone.
package struct PlainRequest: Sendable, Hashable {
  /// The target in origin form.
  package var target: String
  package var ifNoneMatch: String?
  package var ifModifiedSince: String?
  package var acceptEncoding: String?

  package init(target: String) {
    self.target = target
  }

  /// Reads a decoded request.
  ///
  /// - Returns: nil for a request that is not plain.
  package init?(_ head: HTTPRequestHead) {
    guard head.method == .GET, head.version == .http1_1 else { return nil }
    self.init(target: head.uri)
    var (hosts, size) = (0, head.uri.utf8.count)
    for (name, value) in head.headers {
      size += name.utf8.count + value.utf8.count + 4
      switch PlainField(name) {
      case .host:
        hosts += 1
        guard HTTPRequestHead.isAuthority(value) else { return nil }
      case .connection: guard PlainField.isKeepAlive(value.utf8) else { return nil }
      case .refused: return nil
      case .ignored: break
      case let field: guard set(field, value) else { return nil }
      }
    }
    guard hosts == 1, size <= EdgeChannel.maximumHeaderBytes else { return nil }
  }

  /// Sets a field on which the response depends.
  ///
  /// - Returns: Whether the field is set for the first time.
  mutating func set(_ field: PlainField, _ value: String) -> Bool {
    switch field {
    case .ifNoneMatch: exchange(&ifNoneMatch, with: value) == nil
    case .ifModifiedSince: exchange(&ifModifiedSince, with: value) == nil
    case .acceptEncoding: exchange(&acceptEncoding, with: value) == nil
    case .host, .connection, .refused, .ignored: true
    case .routed: false
    }
  }
}

/// The meaning of a header field for a plain request.
enum PlainField {
  case host, connection, ifNoneMatch, ifModifiedSince, acceptEncoding
  /// The request has a body, conditions for writes, or changes the connection.
  case refused
  /// The field changes the response of some routes (RFC 3229), so that only the router can answer.
  case routed
  /// The field does not matter to the response.
  case ignored

  init(_ name: String) {
    var name = name
    self = name.withUTF8 { PlainField(UnsafeRawBufferPointer($0)) }
  }

  /// - Parameter name: The name in any case.
  init(_ name: UnsafeRawBufferPointer) {
    func isName(_ expected: StaticString) -> Bool {
      name.equals(UnsafeBufferPointer(start: expected.utf8Start, count: expected.utf8CodeUnitCount))
    }
    // The first comparison is that of lengths, because most fields have none of these names.
    switch name.count {
    case 4 where isName("host"): self = .host
    case 4 where isName("a-im"): self = .routed
    case 6 where isName("expect"): self = .refused
    case 7 where isName("upgrade"): self = .refused
    case 8 where isName("if-match"): self = .refused
    case 10 where isName("connection"): self = .connection
    case 13 where isName("if-none-match"): self = .ifNoneMatch
    case 14 where isName("content-length"): self = .refused
    case 15 where isName("accept-encoding"): self = .acceptEncoding
    // The decoder reads it like `Connection`.
    case 16 where isName("proxy-connection"): self = .refused
    case 17 where isName("if-modified-since"): self = .ifModifiedSince
    case 17 where isName("transfer-encoding"): self = .refused
    case 19 where isName("if-unmodified-since"): self = .refused
    default: self = .ignored
    }
  }

  /// Whether a value of `Connection` is `keep-alive` alone, which HTTP/1.1 needs not say.
  static func isKeepAlive(_ value: some Collection<UInt8>) -> Bool { value.equals("keep-alive".utf8) }
}

extension Collection<UInt8> {
  /// Whether the bytes are a text in lower case, regardless of their own case.
  func equals(_ lowercase: some Collection<UInt8>) -> Bool {
    count == lowercase.count && zip(self, lowercase).allSatisfy { $0 | (65...90 ~= $0 ? 0x20 : 0) == $1 }
  }
}
