import HTTPConditions
import HTTPTypes
import Testing

@Suite struct `Accept-Encoding (RFC 9110 section 12.5.3)` {
  struct Row: Sendable, CustomTestStringConvertible {
    var sentence: String
    var lines: [String]
    /// The coding chosen among gzip and identity if the server prefers gzip.
    var coding: ContentCoding?
    var testDescription: String { "\(lines): \(sentence)" }

    init(_ sentence: String, _ values: String..., coding: ContentCoding?) {
      self.sentence = sentence
      self.lines = values.map { "Accept-Encoding: \($0)" }
      self.coding = coding
    }
  }

  @Test(arguments: [
    Row("example", "compress, gzip", coding: .gzip),
    Row("example; empty implies that no content coding is wanted", "", coding: .identity),
    Row("example", "*", coding: .gzip),
    Row("example", "compress;q=0.5, gzip;q=1.0", coding: .gzip),
    Row("example", "gzip;q=1.0, identity; q=0.5, *;q=0", coding: .gzip),
    Row("as browsers send it", "gzip, deflate, br, zstd", coding: .gzip),
    Row("no other is listed: send a response without any content coding", "br", coding: .identity),
    Row("acceptable unless accompanied by a qvalue of 0", "gzip;q=0", coding: .identity),
    Row("acceptable unless accompanied by a qvalue of 0", "gzip;q=0.000", coding: .identity),
    Row("identity is acceptable by default unless excluded by identity;q=0", "identity;q=0", coding: nil),
    Row("or by *;q=0", "*;q=0", coding: nil),
    Row("or by *;q=0", "br, *;q=0", coding: nil),
    Row("*;q=0 with a more specific entry for identity", "*;q=0, identity", coding: .identity),
    Row("*;q=0 with a more specific entry for gzip", "gzip, *;q=0", coding: .gzip),
    Row("* matches any coding not explicitly listed", "gzip;q=0, *", coding: .identity),
    Row("* matches any coding not explicitly listed", "identity;q=0, *", coding: .gzip),
    Row("* matches any coding not explicitly listed", "*;q=0.5, identity;q=0.6", coding: .identity),
    Row("both excluded", "identity;q=0, gzip;q=0", coding: nil),
    Row("the highest non-zero qvalue is preferred", "gzip;q=0.5, identity;q=0.8", coding: .identity),
    Row("the highest non-zero qvalue is preferred", "gzip;q=0.8, identity;q=0.5", coding: .gzip),
    Row("the highest non-zero qvalue is preferred", "gzip;q=0.999, identity", coding: .identity),
    Row("of equal weights the server's order decides", "identity, gzip", coding: .gzip),
    Row("0.001 is the least preferred, and still acceptable", "gzip;q=0.001", coding: .gzip),
    Row("the parameter named q (case-insensitive)", "gzip;Q=0", coding: .identity),
    Row("weight = OWS \";\" OWS \"q=\" qvalue", "gzip \t;\t q=0", coding: .identity),
    Row("all content codings are case-insensitive (section 8.4.1)", "GZip", coding: .gzip),
    Row("all content codings are case-insensitive (section 8.4.1)", "IDENTITY;q=0, GZIP;q=0", coding: nil),
    Row("x-gzip is equivalent to gzip (section 8.4.1.3)", "x-gzip", coding: .gzip),
    Row("x-gzip is equivalent to gzip (section 8.4.1.3)", "x-gzip;q=0, *", coding: .identity),
    Row("empty list elements", ", ,gzip,,", coding: .gzip),
    Row("several field lines are one list", "br", "gzip", coding: .gzip),
    Row("several field lines are one list", "gzip;q=0.2", "identity;q=0.3", coding: .identity),
    Row("no longer word counts as the shorter one", "gzipped, xgzip", coding: .identity),
    Row("listed twice, the smaller weight counts", "gzip, gzip;q=0", coding: .identity),
    Row("listed twice, the smaller weight counts", "gzip;q=0, x-gzip", coding: .identity),
    Row("qvalue: 0 [ \".\" 0*3DIGIT ]", "gzip;q=0.", coding: .identity),
    Row("qvalue: 1 [ \".\" 0*3(\"0\") ]", "gzip;q=1.", coding: .gzip),
    Row("qvalue: 1 [ \".\" 0*3(\"0\") ]", "gzip;q=1.000", coding: .gzip),
    Row("no weight above 1: the element is passed over", "gzip;q=1.001", coding: .identity),
    Row("no weight above 1: the element is passed over", "gzip;q=2", coding: .identity),
    Row("no more than three digits: the element is passed over", "gzip;q=0.1234", coding: .identity),
    Row("a malformed weight: the element is passed over", "gzip;q=.5", coding: .identity),
    Row("a malformed weight: the element is passed over", "gzip;q=0,5", coding: .identity),
    Row("a malformed weight: the element is passed over", "gzip;q=", coding: .identity),
    Row("a malformed weight: the element is passed over", "gzip;q", coding: .identity),
    Row("a malformed weight: the element is passed over", "gzip;", coding: .identity),
    Row("a malformed weight: the element is passed over", "gzip;q=high", coding: .identity),
    Row("a malformed weight: the element is passed over", "gzip;q=0.5;q=0.6", coding: .identity),
    Row("a malformed weight: the element is passed over", "gzip;q = 1", coding: .identity),
    Row("a malformed weight: the element is passed over", "gzip;level=9", coding: .identity),
    Row("a malformed element: the element is passed over", "gzip identity", coding: .identity),
    Row("a malformed element: the element is passed over", ";q=1", coding: .identity),
    Row("a malformed element hides no other", "gzip;q=x, gzip;q=0.5", coding: .gzip),
  ])
  func `The acceptable coding with the greatest weight is chosen`(_ row: Row) {
    let accepted = AcceptEncoding(fields: HTTPFields(lines: row.lines))
    #expect(accepted.preferredCoding(among: [.gzip, .identity]) == row.coding)
  }

  /// "If no Accept-Encoding header field is in the request, any content coding is considered acceptable".
  @Test func `Without the field the plain variant is chosen if there is one`() {
    let accepted = AcceptEncoding(fields: HTTPFields(lines: ["Accept: */*"]))
    #expect(accepted.preferredCoding(among: [.gzip, .identity]) == .identity)
    #expect(accepted.preferredCoding(among: [.gzip]) == .gzip)
    #expect(accepted.preferredCoding(among: []) == nil)
  }

  @Test func `Only a coding that the server offers is chosen`() {
    let accepted = AcceptEncoding(fields: HTTPFields(lines: ["Accept-Encoding: gzip, identity;q=0.1"]))
    #expect(accepted.preferredCoding(among: [.identity]) == .identity)
    #expect(accepted.preferredCoding(among: [.gzip]) == .gzip)
    #expect(accepted.preferredCoding(among: []) == nil)
  }

  @Test func `The server's order decides between equal weights`() {
    let accepted = AcceptEncoding(fields: HTTPFields(lines: ["Accept-Encoding: *"]))
    #expect(accepted.preferredCoding(among: [.identity, .gzip]) == .identity)
    #expect(accepted.preferredCoding(among: [.gzip, .identity]) == .gzip)
  }
}
