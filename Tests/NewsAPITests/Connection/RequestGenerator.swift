import Foundation
import TestKit

/// A generator of requests that are mostly valid, with hostile values in plausible places and occasional random changes
/// of bytes.
struct RequestGenerator {
  var random: SplitMix64
  let key: String
  /// Values issued by the server, as a basis for changes.
  let seeds: [String]

  /// Returns the bytes of one connection: one to four messages.
  mutating func connection() -> Data {
    var bytes = Data()
    for _ in 0..<Int.random(in: 1...4, using: &random) { bytes += message() }
    return bytes
  }

  private mutating func message() -> Data {
    let body = chance(0.5) ? self.body() : nil
    var header = body != nil && chance(0.7) ? write() : read()
    header += " \(chance(0.95) ? "HTTP/1.1" : pick(Self.versions))\r\n"
    if chance(0.98) { header += "Host: \(chance(0.95) ? "localhost" : pick(Self.hosts))\r\n" }
    if chance(0.8) { header += "Authorization: Bearer \(key)\r\n" }
    if body != nil, chance(0.9) { header += "Content-Type: \(pick(Self.types))\r\n" }
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      header += "\(pick(chance(0.8) ? Self.fields : Self.messageFields)): \(line(value()))"
      header += chance(0.98) ? "\r\n" : pick(Self.lineEnds)
    }
    var bytes = Data(header.utf8) + (body.map { framed($0) } ?? Data("\r\n".utf8))
    if chance(0.2) { mutate(&bytes) }
    return bytes
  }

  private mutating func write() -> String {
    "\(pick(["POST", "PUT", "PATCH"])) \(pick(Self.editorialPaths).replacing("{}", with: encoded(value())))"
  }

  private mutating func read() -> String {
    "\(pick(chance(0.95) ? Self.methods : Self.otherMethods)) \(target())"
  }

  private mutating func framed(_ body: Data) -> Data {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: return Data("Content-Length: \(pick(Self.numbers))\r\n\r\n".utf8) + body
    case 1: return Data("Transfer-Encoding: \(pick(Self.codings))\r\nContent-Length: 5\r\n\r\n".utf8) + body
    case 2...4:
      var bytes = Data("Transfer-Encoding: \(chance(0.9) ? "chunked" : pick(Self.codings))\r\n\r\n".utf8)
      var rest = body[...]
      while !rest.isEmpty {
        let part = rest.prefix(Int.random(in: 1...200, using: &random))
        bytes +=
          Data("\(String(part.count, radix: 16))\(chance(0.1) ? ";x=y" : "")\r\n".utf8) + part + Data("\r\n".utf8)
        rest = rest.dropFirst(part.count)
      }
      return bytes + Data((chance(0.9) ? "0\r\n\r\n" : "0\r\nX-Trailer: x\r\n\r\n").utf8)
    default: return Data("Content-Length: \(body.count)\r\n\r\n".utf8) + body
    }
  }

  private mutating func target() -> String {
    var target = chance(0.95) ? "" : pick(["http://localhost", "https://a:1", "//", "*", "http:", "\\"])
    target += pick(chance(0.8) ? Self.paths : Self.editorialPaths).replacing("{}", with: encoded(value()))
    guard chance(0.5) else { return target }
    for index in 0..<Int.random(in: 1...4, using: &random) {
      target += "\(index == 0 ? "?" : "&")\(pick(Self.parameters))=\(encoded(value()))"
    }
    return target
  }

  /// Usually restricts a value to the characters that a target permits.
  private mutating func encoded(_ value: String) -> String {
    chance(0.9) ? value.addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) ?? "" : value
  }

  /// Usually restricts a value to the characters that a field permits.
  private mutating func line(_ value: String) -> String {
    chance(0.95) ? value.filter { !$0.isNewline && $0 != "\0" } : value
  }

  private mutating func value() -> String {
    var value = chance(0.5) ? pick(Self.values) : chance(0.5) ? pick(seeds) : pick(Self.numbers)
    if chance(0.1) {
      var bytes = Data(value.utf8)
      mutate(&bytes)
      value = String(decoding: bytes, as: UTF8.self)
    }
    return value
  }

  private mutating func body() -> Data {
    if chance(0.1) { return Data("%PDF-1.7\n\(value())".utf8) }
    var members: [String] = []
    if chance(0.8) { members.append(#""date": "2026-01-01T00:00:00Z""#) }
    if chance(0.8) { members.append(#""text": "x""#) }
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      members.append("\"\(pick(Self.members))\": \(json(depth: 0))")
    }
    var bytes = Data("{\(members.joined(separator: ", "))}".utf8)
    if chance(0.2) { mutate(&bytes) }
    return bytes
  }

  private mutating func json(depth: Int) -> String {
    switch Int.random(in: 0..<(depth < 4 ? 10 : 8), using: &random) {
    case 0...3: "\"\(value())\""
    case 4...7: pick(Self.scalars)
    case 8: "[\(json(depth: depth + 1)), \(json(depth: depth + 1))]"
    default: "{\"\(pick(Self.members))\": \(json(depth: depth + 1))}"
    }
  }

  private mutating func mutate(_ bytes: inout Data) {
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      let end = min(bytes.count, place + Int.random(in: 1...40, using: &random))
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes[place] = .random(in: .min ... .max, using: &random)
      case 1: bytes.removeSubrange(place..<end)
      case 2: bytes.insert(contentsOf: Data(bytes[place..<end]), at: place)
      case 3: bytes.insert(contentsOf: Data(pick(Self.values).utf8), at: place)
      default: bytes = bytes.prefix(place)
      }
    }
  }

  private mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }

  private mutating func pick(_ values: [String]) -> String { values.randomElement(using: &random) ?? "" }
}

