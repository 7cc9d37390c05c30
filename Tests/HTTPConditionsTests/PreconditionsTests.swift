import Foundation
import HTTPConditions
import HTTPTypes
import Testing

/// A request and its expected result.
struct ConditionalRequest: Sendable, CustomTestStringConvertible {
  /// The sentence of the RFC, or the fact about a proxy, that the row tests.
  var sentence: String
  var method: HTTPRequest.Method
  var lines: [String]
  var current: Validators?
  var result: PreconditionResult
  var testDescription: String { "\(method) \(lines): \(sentence)" }

  init(
    _ sentence: String, _ method: HTTPRequest.Method, _ lines: String..., current: Validators?,
    _ result: PreconditionResult
  ) {
    self.sentence = sentence
    self.method = method
    self.lines = lines
    self.current = current
    self.result = result
  }

  func expectResult() {
    #expect(Preconditions(fields: HTTPFields(lines: lines)).evaluate(method: method, current: current) == result)
  }
}

/// The strong tag "a", modified at `Sat, 29 Oct 1994 19:43:31 GMT`.
private let both = Validators(entityTag: EntityTag(strong: "a"), lastModified: Date(timeIntervalSince1970: 783_459_811))
private let tagged = Validators(entityTag: EntityTag(strong: "a"))
private let weaklyTagged = Validators(entityTag: EntityTag(weak: "a"))
private let compressed = Validators(entityTag: EntityTag(strong: "a").variant(.gzip))
private let dated = Validators(lastModified: both.lastModified)
private let datedWithinSecond = Validators(lastModified: Date(timeIntervalSince1970: 783_459_811.75))

@Suite struct `Preconditions one by one (RFC 9110 section 13.1)` {
  @Test(arguments: [
    ConditionalRequest(
      "\"*\": true if there is a current representation", .put, "If-Match: *", current: both, .proceed),
    ConditionalRequest("\"*\": and false if there is none", .put, "If-Match: *", current: nil, .failed),
    ConditionalRequest("\"*\": even one without a tag", .put, "If-Match: *", current: dated, .proceed),
    ConditionalRequest(
      "true if any of the listed tags match", .put, "If-Match: \"x\", \"a\"", current: both, .proceed),
    ConditionalRequest("otherwise, the condition is false", .put, "If-Match: \"x\", \"y\"", current: both, .failed),
    ConditionalRequest("otherwise false: nothing to match", .put, "If-Match: \"a\"", current: nil, .failed),
    ConditionalRequest("otherwise false: no tag to match", .put, "If-Match: \"a\"", current: dated, .failed),
    ConditionalRequest("otherwise false: an empty list", .put, "If-Match:", current: both, .failed),
    ConditionalRequest(
      "several field lines are one list", .put, "If-Match: \"x\"", "If-Match: \"a\"", current: both, .proceed),
    ConditionalRequest("MUST use the strong comparison", .put, "If-Match: W/\"a\"", current: tagged, .failed),
    ConditionalRequest("MUST use the strong comparison", .put, "If-Match: \"a\"", current: weaklyTagged, .failed),
    ConditionalRequest("MUST use the strong comparison", .put, "If-Match: W/\"a\"", current: weaklyTagged, .failed),
    ConditionalRequest("strong: variants differ in bytes", .put, "If-Match: \"a-gz\"", current: tagged, .failed),
    ConditionalRequest("strong: variants differ in bytes", .put, "If-Match: \"a\"", current: compressed, .failed),
    ConditionalRequest(
      "an editor who saw nginx's W/\"x\" can never match", .patch, "If-Match: W/\"a\"", current: both, .failed),
    ConditionalRequest("MAY be sent in a GET request", .get, "If-Match: \"x\"", current: both, .failed),
    ConditionalRequest("MAY be sent in a GET request", .get, "If-Match: \"a\"", current: both, .proceed),
    ConditionalRequest("\"*\" and other values is invalid", .put, "If-Match: *, \"x\"", current: both, .failed),
    ConditionalRequest("other instances of \"*\" too", .put, "If-Match: *, *", current: both, .failed),
    ConditionalRequest("beside \"*\" a tag may still match", .put, "If-Match: *, \"a\"", current: both, .proceed),
    ConditionalRequest("a malformed tag matches nothing", .put, "If-Match: a", current: both, .failed),
    ConditionalRequest("a malformed tag hides no other", .put, "If-Match: a, \"a\"", current: both, .proceed),
    ConditionalRequest("used for DELETE as for PUT", .delete, "If-Match: \"x\"", current: both, .failed),
    ConditionalRequest("used for POST as for PUT", .post, "If-Match: \"x\"", current: both, .failed),
  ])
  func `If-Match`(_ row: ConditionalRequest) { row.expectResult() }

