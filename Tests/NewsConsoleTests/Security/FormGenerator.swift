import Foundation
import TestKit

/// A generator of forms that are mostly valid: fields are missing, repeated, hostile or too many, and bytes of the body, its
/// framing and its media type are changed now and then.
struct FormGenerator {
  /// The session and the server to which forms are sent.
  struct Place {
    var authority: String
    var cookie: String
    /// The token of the session's forms.
    var token: String
  }

  /// A file of a form with files.
  private struct File {
    var field: String
    var name: String
    var type: String
    var content: Data
  }

  var random: SplitMix64

  /// Returns the bytes of a connection with one form.
  ///
  /// - Parameters:
  ///   - form: The form as a page has it.
  ///   - target: The target to which it is sent.
  mutating func connection(_ form: ConsoleForm, to target: String, _ place: Place) -> Data {
    let fields = fields(of: form, place)
    let isMultipart = chance(0.95) ? form.isMultipart : !form.isMultipart
    var (type, body) = isMultipart ? multipart(fields) : urlEncoded(fields)
    if chance(0.3) { mutate(&body) }
    if chance(0.1) { type = otherType(type) }
    var head = "POST \(target) HTTP/1.1\r\nHost: \(place.authority)\r\n"
    if chance(0.97) { head += "Cookie: tidings_console=\(place.cookie)\r\n" }
    head += "Origin: http://\(place.authority)\r\nSec-Fetch-Site: same-origin\r\n"
    if chance(0.98) { head += "Content-Type: \(type)\r\n" }
    if chance(0.03) { head += "\(pick(Self.headers))\r\n" }
    return Data(head.utf8) + framed(body)
  }

  // MARK: Fields

  private mutating func fields(of form: ConsoleForm, _ place: Place) -> [(name: String, value: String)] {
    var fields = form.fields.filter { $0.name != "csrf" }
    for index in fields.indices where chance(0.2) { fields[index].value = value() }
    if chance(0.2), !fields.isEmpty { fields.remove(at: index(fields.count)) }
    if chance(0.2), let field = fields.randomElement(using: &random) { fields.append((field.name, value())) }
    if chance(0.1), !fields.isEmpty { fields[index(fields.count)].name = pick(Self.names) }
    for _ in 0..<Int.random(in: 0...3, using: &random) { fields.append((pick(Self.names), value())) }
    if chance(0.7) { fields.append(("action", pick(Self.actions))) }
    if chance(0.02) {
      let name = pick(Self.names)
      fields += (0..<Int.random(in: 500...1200, using: &random)).map { (chance(0.5) ? name : "\(name)\($0)", "x") }
    }
    if chance(0.2) { fields.shuffle(using: &random) }
    // Nothing of a form is read before its token.
    switch Int.random(in: 0..<30, using: &random) {
    case 0: break
    case 1: fields.insert(("csrf", value()), at: 0)
    case 2: fields.append(("csrf", place.token))
    case 3: fields = [("csrf", place.token), ("csrf", value())] + fields
    default: fields.insert(("csrf", place.token), at: 0)
    }
    return fields
  }

  private mutating func value() -> String {
    switch Int.random(in: 0..<12, using: &random) {
    case 0: String(repeating: pick(["x", "ä", "<", "😀", "\n"]), count: Int.random(in: 1...3_000, using: &random))
    case 1: "\(Int.random(in: .min ... .max, using: &random))"
    case 2: UUID().uuidString.lowercased()
    default: pick(Self.values)
    }
  }

  // MARK: Encoding

  private mutating func urlEncoded(_ fields: [(name: String, value: String)]) -> (type: String, body: Data) {
    let isEscaped = chance(0.95)
    func encoded(_ text: String) -> String {
      isEscaped ? text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" : text
    }
    let pairs = fields.map { "\(encoded($0.name))=\(encoded($0.value))" }
    return ("application/x-www-form-urlencoded", Data(pairs.joined(separator: chance(0.98) ? "&" : ";").utf8))
  }