extension RequestGenerator {
  private static let methods = [
    "GET", "GET", "GET", "GET", "HEAD", "OPTIONS", "POST", "POST", "PUT", "PATCH", "DELETE",
  ]
  private static let otherMethods = ["TRACE", "CONNECT", "PURGE", "BREW", "get", ""]
  private static let versions = ["HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTTP/11", "http/1.1", ""]
  private static let hosts = ["localhost:8080", "[::1]:1", "a b", "", "a, b"]
  private static let paths = [
    "/v1/items", "/v1/items", "/v1/items/{}", "/v1/changes", "/v1/changes", "/v1/state", "/v1/topics", "/v1/topics/{}",
    "/v1/media/{}", "/v1/media/{}", "/healthz", "/readyz", "/openapi.yaml", "/", "/{}", "",
  ]
  private static let editorialPaths = [
    "/v1/editorial/items", "/v1/editorial/items", "/v1/editorial/items/{}", "/v1/editorial/topics",
    "/v1/editorial/topics/{}", "/v1/editorial/media",
  ]
  private static let parameters = [
    "limit", "cursor", "topics", "language", "author", "from", "to", "include", "at", "since", "state", "reason", "q",
    "x",
  ]
  private static let fields = [
    "If-None-Match", "If-Match", "If-Modified-Since", "If-Unmodified-Since", "Accept-Encoding", "Accept", "Range",
    "Range", "If-Range", "Content-Disposition", "Repr-Digest", "Content-Digest",
    "X-Any", "Origin", "Cookie", "Access-Control-Request-Method", "Accept-Language",
  ]
  private static let messageFields = [
    "Content-Encoding", "Content-Type", "Expect", "Connection", "Upgrade", "Host", "Authorization", "Idempotency-Key",
    "Transfer-Encoding", "Content-Length",
  ]
  private static let types = [
    "application/json", "application/json", "application/merge-patch+json", "application/json; charset=utf-8",
    "text/xml", "application/pdf", "image/png",
  ]
  private static let codings = ["chunked", "gzip, chunked", "identity", "chunked, identity", "CHUNKED", "x", ""]
  private static let lineEnds = ["\n", "\r", "\r\n ", "\r\n\r\n", "\u{0}\r\n"]
  private static let members = [
    "id", "date", "text", "title", "summary", "html", "topics", "language", "url", "author", "breaking", "attachments",
    "state", "revision", "slug", "titles", "position", "type", "alt", "x",
  ]
  private static let scalars = [
    "null", "true", "false", "0", "-1", "1.5", "1e400", "1e-400", "9223372036854775807", "9223372036854775808", #""""#,
    #""\ud800""#, #""\u0000""#, #""\ud83d\ude00""#, "[]", "{}", #"["a", "a"]"#, #"{"a": 1, "a": 2}"#, "NaN", "'x'",
    String(repeating: "[", count: 40), "[{\"url\": \"https://a.example/x\", \"type\": \"image/png\"}]",
  ]
  private static let numbers = [
    "0", "1", "5", "200", "201", "1000", "-1", "+1", "1.0", "0x10", "9223372036854775807", "9223372036854775808",
    "18446744073709551616", "1e3", " 1", "٣",
  ]
  private static let values = [
    "", "*", "a", "sport", "a,b", ",", "html", "draft", "published", "en", "de-DE", "\"", "\"x\"", "W/\"x\"", "\"r1\"",
    "r1", "\"a\", \"b\"", "gzip", "gzip;q=0", "identity;q=0, *;q=0", "bytes=0-", "bytes=2-5", "bytes=-3",
    "bytes=1-2,4-5",
    "bytes=99-", "attachment; filename=\"a.pdf\"", "inline; filename*=UTF-8''%C3%A9", "sha-256=:AAAA:", "100-continue",
    "close",
    "keep-alive, x",
    "h2c", "chunked", "application/json", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00Z",
    "-0001-01-01T00:00:00Z", "Sun, 06 Nov 1994 08:49:37 GMT", "00000000-0000-0000-0000-000000000000", "%00", "%ff", "%",
    "%2", "%c0%80", "%ed%a0%80", "%F0%9F%98%80", "+", "&", "=", "#", "?", ";", "..", "%2e%2e", "%2f", "//", "\\", "<b>",
    "'", "');--", "é", "😀", "\u{feff}", "\u{202e}", "\r\n", "\n", "\u{0}", "\u{7f}", "\t", "{", "}", "[", "]",
    String(repeating: "x", count: 300), String(repeating: "a,", count: 40), String(repeating: "é", count: 1000),
    String(repeating: "y", count: 17_000),
  ]
}