  @Test(arguments: [
    ConditionalRequest("\"*\": false if there is a current one", .get, "If-None-Match: *", current: both, .notModified),
    ConditionalRequest("\"*\": false, and 412 for others", .put, "If-None-Match: *", current: both, .failed),
    ConditionalRequest("\"*\": even one without a tag", .put, "If-None-Match: *", current: dated, .failed),
    ConditionalRequest("\"*\": true without a current one", .put, "If-None-Match: *", current: nil, .proceed),
    ConditionalRequest(
      "false if one of the listed tags matches", .get, "If-None-Match: \"x\", \"a\"", current: both, .notModified),
    ConditionalRequest("otherwise, the condition is true", .get, "If-None-Match: \"x\"", current: both, .proceed),
    ConditionalRequest("otherwise true: nothing to match", .get, "If-None-Match: \"a\"", current: nil, .proceed),
    ConditionalRequest("otherwise true: no tag to match", .get, "If-None-Match: \"a\"", current: dated, .proceed),
    ConditionalRequest("otherwise true: an empty list", .get, "If-None-Match:", current: both, .proceed),
    ConditionalRequest("304 if the method is GET or HEAD", .head, "If-None-Match: \"a\"", current: both, .notModified),
    ConditionalRequest("412 for all other request methods", .put, "If-None-Match: \"a\"", current: both, .failed),
    ConditionalRequest("412 for all other request methods", .post, "If-None-Match: \"a\"", current: both, .failed),
    ConditionalRequest("412 for all other request methods", .delete, "If-None-Match: \"a\"", current: both, .failed),
    ConditionalRequest("412 for all other request methods", .patch, "If-None-Match: \"a\"", current: both, .failed),
    ConditionalRequest(
      "MUST use the weak comparison", .get, "If-None-Match: W/\"a\"", current: tagged, .notModified),
    ConditionalRequest(
      "MUST use the weak comparison", .get, "If-None-Match: \"a\"", current: weaklyTagged, .notModified),
    ConditionalRequest("MUST use the weak comparison", .put, "If-None-Match: W/\"a\"", current: tagged, .failed),
    ConditionalRequest(
      "nginx with gzip turns \"x\" into W/\"x\"", .get, "If-None-Match: W/\"a-gz\"", current: compressed, .notModified),
    ConditionalRequest(
      "either variant is current content", .get, "If-None-Match: \"a-gz\"", current: tagged, .notModified),
    ConditionalRequest(
      "either variant is current content", .get, "If-None-Match: \"a\"", current: compressed, .notModified),
    ConditionalRequest(
      "commas inside quotes", .get, "If-None-Match: \"x,\", \"a,b\"",
      current: Validators(entityTag: EntityTag(strong: "a,b")), .notModified),
    ConditionalRequest("commas inside quotes", .get, "If-None-Match: \"x,a,y\"", current: both, .proceed),
    ConditionalRequest(
      "several field lines", .get, "If-None-Match: \"x\"", "If-None-Match: \"a\"", current: both, .notModified),
    ConditionalRequest("\"*\" and other values is invalid", .get, "If-None-Match: *, \"x\"", current: both, .proceed),
    ConditionalRequest("other instances of \"*\" too", .get, "If-None-Match: *, *", current: both, .proceed),
    ConditionalRequest(
      "beside \"*\" a tag may still match", .get, "If-None-Match: \"a\", *", current: both, .notModified),
    ConditionalRequest("a malformed tag matches nothing", .get, "If-None-Match: a", current: both, .proceed),
    ConditionalRequest(
      "a guard that cannot be read lets no write through", .put, "If-None-Match: a", current: both, .failed),
    ConditionalRequest("nor one of two stars", .put, "If-None-Match: *, *", current: both, .failed),
    ConditionalRequest("but creation has nothing to lose", .put, "If-None-Match: a", current: nil, .proceed),
  ])
  func `If-None-Match`(_ row: ConditionalRequest) { row.expectResult() }

