import HTTPConditions
import Testing

@Suite struct `Entity tags (RFC 9110 section 8.8.3)` {
  struct Reading: Sendable, CustomTestStringConvertible {
    var sentence: String
    var fieldValue: String
    /// The tag in printed form; nil if the text is not a tag.
    var tag: String?
    var testDescription: String { "\(fieldValue): \(sentence)" }

    init(_ sentence: String, _ fieldValue: String, _ tag: String?) {
      self.sentence = sentence
      self.fieldValue = fieldValue
      self.tag = tag
    }
  }

  @Test(arguments: [
    Reading("example: ETag: \"xyzzy\"", "\"xyzzy\"", "\"xyzzy\""),
    Reading("example: ETag: W/\"xyzzy\"", "W/\"xyzzy\"", "W/\"xyzzy\""),
    Reading("example: ETag: \"\"", "\"\"", "\"\""),
    Reading("an opaque quoted string, possibly prefixed by a weakness indicator", "W/\"\"", "W/\"\""),
    Reading("etagc = %x21 / %x23-7E / obs-text: VCHAR except double quotes", "\"!#,;*W/[]~\"", "\"!#,;*W/[]~\""),
    Reading("etagc: obs-text", "\"größe\u{10FFFF}\"", "\"größe\u{10FFFF}\""),
    Reading("some recipients might perform backslash unescaping; this one does not", #""a\b""#, #""a\b""#),
    Reading("some recipients might perform backslash unescaping: \\\" ends the tag", #""a\"b""#, nil),
    Reading("whitespace around a field value is no part of it (section 5.5)", " \t\"a\"\t ", "\"a\""),
    Reading("weak = %s\"W/\" (case-sensitive)", "w/\"a\"", nil),
    Reading("weak = %s\"W/\": nothing between the indicator and the quote", "W/ \"a\"", nil),
    Reading("weak = %s\"W/\": once", "W/W/\"a\"", nil),
    Reading("weak = %s\"W/\": with its slash", "W\"a\"", nil),
    Reading("opaque-tag = DQUOTE *etagc DQUOTE: no unquoted word", "xyzzy", nil),
    Reading("opaque-tag = DQUOTE *etagc DQUOTE: closed", "\"a", nil),
    Reading("opaque-tag = DQUOTE *etagc DQUOTE: opened", "a\"", nil),
    Reading("opaque-tag = DQUOTE *etagc DQUOTE: not by one quote alone", "\"", nil),
    Reading("opaque-tag = DQUOTE *etagc DQUOTE: not by apostrophes", "'a'", nil),
    Reading("etagc has no space", "\"a b\"", nil),
    Reading("etagc has no tab", "\"a\tb\"", nil),
    Reading("etagc has no DEL", "\"a\u{7F}\"", nil),
    Reading("etagc has no control character", "\"a\u{0}\"", nil),
    Reading("ETag = entity-tag: one, no list", "\"a\", \"b\"", nil),
    Reading("ETag = entity-tag: nothing after it", "\"a\"b", nil),
    Reading("ETag = entity-tag: not *", "*", nil),
    Reading("ETag = entity-tag: not empty", "", nil),
    Reading("ETag = entity-tag: not half a prefix", "W", nil),
    Reading("ETag = entity-tag: not a prefix alone", "W/", nil),
  ])
  func `A field value is read as one tag, or not at all`(_ reading: Reading) throws {
    #expect(EntityTag(fieldValue: reading.fieldValue)?.fieldValue == reading.tag)
    #expect(EntityTag(fieldValue: "x\(reading.fieldValue)".dropFirst())?.fieldValue == reading.tag)
  }

  struct Comparison: Sendable, CustomTestStringConvertible {
    var one: String
    var other: String
    var strong: Bool
    var weak: Bool
    var testDescription: String { "\(one) and \(other)" }

    init(_ one: String, _ other: String, strong: Bool, weak: Bool) {
      self.one = one
      self.other = other
      self.strong = strong
      self.weak = weak
    }
  }

  @Test(arguments: [
    // The table of section 8.8.3.2.
    Comparison("W/\"1\"", "W/\"1\"", strong: false, weak: true),
    Comparison("W/\"1\"", "W/\"2\"", strong: false, weak: false),
    Comparison("W/\"1\"", "\"1\"", strong: false, weak: true),
    Comparison("\"1\"", "\"1\"", strong: true, weak: true),
    // "their opaque-tags match character-by-character"
    Comparison("\"a\"", "\"A\"", strong: false, weak: false),
    Comparison("\"a\"", "\"ab\"", strong: false, weak: false),
    Comparison("\"\"", "\"\"", strong: true, weak: true),
    Comparison("\"\"", "\"a\"", strong: false, weak: false),
    Comparison("\"\u{E9}\"", "\"e\u{301}\"", strong: false, weak: false),
    // "W/" inside the quotes does not indicate a weak tag.
    Comparison("\"W/1\"", "W/\"1\"", strong: false, weak: false),
    // nginx weakens a strong tag if it compresses the response itself.
    Comparison("\"x\"", "W/\"x\"", strong: false, weak: true),
    // Section 8.8.3.3: each variant has its own strong tag, but both identify the same content.
    Comparison("\"x\"", "\"x-gz\"", strong: false, weak: true),
    Comparison("\"x-gz\"", "\"x-gz\"", strong: true, weak: true),
    Comparison("W/\"x-gz\"", "\"x\"", strong: false, weak: true),
    Comparison("\"-gz\"", "\"\"", strong: false, weak: true),
    Comparison("\"gz\"", "\"\"", strong: false, weak: false),
    Comparison("\"x-gz\"", "\"x-gz-gz\"", strong: false, weak: false),
    Comparison("\"x-GZ\"", "\"x\"", strong: false, weak: false),
    Comparison("\"x-gz\"", "\"y-gz\"", strong: false, weak: false),
    // The forms of Apache, Caddy, Jetty and LiteSpeed.
    Comparison("\"x\"", "\"x-gzip\"", strong: false, weak: true),
    Comparison("\"x\"", "W/\"x-br\"", strong: false, weak: true),
    Comparison("\"x\"", "\"x-zstd\"", strong: false, weak: true),
    Comparison("\"x\"", "\"x--gzip\"", strong: false, weak: true),
    Comparison("\"x\"", "\"x;gz\"", strong: false, weak: true),
    Comparison("\"x-gz\"", "\"x-gz-gzip\"", strong: false, weak: true),
    Comparison("\"x\"", "\"x-gzip-gzip\"", strong: false, weak: false),
    Comparison("\"x\"", "\"y-gzip\"", strong: false, weak: false),
    Comparison("\"x\"", "\"xgzip\"", strong: false, weak: false),
    Comparison("\"x\"", "\"x-gzipped\"", strong: false, weak: false),
  ])
  func `Strong and weak comparison differ, and both are symmetric`(_ comparison: Comparison) throws {
    let one = try #require(EntityTag(fieldValue: comparison.one))
    let other = try #require(EntityTag(fieldValue: comparison.other))
    #expect(one.stronglyMatches(other) == comparison.strong)
    #expect(other.stronglyMatches(one) == comparison.strong)
    #expect(one.weaklyMatches(other) == comparison.weak)
    #expect(other.weaklyMatches(one) == comparison.weak)
  }

  @Test func `Equality is of bytes and weakness, not of characters`() {
    #expect(EntityTag(strong: "a") == EntityTag(strong: "a"))
    #expect(EntityTag(strong: "a") != EntityTag(weak: "a"))
    #expect(EntityTag(strong: "\u{E9}") != EntityTag(strong: "e\u{301}"))
    let tags: Set = [EntityTag(strong: "a"), EntityTag(weak: "a"), EntityTag(strong: "a"), EntityTag(strong: "a-gz")]
    #expect(tags.count == 3)
  }

  @Test func `A variant carries one suffix, keeps its weakness and leads back to the plain tag`() {
    let tag = EntityTag(strong: "x")
    #expect(tag.variant(.gzip).fieldValue == "\"x-gz\"")
    #expect(tag.variant(.gzip).variant(.gzip).fieldValue == "\"x-gz\"")
    #expect(tag.variant(.identity) == tag)
    #expect(tag.variant(.gzip).variant(.identity) == tag)
    #expect(tag.variant(.gzip).identity == tag)
    #expect(EntityTag(weak: "x").variant(.gzip).fieldValue == "W/\"x-gz\"")
    #expect(EntityTag(strong: "").variant(.gzip).identity == EntityTag(strong: ""))
  }

  @Test func `If-Range and If-Match distinguish variants of one content, and If-None-Match does not`() {
    for coding in ContentCoding.allCases {
      for other in ContentCoding.allCases {
        let (one, another) = (EntityTag(strong: "x").variant(coding), EntityTag(strong: "x").variant(other))
        #expect(one.stronglyMatches(another) == (coding == other))
        #expect(one.weaklyMatches(another))
      }
    }
  }

  @Test func `Creating a tag of invalid characters traps`() async {
    await #expect(processExitsWith: .failure) { _ = EntityTag(strong: "a\"b") }
    await #expect(processExitsWith: .failure) { _ = EntityTag(weak: "a b") }
  }
}