  private mutating func multipart(_ fields: [(name: String, value: String)]) -> (type: String, body: Data) {
    let boundary = chance(0.9) ? "----Fuzz7MA4YWxk" : pick(Self.boundaries)
    let lineEnd = chance(0.97) ? "\r\n" : "\n"
    var body = Data()
    for field in fields {
      let name = chance(0.97) ? field.name.replacing("\"", with: "%22") : field.name
      let head = chance(0.97) ? "Content-Disposition: form-data; name=\"\(name)\"" : pick(Self.dispositions)
      body += Data("--\(boundary)\(lineEnd)\(head)\(lineEnd)\(lineEnd)\(field.value)\(lineEnd)".utf8)
    }
    for file in files() {
      let head = "Content-Disposition: form-data; name=\"\(file.field)\"; filename=\"\(file.name)\""
      body += Data("--\(boundary)\(lineEnd)\(head)\(lineEnd)Content-Type: \(file.type)\(lineEnd)\(lineEnd)".utf8)
      body += file.content + Data(lineEnd.utf8)
    }
    if chance(0.97) { body += Data("--\(boundary)--\(lineEnd)".utf8) }
    return ("multipart/form-data; boundary=\(chance(0.98) ? boundary : pick(Self.boundaries))", body)
  }

  private mutating func files() -> [File] {
    let png = Data(
      [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 0, 9, 0])
    return (0..<pick([0, 0, 0, 1, 1, 3])).map { _ in
      var content =
        chance(0.7) ? png + Data((0..<40).map { _ in UInt8.random(in: .min ... .max, using: &random) }) : png
      if chance(0.3) { content = Data(value().utf8) }
      return File(
        field: chance(0.9) ? "upload" : pick(Self.names), name: pick(Self.fileNames), type: pick(Self.types),
        content: content)
    }
  }

  private mutating func otherType(_ type: String) -> String {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: pick(Self.types)
    case 1: String(type.prefix(Int.random(in: 0..<type.utf8.count, using: &random)))
    case 2: type.uppercased()
    default: type + pick(["; charset=utf-8", "; boundary=x", ", text/html", ";;", "; boundary=\"\""])
    }
  }

  private mutating func framed(_ body: Data) -> Data {
    switch Int.random(in: 0..<20, using: &random) {
    // The body is longer than declared, or ends too early.
    case 0: return Data("Content-Length: \(body.count / 2)\r\n\r\n".utf8) + body
    case 1: return Data("Content-Length: \(body.count + 100)\r\n\r\n".utf8) + body
    case 2: return Data("Content-Length: \(pick(Self.numbers))\r\n\r\n".utf8) + body
    case 3: return Data("\r\n".utf8)
    case 4...6:
      var bytes = Data("Transfer-Encoding: chunked\r\n\r\n".utf8)
      var rest = body[...]
      while !rest.isEmpty {
        let part = rest.prefix(Int.random(in: 1...2000, using: &random))
        bytes += Data("\(String(part.count, radix: 16))\r\n".utf8) + part + Data("\r\n".utf8)
        rest = rest.dropFirst(part.count)
      }
      return bytes + Data((chance(0.9) ? "0\r\n\r\n" : "0\r\nX-Trailer: x\r\n\r\n").utf8)
    default: return Data("Content-Length: \(body.count)\r\n\r\n".utf8) + body
    }
  }

  private mutating func mutate(_ bytes: inout Data) {
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let place = index(bytes.count)
      let end = min(bytes.count, place + Int.random(in: 1...40, using: &random))
      switch Int.random(in: 0..<6, using: &random) {
      case 0: bytes[place] = .random(in: .min ... .max, using: &random)
      case 1: bytes.removeSubrange(place..<end)
      case 2: bytes.insert(contentsOf: Data(bytes[place..<end]), at: place)
      case 3: bytes.insert(contentsOf: pick(Self.bytes), at: place)
      case 4: bytes.insert(contentsOf: Data(pick(Self.values).utf8), at: place)
      default: bytes = Data(bytes.prefix(place))
      }
    }
  }

  private mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }

  private mutating func index(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func pick<Value>(_ values: [Value]) -> Value { values[index(values.count)] }
}

