package import NIOHTTP1

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
