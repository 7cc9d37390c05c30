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