extension FormGenerator {
  private static let actions = [
    "save", "save", "review", "publish", "schedule", "withdraw", "edit", "attach", "preview", "subscribe", "more", "",
    "x",
  ]
  private static let names = [
    "", "title", "text", "html", "topics", "revision", "id", "state", "upload", "choose", "key", "code", "next",
    "attachment-0-url", "attachment-0-bytes", "attachment-31-alt", "attachment-99999999999999999999-url",
    "url", "events", "once", "alert", "cursor", "allItems", "lostTopics",
    "title-0-text", "title-69-language", "scopes", "expires", "position", "paused", "overlap", "into", "previewed",
    "csrf[]", "__proto__", "a\"b", "a\r\nb", "ä", String(repeating: "n", count: 300),
  ]
  private static let values = [
    "", " ", "on", "true", "false", "0", "-1", "1", "2", "9223372036854775807", "9223372036854775808", "1e9", "٣", "en",
    "de-DE", "published", "draft", "admin", "items:publish", "item.changed", "https://a.example/x",
    "http://127.0.0.1:1/",
    "javascript:x",
    "2031-05-06T07:08", "2031-05-06", "0000-00-00T00:00", "9999-12-31T23:59", "-1-01-01T00:00", "/console/items",
    "//evil.example", "<script>x</script>", "<p>" + String(repeating: "<b>", count: 200), "\"><svg onload=x>'",
    "<p>x</p><img src=x onerror=x>", "'); DROP TABLE items; --", "\u{0}", "a\u{0}b", "\u{1b}[2J", "\u{202e}",
    "\u{feff}",
    "\u{2028}", "\r\n", "\r", "{{{csrf}}}", "%", "%zz", "&", "=", "; ", "e\u{301}", "😀", "harbour-0", "tdk_0_0",
    String(repeating: "x", count: 70_000),
  ]
  private static let fileNames = [
    "a.png", "", "..", "../../etc/passwd", "C:\\a.png", "a\u{0}.png", "a\r\nb", "%22", "x\"; y=\"z", "\u{202e}gnp.exe",
    String(repeating: "f", count: 500), "ä.jpg",
  ]
  private static let types = [
    "image/png", "text/html", "image/svg+xml", "application/json", "text/plain", "", "multipart/form-data",
    "multipart/form-data; boundary=", "multipart/mixed; boundary=x", "application/x-www-form-urlencoded; charset=utf-7",
  ]
  private static let boundaries = ["x", "--", "a b", "'", String(repeating: "b", count: 71), "\"x y\"", "ä", ""]
  private static let dispositions = [
    "Content-Disposition: form-data", "Content-Disposition: attachment; name=x", "X: y",
    "Content-Disposition: form-data; name=\"a", "Content-Disposition: form-data; name=a; name=b",
    "Content-Disposition: form-data; name=\"upload\"; filename*=UTF-8''%ff", "Content-Type: text/html", ": x",
    "Content-Disposition: form-data; name=\"a\"\r\nContent-Transfer-Encoding: base64",
    "X: \(String(repeating: "y", count: 9_000))",
  ]
  private static let headers = [
    "Content-Encoding: gzip", "Content-Encoding: identity", "Expect: 100-continue", "Expect: x", "Connection: close",
    "Cookie: tidings_console=x", "Content-Type: text/plain", "Transfer-Encoding: x", "Content-Length: 5",
    "Upgrade: h2c",
    "Range: bytes=0-1", "If-Match: *", "Idempotency-Key: x",
  ]
  private static let numbers = ["0", "1", "-1", "99999999", "9223372036854775808", "0x10", "1,1", ""]
  private static let bytes: [Data] = [
    Data([0]), Data([0xff]), Data([0xc0, 0x80]), Data([0xed, 0xa0, 0x80]), Data([13, 10]), Data([13]),
    Data("\r\n------Fuzz7MA4YWxk".utf8), Data("\r\n------Fuzz7MA4YWxk--\r\n".utf8), Data("%00".utf8), Data("%ff".utf8),
  ]
}
