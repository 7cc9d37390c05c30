import NewsConsole
import TestKit
import Testing

@Suite struct `Form fields (URL standard, section 5.1)` {
  private static func fields(_ text: String, limits: FormLimits = FormLimits()) throws(FormError) -> FormFields {
    try FormFields(urlEncoded: text.utf8, limits: limits)
  }

  @Test(
    "A value is decoded as browsers encode it",
    arguments: [
      ("a=b", "b"), ("a=", ""), ("a", ""), ("a=b=c", "b=c"), ("&&a=b&", "b"), ("a=Fog+lifts%2B", "Fog lifts+"),
      ("a=F%C3%A4hre", "Fähre"), ("a=Fähre", "Fähre"), ("%61=b", "b"), ("a=%26%3D%25", "&=%"), ("a=%f0%9F%98%80", "😀"),
      ("a=1&a=2", "1"), ("a=%00", "\0"), ("x=1&a=%EF%BB%BFb", "\u{FEFF}b"),
    ])
  func decoded(body: String, value: String) throws {
    #expect(try Self.fields(body).first("a") == value)
  }

  @Test func `Values of a name keep their order, and names without a field have none`() throws {
    let fields = try Self.fields("topic=harbour&title=Fog&topic=weather&=nameless&empty")
    #expect(fields.all("topic") == ["harbour", "weather"])
    #expect(fields.first("") == "nameless")
    #expect(fields.contains("empty"))
    #expect(fields.first("empty") == "")
    #expect(!fields.contains("Topic"))
    #expect(fields.all("Topic").isEmpty)
    #expect(fields.first("Topic") == nil)
    #expect(fields.text("Topic") == nil)
  }

  @Test func `An empty body has no fields`() throws {
    #expect(try Self.fields("") == Self.fields("&"))
    #expect(try !Self.fields("").contains(""))
  }

  @Test(
    "Line ends of a text area become line feeds",
    arguments: [
      ("a%0D%0Ab", "a\nb"), ("a%0Db", "a\nb"), ("a%0Ab", "a\nb"), ("%0D%0D%0A%0A%0D", "\n\n\n\n"), ("ab", "ab"),
      ("%0D%0A%0D%0A", "\n\n"), ("a%0D%0A%CC%81", "a\n\u{301}"),
    ])
  func lineEnds(value: String, text: String) throws {
    let fields = try Self.fields("a=\(value)")
    // Comparing strings would take CR LF and a combining character for equal to other sequences.
    #expect(fields.text("a").map { Array($0.utf8) } == Array(text.utf8))
    #expect(fields.first("a")?.utf8.contains(13) == value.contains("%0D"))
  }

  @Test(
    "Malformed fields are refused",
    arguments: [
      ("a=%", .malformedEscape), ("a=%4", .malformedEscape), ("a=%4&b=c", .malformedEscape),
      ("a=%G0", .malformedEscape), ("a=%0G", .malformedEscape), ("%=b", .malformedEscape), ("a=%-1", .malformedEscape),
      ("a=%FF", .notUTF8), ("%C3=b", .notUTF8), ("a=%C3&b=%A4", .notUTF8), ("a=%C0%80", .notUTF8),
      ("a=%ED%A0%80", .notUTF8), ("a=e\(String(repeating: "%CC%81", count: 31))", .tooManyMarks),
      ("\(String(repeating: "%CC%81", count: 31))=b", .tooManyMarks),
    ] as [(String, FormError)])
  func malformed(body: String, error: FormError) {
    #expect(throws: error) { try Self.fields(body) }
  }

  @Test func `Bytes that are not UTF-8 are refused`() {
    #expect(throws: FormError.notUTF8) { try FormFields(urlEncoded: Array("a=".utf8) + [0xFF]) }
  }

  @Test func `The number of fields is limited to 1,000`() throws {
    let body = String(repeating: "a=&&", count: 1_000)
    #expect(try Self.fields(body).all("a").count == 1_000)
    #expect(throws: FormError.tooManyFields) { try Self.fields(body + "b") }
  }

  @Test func `The decoded lengths of names and values are limited`() throws {
    var limits = FormLimits()
    #expect(limits.nameBytes == 255)
    #expect(limits.valueBytes == 1 << 20)
    (limits.nameBytes, limits.valueBytes) = (2, 4)
    #expect(try Self.fields("%C3%A4=abc%20", limits: limits).first("ä") == "abc ")
    #expect(throws: FormError.nameTooLong) { try Self.fields("%C3%A4a=", limits: limits) }
    #expect(throws: FormError.valueTooLong) { try Self.fields("a=abc%C3%A4", limits: limits) }
  }

  @Test func `Random fields are read as they were written, and random bytes never trap`() async throws {
    var generator = SplitMix64(seed: 1866)
    let texts = ["", "a", "topic", "Fähre 😀", "&=%+", "\r\n", "\0", "100%", "a b", "../", "%41"]
    let bytes = Array("a=b&c%4+1Fé".utf8) + [0, 0xFF]
    var failures = 0
    for number in 0..<rounds(5_000) {
      // Tests share the threads with servers of other tests, which must answer in time.
      if number % 200 == 0 { await Task.yield() }
      var expected: [String: [String]] = [:]
      var body = ""
      for _ in 0..<Int.random(in: 0...6, using: &generator) {
        let name = texts.randomElement(using: &generator) ?? ""
        let value = texts.randomElement(using: &generator) ?? ""
        expected[name, default: []].append(value)
        body += (body.isEmpty ? "" : "&") + Self.encoded(name) + "=" + Self.encoded(value)
      }
      let fields = try Self.fields(body)
      #expect(texts.allSatisfy { fields.all($0) == expected[$0] ?? [] }, "\(body)")
      let length = Int.random(in: 0...30, using: &generator)
      let noise = (0..<length).map { _ in bytes.randomElement(using: &generator) ?? 0 }
      do { _ = try FormFields(urlEncoded: noise) } catch { failures += 1 }
    }
    #expect((rounds(1_000)..<rounds(5_000)).contains(failures))
  }

  /// Encodes a name or a value as browsers do.
  private static func encoded(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case 32: "+"
      case 48...57, 65...90, 97...122, 42, 45, 46, 95: String(UnicodeScalar(byte))
      default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }.joined()
  }
}
