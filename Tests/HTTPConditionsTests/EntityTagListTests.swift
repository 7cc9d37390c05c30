import HTTPConditions
import HTTPTypes
import Testing

@Suite struct `Lists of entity tags (RFC 9110 sections 5.6.1.2, 13.1.1 and 13.1.2)` {
  struct Row: Sendable, CustomTestStringConvertible {
    var sentence: String
    var lines: [String]
    /// The tags in printed form; `["*"]` for any.
    var tags: [String]
    var testDescription: String { "\(lines): \(sentence)" }

    init(_ sentence: String, _ lines: String..., tags: [String]) {
      self.sentence = sentence
      self.lines = lines
      self.tags = tags
    }
  }

  @Test(arguments: [
    Row("If-Match: \"xyzzy\"", "\"xyzzy\"", tags: ["\"xyzzy\""]),
    Row(
      "If-None-Match: W/\"xyzzy\", W/\"r2d2xxxx\", W/\"c3piozzzz\"", "W/\"xyzzy\", W/\"r2d2xxxx\", W/\"c3piozzzz\"",
      tags: ["W/\"xyzzy\"", "W/\"r2d2xxxx\"", "W/\"c3piozzzz\""]),
    Row("If-Match: *", "*", tags: ["*"]),
    Row("optional whitespace around the value", " \t* ", tags: ["*"]),
    Row("[ element ] *( OWS \",\" OWS [ element ] )", "\"a\"\t,\"b\" ,  \"c\"", tags: ["\"a\"", "\"b\"", "\"c\""]),
    Row("parse and ignore a reasonable number of empty list elements", ", ,\"a\",,\"b\", ,", tags: ["\"a\"", "\"b\""]),
    Row("a comma is an etagc: commas inside quotes", "\"a,b\",\",\"", tags: ["\"a,b\"", "\",\""]),
    Row(
      "several field lines are one list (section 5.3)", "\"a\"", "W/\"b\", \"c\"", tags: ["\"a\"", "W/\"b\"", "\"c\""]),
    Row("an empty field line adds nothing", "\"a\"", "", tags: ["\"a\""]),
    Row("at least one element is wanted: an empty list matches nothing", "", tags: []),
    Row("at least one element is wanted: empty elements match nothing", " , ,", tags: []),
    Row("a list containing \"*\" and other values is invalid", "*, \"a\"", tags: ["\"a\""]),
    Row("a list containing \"*\" and other values is invalid", "\"a\", *", tags: ["\"a\""]),
    Row("a list containing \"*\" and other values is invalid", "*", "\"a\"", tags: ["\"a\""]),
    Row("including other instances of \"*\"", "*, *", tags: []),
    Row("including other instances of \"*\"", "*", "*", tags: []),
    Row("a star in quotes is a tag", "\"*\"", tags: ["\"*\""]),
    Row("two stars without a comma are a word", "**", tags: []),
    Row("an unquoted word is passed over", "a, \"b\"", tags: ["\"b\""]),
    Row("a lower-case indicator is passed over with its tag", "w/\"a\", \"b\"", tags: ["\"b\""]),
    Row("a tag with something after it is passed over", "\"a\"x, \"b\" y, \"c\"", tags: ["\"c\""]),
    Row("tags without a comma between them are passed over", "\"a\"\"b\", \"c\"", tags: ["\"c\""]),
    Row("a malformed element ends at the next comma outside quotes", "x\"a,b\", \"c\"", tags: ["\"c\""]),
    Row("a quote left open takes the rest of its line", "\"a, \"b\"", tags: []),
    Row("a quote left open takes no other line", "\"a", "\"b\"", tags: ["\"b\""]),
    Row("a space is no etagc", "\"a b\", \"c\"", tags: ["\"c\""]),
  ])
  func `Well-formed elements are kept in their order, others match nothing`(_ row: Row) throws {
    for name in [HTTPField.Name.ifMatch, .ifNoneMatch] {
      let fields = HTTPFields(lines: ["Host: example.com"] + row.lines.map { "\(name): \($0)" })
      switch try #require(EntityTagList(fields: fields, name: name)) {
      case .any: #expect(row.tags == ["*"])
      case .tags(let tags): #expect(tags.map(\.fieldValue) == row.tags)
      }
    }
  }

  @Test func `Without such a field there is no list`() {
    #expect(EntityTagList(fields: [:], name: .ifMatch) == nil)
    #expect(EntityTagList(fields: HTTPFields(lines: ["If-Match: *"]), name: .ifNoneMatch) == nil)
  }

  @Test func `The case of a field name is ignored`() {
    #expect(EntityTagList(fields: HTTPFields(lines: ["if-NONE-match: *"]), name: .ifNoneMatch) == .any)
  }

  @Test func `A tag that is not UTF-8 is skipped, and its neighbours are read`() {
    var fields = HTTPFields()
    fields.append(HTTPField(name: .ifMatch, value: Array("\"a\", \"".utf8) + [0xFF] + Array("\", \"b\"".utf8)))
    let tags = EntityTagList(fields: fields, name: .ifMatch)
    #expect(tags == .tags([EntityTag(strong: "a"), EntityTag(strong: "b")]))
  }
}
