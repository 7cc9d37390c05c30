import Foundation
import HTTPConditions
import HTTPTypes
import Testing

@Suite struct `If-Range (RFC 9110 section 13.1.5)` {
  struct Row: Sendable, CustomTestStringConvertible {
    var sentence: String
    var lines: [String]
    var current: Validators
    var applies: Bool
    var testDescription: String { "\(lines): \(sentence)" }

    init(_ sentence: String, _ lines: String..., current: Validators, _ applies: Bool) {
      self.sentence = sentence
      self.lines = lines
      self.current = current
      self.applies = applies
    }
  }

  private static let date = Date(timeIntervalSince1970: 783_459_811)
  static let strong = Validators(entityTag: EntityTag(strong: "a"), lastModified: date, isLastModifiedStrong: true)
  static let weakDate = Validators(entityTag: EntityTag(strong: "a"), lastModified: date)
  static let weakTag = Validators(entityTag: EntityTag(weak: "a"), lastModified: date)
  static let bare = Validators()
  static let compressed = Validators(entityTag: EntityTag(strong: "a").variant(.gzip))
  static let withinSecond = Validators(lastModified: date.addingTimeInterval(0.5), isLastModifiedStrong: true)

  @Test(arguments: [
    Row("a Range without If-Range applies", "Range: bytes=0-1", current: bare, true),
    Row("exactly matches the ETag using the strong comparison", "If-Range: \"a\"", current: strong, true),
    Row("otherwise, the condition is false", "If-Range: \"x\"", current: strong, false),
    Row("strong comparison: a weak tag never matches", "If-Range: W/\"a\"", current: strong, false),
    Row("strong comparison: nor does one of ours", "If-Range: \"a\"", current: weakTag, false),
    Row("strong comparison: not even each other", "If-Range: W/\"a\"", current: weakTag, false),
    Row("byte ranges are of the encoded sequence: variants do not mix", "If-Range: \"a-gz\"", current: strong, false),
    Row("byte ranges are of the encoded sequence: variants do not mix", "If-Range: \"a\"", current: compressed, false),
    Row("the same variant is the same bytes", "If-Range: \"a-gz\"", current: compressed, true),
    Row("no tag to match", "If-Range: \"a\"", current: bare, false),
    Row("If-Range = entity-tag / HTTP-date: no list", "If-Range: \"a\", \"b\"", current: strong, false),
    Row("If-Range = entity-tag / HTTP-date: no list", "If-Range: \"a\"", "If-Range: \"a\"", current: strong, false),
    Row("If-Range = entity-tag / HTTP-date: no *", "If-Range: *", current: strong, false),
    Row("If-Range = entity-tag / HTTP-date: not unquoted", "If-Range: a", current: strong, false),
    Row("If-Range = entity-tag / HTTP-date: not empty", "If-Range:", current: strong, false),
    Row("whitespace is no part of it", "If-Range:  \"a\"\t", current: strong, true),
    Row("exactly matches Last-Modified", "If-Range: Sat, 29 Oct 1994 19:43:31 GMT", current: strong, true),
    Row("by exact match: not earlier", "If-Range: Sat, 29 Oct 1994 19:43:30 GMT", current: strong, false),
    Row("by exact match: not later", "If-Range: Sat, 29 Oct 1994 19:43:32 GMT", current: strong, false),
    Row("not a strong validator: false", "If-Range: Sat, 29 Oct 1994 19:43:31 GMT", current: weakDate, false),
    Row("no date to match", "If-Range: Sat, 29 Oct 1994 19:43:31 GMT", current: bare, false),
    Row("the field has no fractions", "If-Range: Sat, 29 Oct 1994 19:43:31 GMT", current: withinSecond, true),
    Row("MUST accept all three formats", "If-Range: Sat Oct 29 19:43:31 1994", current: strong, true),
    Row("MUST accept all three formats", "If-Range: Saturday, 29-Oct-94 19:43:31 GMT", current: strong, true),
    Row("a malformed date is false", "If-Range: Sat, 29 Oct 1994", current: strong, false),
  ])
  func `A range applies if the validator is exactly the current one`(_ row: Row) {
    #expect(Preconditions(fields: HTTPFields(lines: row.lines)).rangeApplies(current: row.current) == row.applies)
  }

  @Test func `If-Range changes no other condition and no method`() {
    let fields = HTTPFields(lines: ["If-Range: \"x\"", "Range: bytes=0-1"])
    for method in [HTTPRequest.Method.get, .head, .put, .delete] {
      #expect(Preconditions(fields: fields).evaluate(method: method, current: Self.strong) == .proceed)
    }
  }
}