  @Test(arguments: [
    ConditionalRequest(
      "earlier or equal: the condition is false", .get, "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT",
      current: both, .notModified),
    ConditionalRequest(
      "earlier or equal: the condition is false", .get, "If-Modified-Since: Sat, 29 Oct 1994 19:43:32 GMT",
      current: both, .notModified),
    ConditionalRequest(
      "otherwise, the condition is true", .get, "If-Modified-Since: Sat, 29 Oct 1994 19:43:30 GMT", current: both,
      .proceed),
    ConditionalRequest(
      "GET or HEAD", .head, "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT", current: both, .notModified),
    ConditionalRequest(
      "MUST ignore if the method is neither GET nor HEAD", .put, "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT",
      current: both, .proceed),
    ConditionalRequest(
      "MUST ignore if the method is neither GET nor HEAD", .post, "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT",
      current: both, .proceed),
    ConditionalRequest(
      "MUST ignore if not a valid HTTP-date", .get, "If-Modified-Since: 2030-01-01T00:00:00Z", current: both, .proceed),
    ConditionalRequest("MUST ignore if not a valid HTTP-date", .get, "If-Modified-Since: 0", current: both, .proceed),
    ConditionalRequest("MUST ignore if not a valid HTTP-date", .get, "If-Modified-Since:", current: both, .proceed),
    ConditionalRequest("MUST ignore if not a valid HTTP-date", .get, "If-Modified-Since: *", current: both, .proceed),
    ConditionalRequest(
      "MUST ignore if more than one member", .get,
      "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT, Sat, 29 Oct 1994 19:43:31 GMT", current: both, .proceed),
    ConditionalRequest(
      "MUST ignore if more than one member", .get, "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT",
      "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT", current: both, .proceed),
    ConditionalRequest(
      "MUST ignore without a modification date", .get, "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT",
      current: tagged, .proceed),
    ConditionalRequest(
      "MUST ignore without a modification date", .get, "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT",
      current: nil, .proceed),
    ConditionalRequest(
      "MUST ignore if the request contains If-None-Match", .get, "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT",
      "If-None-Match: \"x\"", current: both, .proceed),
    ConditionalRequest(
      "MUST ignore if the request contains If-None-Match", .get, "If-Modified-Since: Sat, 29 Oct 1994 19:43:30 GMT",
      "If-None-Match: \"a\"", current: both, .notModified),
    ConditionalRequest(
      "MUST ignore if the request contains If-None-Match, even an empty one", .get,
      "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT", "If-None-Match:", current: both, .proceed),
    ConditionalRequest(
      "the field has no fractions of a second", .get, "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT",
      current: datedWithinSecond, .notModified),
    ConditionalRequest(
      "MUST accept all three formats", .get, "If-Modified-Since: Saturday, 29-Oct-94 19:43:31 GMT", current: both,
      .notModified),
    ConditionalRequest(
      "MUST accept all three formats", .get, "If-Modified-Since: Sat Oct 29 19:43:31 1994", current: both, .notModified),
  ])
  func `If-Modified-Since`(_ row: ConditionalRequest) { row.expectResult() }

  @Test(arguments: [
    ConditionalRequest(
      "earlier or equal: the condition is true", .put, "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:31 GMT",
      current: both, .proceed),
    ConditionalRequest(
      "earlier or equal: the condition is true", .put, "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:32 GMT",
      current: both, .proceed),
    ConditionalRequest(
      "otherwise, the condition is false", .put, "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:30 GMT", current: both,
      .failed),
    ConditionalRequest(
      "can be used with any method", .get, "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:30 GMT", current: dated,
      .failed),
    ConditionalRequest(
      "can be used with any method", .delete, "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:30 GMT", current: dated,
      .failed),
    ConditionalRequest(
      "MUST ignore if not a valid HTTP-date", .put, "If-Unmodified-Since: yesterday", current: both, .proceed),
    ConditionalRequest(
      "MUST ignore a list of dates", .put,
      "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:30 GMT, Sat, 29 Oct 1994 19:43:30 GMT", current: both, .proceed),
    ConditionalRequest(
      "MUST ignore a list of dates", .put, "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:30 GMT",
      "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:30 GMT", current: both, .proceed),
    ConditionalRequest(
      "MUST ignore without a modification date", .put, "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:30 GMT",
      current: tagged, .proceed),
    ConditionalRequest(
      "MUST ignore without a modification date", .put, "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:30 GMT",
      current: nil, .proceed),
    ConditionalRequest(
      "MUST ignore if the request contains If-Match", .put, "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:30 GMT",
      "If-Match: \"a\"", current: both, .proceed),
    ConditionalRequest(
      "MUST ignore if the request contains If-Match", .put, "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:31 GMT",
      "If-Match: \"x\"", current: both, .failed),
    ConditionalRequest(
      "the field has no fractions of a second", .put, "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:31 GMT",
      current: datedWithinSecond, .proceed),
    ConditionalRequest(
      "the wrong day name still guards a write", .put, "If-Unmodified-Since: Mon, 29 Oct 1994 19:43:30 GMT",
      current: both, .failed),
  ])
  func `If-Unmodified-Since`(_ row: ConditionalRequest) { row.expectResult() }

  @Test func `A two-digit year is completed by the given clock`() {
    let fields = HTTPFields(lines: ["If-Modified-Since: Saturday, 29-Oct-94 19:43:31 GMT"])
    let in2050 = Date(timeIntervalSince1970: 2_524_608_000)
    let in2040 = Date(timeIntervalSince1970: 2_208_988_800)
    let modified = Validators(lastModified: Date(timeIntervalSince1970: 1_000_000_000))
    let conditions = Preconditions(fields: fields)
    #expect(conditions.evaluate(method: .get, current: modified, now: in2050) == .notModified)
    #expect(conditions.evaluate(method: .get, current: modified, now: in2040) == .proceed)
  }
}
