import HTTPEdge
import Testing

@Suite struct `Strict JSON` {
  struct Reading: Sendable, CustomTestStringConvertible {
    var text: String
    var value: JSONValue
    var testDescription: String { text }

    init(_ text: String, _ value: JSONValue) {
      self.text = text
      self.value = value
    }
  }

  @Test(arguments: [
    Reading("null", .null),
    Reading("true", .bool(true)),
    Reading("false", .bool(false)),
    Reading(" \t\r\n0 \t\r\n", .integer(0)),
    Reading("-0", .integer(0)),
    Reading("9223372036854775807", .integer(.max)),
    Reading("-9223372036854775808", .integer(.min)),
    Reading("1.0", .number(1)),
    Reading("-0.25", .number(-0.25)),
    Reading("1e3", .number(1000)),
    Reading("12E-1", .number(1.2)),
    Reading("0e+2", .number(0)),
    Reading("1.7976931348623157e308", .number(.greatestFiniteMagnitude)),
    Reading("4.9e-324", .number(.leastNonzeroMagnitude)),
    Reading("1e-400", .number(0)),
    Reading("\"\"", .string("")),
    Reading("\"Grüße, 世界 🗞\"", .string("Grüße, 世界 🗞")),
    Reading(#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{08}\u{0C}\n\r\t")),
    Reading(#""a\u0041b\u00e9\u00E9c""#, .string("aAbééc")),
    Reading(#""\u0001\u001f\ud7ff\ue000\uffff""#, .string("\u{1}\u{1F}\u{D7FF}\u{E000}\u{FFFF}")),
    Reading(#""\ud83d\uDE00 \ud800\udc00\uDBFF\uDFFF""#, .string("😀 \u{10000}\u{10FFFF}")),
    Reading("\"\u{7F}\u{80}\u{2028}\u{FEFF}\u{10FFFF}\"", .string("\u{7F}\u{80}\u{2028}\u{FEFF}\u{10FFFF}")),
    Reading("[]", .array([])),
    Reading("[ ]", .array([])),
    Reading("[1,[2],\"3\" , null]", .array([.integer(1), .array([.integer(2)]), .string("3"), .null])),
    Reading("{}", .object([:])),
    Reading("{ }", .object([:])),
    Reading("{\"a\":1,\"A\":2 , \"\" : {}}", .object(["a": .integer(1), "A": .integer(2), "": .object([:])])),
    Reading("{\"constructor\":1,\"__proto__\":2}", .object(["constructor": .integer(1), "__proto__": .integer(2)])),
  ])
  func `A well-formed body is read as its value`(_ reading: Reading) throws {
    #expect(try JSONValue.parse(reading.text.utf8) == reading.value)
  }

  @Test func `Strings keep their scalars exactly, without normalisation`() throws {
    guard case .string(let text) = try JSONValue.parse(#""e\u0301 Å é""#.utf8) else {
      Issue.record("not a string")
      return
    }
    #expect(Array(text.unicodeScalars) == Array("e\u{301} \u{C5} \u{E9}".unicodeScalars))
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    var text: String
    var reason: StrictJSONError.Reason
    var offset: Int
    var testDescription: String { text }

    init(_ text: String, _ reason: StrictJSONError.Reason, _ offset: Int) {
      self.text = text
      self.reason = reason
      self.offset = offset
    }
  }

  static let value = StrictJSONError.Reason.unexpected(expected: "a value")
  static let key = StrictJSONError.Reason.unexpected(expected: "a key in double quotes")
  static let colon = StrictJSONError.Reason.unexpected(expected: "\":\" after a key")
  static let commaOrBracket = StrictJSONError.Reason.unexpected(expected: "\",\" or \"]\"")
  static let commaOrBrace = StrictJSONError.Reason.unexpected(expected: "\",\" or \"}\"")

  @Test(arguments: [
    Refusal("", .empty, 0),
    Refusal(" \n\t\r ", .empty, 0),
    Refusal("\u{FEFF}{}", .byteOrderMark, 0),
    Refusal("text=Hello", Self.value, 0),
    Refusal("<html>", Self.value, 0),
    Refusal("'a'", Self.value, 0),
    Refusal("nul", .unexpectedEnd, 3),
    Refusal("nulL", Self.value, 0),
    Refusal("True", Self.value, 0),
    Refusal("NaN", Self.value, 0),
    Refusal("Infinity", Self.value, 0),
    Refusal("// a\n1", Self.value, 0),
    Refusal("\u{0B}1", Self.value, 0),
    Refusal("\u{A0}1", Self.value, 0),
    Refusal("]", Self.value, 0),
    Refusal("[1,]", Self.value, 3),
    Refusal("[,1]", Self.value, 1),
    Refusal("[1 2]", Self.commaOrBracket, 3),
    Refusal("[1}", Self.commaOrBracket, 2),
    Refusal("[1", .unexpectedEnd, 2),
    Refusal("[", .unexpectedEnd, 1),
    Refusal("[[]", .unexpectedEnd, 3),
    Refusal("{", .unexpectedEnd, 1),
    Refusal("{a:1}", Self.key, 1),
    Refusal("{1:1}", Self.key, 1),
    Refusal("{\"a\"}", Self.colon, 4),
    Refusal("{\"a\"", .unexpectedEnd, 4),
    Refusal("{\"a\":}", Self.value, 5),
    Refusal("{\"a\":1,}", Self.key, 7),
    Refusal("{\"a\":1]", Self.commaOrBrace, 6),
    Refusal("{\"a\":1 \"b\":2}", Self.commaOrBrace, 7),
    Refusal("{} {}", .trailingContent, 3),
    Refusal("1,", .trailingContent, 1),
    Refusal("nullnull", .trailingContent, 4),
    Refusal("{}\0", .trailingContent, 2),
  ])
  func `Malformed JSON is rejected with the position of the first wrong byte`(_ refusal: Refusal) {
    expect(refusal)
  }

  @Test(arguments: [
    Refusal("01", .malformedNumber, 0),
    Refusal("-01", .malformedNumber, 0),
    Refusal("00", .malformedNumber, 0),
    Refusal("+1", Self.value, 0),
    Refusal(".5", Self.value, 0),
    Refusal("[1.]", .malformedNumber, 1),
    Refusal("[1.e3]", .malformedNumber, 1),
    Refusal("[1e]", .malformedNumber, 1),
    Refusal("[1e+]", .malformedNumber, 1),
    Refusal("[1e+-1]", .malformedNumber, 1),
    Refusal("[-]", .malformedNumber, 1),
    Refusal("[-Infinity]", .malformedNumber, 1),
    Refusal("-", .unexpectedEnd, 1),
    Refusal("1.", .unexpectedEnd, 2),
    Refusal("1e", .unexpectedEnd, 2),
    Refusal("0x10", .trailingContent, 1),
    Refusal("1_000", .trailingContent, 1),
    Refusal("1.2.3", .trailingContent, 3),
    Refusal("9223372036854775808", .numberOutOfRange, 0),
    Refusal("[ -9223372036854775809]", .numberOutOfRange, 2),
    Refusal("99999999999999999999999999", .numberOutOfRange, 0),
    Refusal("1e309", .numberOutOfRange, 0),
    Refusal("-1e309", .numberOutOfRange, 0),
    Refusal("1e99999999999999999999", .numberOutOfRange, 0),
    Refusal("0." + String(repeating: "1", count: 399), .numberOutOfRange, 0),
  ])
  func `A number that is malformed or out of range is rejected`(_ refusal: Refusal) {
    expect(refusal)
  }

  @Test(arguments: [
    Refusal("\"a", .unexpectedEnd, 2),
    Refusal("\"a\\", .unexpectedEnd, 3),
    Refusal("\"a\\\"", .unexpectedEnd, 4),
    Refusal("\"a\\u12", .unexpectedEnd, 6),
    Refusal("\"a\nb\"", .controlCharacter, 2),
    Refusal("\"a\tb\"", .controlCharacter, 2),
    Refusal("\"a\0b\"", .controlCharacter, 2),
    Refusal("\"a\u{1F}b\"", .controlCharacter, 2),
    Refusal(#""a\xb""#, .malformedEscape, 2),
    Refusal(#""a\U0041b""#, .malformedEscape, 2),
    Refusal(#""a\u00g0b""#, .malformedEscape, 2),
    Refusal(#""a\u+041b""#, .malformedEscape, 2),
    Refusal(#""a\u{41}b""#, .malformedEscape, 2),
    Refusal(#""a\u12""#, .malformedEscape, 2),
    Refusal(#""a\u0000b""#, .nulCharacter, 2),
    Refusal(#"{"\u0000":1}"#, .nulCharacter, 2),
    Refusal(#""a\ud800b""#, .loneSurrogate, 2),
    Refusal(#""a\ud800""#, .loneSurrogate, 2),
    Refusal(#""a\ud800\n""#, .loneSurrogate, 2),
    Refusal(#""a\ud800\ud800""#, .loneSurrogate, 2),
    Refusal(#""a\ud800\u0041""#, .loneSurrogate, 2),
    Refusal(#""a\udc00\ud800""#, .loneSurrogate, 2),
    Refusal(#""a\ud83d\ude00\udfff""#, .loneSurrogate, 14),
    Refusal(#""a\ud800\u00zz""#, .malformedEscape, 8),
  ])
  func `A string that is malformed or cannot be stored is rejected`(_ refusal: Refusal) {
    expect(refusal)
  }

  @Test(arguments: [
    Refusal(#"{"title":"a","text":"b","title":"c"}"#, .duplicateKey("title"), 24),
    Refusal(#"{"a":1,"\u0061":1}"#, .duplicateKey("a"), 7),
    Refusal(#"[{"b":{"a":null,"a":null}}]"#, .duplicateKey("a"), 16),
    Refusal(#"{"":1,"":2}"#, .duplicateKey(""), 6),
    Refusal(#"{"é":1,"e\u0301":2}"#, .duplicateKey("é"), 8),
  ])
  func `A repeated key is rejected, also if its escapes differ`(_ refusal: Refusal) {
    expect(refusal)
  }

  private func expect(_ refusal: Refusal) {
    #expect(throws: StrictJSONError(reason: refusal.reason, offset: refusal.offset)) {
      try JSONValue.parse(refusal.text.utf8)
    }
  }

  @Test(
    arguments: [
      ([0x80], 0),  // a continuation without a lead
      ([0xC3], 1),  // cut short
      ([0xC3, 0x28], 1),
      ([0xC0, 0xAF], 0),  // overlong "/"
      ([0xC1, 0xBF], 0),
      ([0xE0, 0x9F, 0xBF], 1),  // overlong
      ([0xE2, 0x82], 2),
      ([0xED, 0xA0, 0x80], 1),  // a surrogate
      ([0xF0, 0x8F, 0xBF, 0xBF], 1),  // overlong
      ([0xF4, 0x90, 0x80, 0x80], 1),  // beyond U+10FFFF
      ([0xF5, 0x80, 0x80, 0x80], 0),
      ([0xF0, 0x9F, 0x98], 3),
      ([0xFF], 0),
    ] as [([UInt8], Int)])
  func `Bytes that are not UTF-8 are rejected inside and outside of strings`(_ bytes: [UInt8], _ index: Int) {
    #expect(throws: StrictJSONError(reason: .notUTF8, offset: 1 + index)) {
      try JSONValue.parse([UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")])
    }
    #expect(throws: StrictJSONError(reason: .notUTF8, offset: 2 + index)) {
      try JSONValue.parse([UInt8(ascii: "{"), UInt8(ascii: "}")] + bytes)
    }
  }

  @Test(arguments: [(30, false), (31, true)])
  func `Strings with more than 30 combining marks in a row are rejected if the caller compares them`(
    _ count: Int, _ isRejected: Bool
  ) throws {
    for mark in ["\u{301}", #"\u0301"#] {
      let text = "[\"e\(String(repeating: mark, count: count))\"]"
      _ = try JSONValue.parse(text.utf8)
      let error = StrictJSONError(reason: .tooManyMarks, offset: 1)
      if isRejected {
        #expect(throws: error) { try JSONValue.parse(text.utf8, limitsMarks: true) }
      } else {
        _ = try JSONValue.parse(text.utf8, limitsMarks: true)
      }
    }
  }

  @Test func `Values are equal if their bytes are, also in arrays and objects`() throws {
    let (composed, decomposed) = (JSONValue.string("\u{E9}"), JSONValue.string("e\u{301}"))
    #expect(composed == composed && composed != decomposed && JSONValue.array([composed]) != .array([decomposed]))
    #expect(JSONValue.object(["a": composed]) == .object(["a": composed]))
    #expect(JSONValue.object(["a": composed]) != .object(["a": decomposed]))
    let values = ["null", "true", "false", "0", "1", "0.5", "1.5", "\"\"", "\"a\"", "[]", "[0]", "{}", "{\"a\":0}"]
    for one in values {
      for other in values {
        let areEqual = try JSONValue.parse(one.utf8) == JSONValue.parse(other.utf8)
        #expect(areEqual == (one == other), "\(one) \(other)")
      }
    }
  }

  @Test func `UTF-16 is rejected`() {
    #expect(throws: StrictJSONError(reason: .notUTF8, offset: 0)) {
      try JSONValue.parse([0xFF, 0xFE, 0x7B, 0, 0x7D, 0])
    }
    #expect(throws: StrictJSONError(reason: Self.key, offset: 1)) { try JSONValue.parse([0x7B, 0, 0x7D, 0]) }
  }

  @Test(arguments: ["[", "{\"a\":"])
  func `Thirty-two levels are read, and the thirty-third is rejected at its bracket`(_ opening: String) throws {
    let closing = opening == "[" ? "]" : "}"
    func nested(_ depth: Int) -> String {
      String(repeating: opening, count: depth) + "1" + String(repeating: closing, count: depth)
    }
    var value = try JSONValue.parse(nested(32).utf8)
    for _ in 0..<32 {
      switch value {
      case .array(let elements): value = try #require(elements.first)
      case .object(let members): value = try #require(members["a"])
      default: Issue.record("\(value) is too shallow")
      }
    }
    #expect(value == .integer(1))
    for depth in [33, 100_000] {
      #expect(throws: StrictJSONError(reason: .tooDeep, offset: 32 * opening.utf8.count)) {
        try JSONValue.parse(nested(depth).utf8)
      }
    }
  }

  @Test func `Depth is counted along one path, not over all containers`() throws {
    let siblings = Array(repeating: "[{}]", count: 1000).joined(separator: ",")
    #expect(try JSONValue.parse("[\(siblings)]".utf8) == .array(Array(repeating: .array([.object([:])]), count: 1000)))
  }

  @Test(arguments: [
    ("", "The body is empty, but a JSON value is required."),
    ("\u{FEFF}1", "The body starts with a byte order mark, which JSON does not allow."),
    ("{\"a\":1,}", "The body is not valid JSON: expected a key in double quotes at byte 7."),
    ("{\"a\":", "The body is not valid JSON: it ends at byte 5, before its value is complete."),
    ("{\"a\":1,\"a\":2}", "The key \"a\" at byte 7 is repeated in its object."),
    ("{\"a\\n\":1,\"a\\n\":2}", "The key \"a\u{FFFD}\" at byte 9 is repeated in its object."),
    ("\"\\u0000\"", "The string escape \\u0000 at byte 1 is not allowed."),
    ("1e400", "The number at byte 0 is out of range."),
  ])
  func `The message names the error and its position`(_ text: String, _ message: String) {
    let error = #expect(throws: StrictJSONError.self) { try JSONValue.parse(text.utf8) }
    #expect(error?.message == message)
    #expect(error.map(String.init(describing:)) == message)
  }

  @Test func `A message is short for any length of the repeated key`() throws {
    let key = String(repeating: "k", count: JSONValue.maximumKeyLength)
    let error = #expect(throws: StrictJSONError.self) { try JSONValue.parse("{\"\(key)\":1,\"\(key)\":2}".utf8) }
    let message = try #require(error?.message)
    #expect(message.contains(String(repeating: "k", count: 64) + "…"))
    #expect(message.utf8.count < 200)
  }

  /// 256 bytes: a letter and 85 marks of three bytes each. Hashing a longer key could take minutes to sort the marks.
  @Test(arguments: ["\u{1DC4}\u{1DC2}", #"\u1dc4\u1dc2"#])
  func `A key has at most 256 bytes, with or without escapes`(_ marks: String) throws {
    let (even, odd) = (String(repeating: marks, count: 42), marks.hasPrefix("\\") ? #"\u1dc4"# : "\u{1DC4}")
    guard case .object(let members) = try JSONValue.parse("{\"a\(even)\(odd)\":1}".utf8) else {
      Issue.record("not an object")
      return
    }
    #expect(members.keys.map(\.utf8.count) == [256])
    for key in ["aa\(even)\(odd)", "a" + String(repeating: marks, count: 150_000)] {
      #expect(throws: StrictJSONError(reason: .keyTooLong, offset: 1)) { try JSONValue.parse("{\"\(key)\":1}".utf8) }
    }
    let value = String(repeating: marks, count: 150_000)
    guard case .string(let text) = try JSONValue.parse("\"\(value)\"".utf8) else {
      Issue.record("not a string")
      return
    }
    #expect(text.utf8.count == 900_000)
  }

  @Test func `Megabytes of one kind are read completely`() throws {
    let count = 1 << 20
    let escapes = try JSONValue.parse("\"\(String(repeating: "\\n", count: count / 2))\"".utf8)
    #expect(escapes == .string(String(repeating: "\n", count: count / 2)))
    let keys = (0..<count / 16).map { "\"key\($0)\":\($0)" }.joined(separator: ",")
    guard case .object(let members) = try JSONValue.parse("{\(keys)}".utf8) else {
      Issue.record("not an object")
      return
    }
    #expect(members.count == count / 16)
    #expect(members["key99"] == .integer(99))
    #expect(throws: StrictJSONError(reason: .numberOutOfRange, offset: 0)) {
      try JSONValue.parse(String(repeating: "9", count: count).utf8)
    }
    #expect(throws: StrictJSONError(reason: .unexpectedEnd, offset: count)) {
      try JSONValue.parse(("\"" + String(repeating: "a", count: count - 1)).utf8)
    }
  }
}
