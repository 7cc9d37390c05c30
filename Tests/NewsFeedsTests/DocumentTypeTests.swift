import Foundation
import NewsFeeds
import Testing

@Suite("Document types")
struct DocumentTypeTests {
  private static let unknown = "refers to entities that are unknown; their names are read as text"

  /// Returns RSS 1.0 after a document type, whose last line is the second one.
  private static func feed(_ type: String, channel: String = "T", item: String = "a&eacute;b") -> String {
    """
    <?xml version="1.0"?>
    \(type)
    <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
      xmlns:dc="http://purl.org/dc/elements/1.1/">
    <channel rdf:about="https://example.org/"><title>\(channel)</title><link>https://example.org/</link></channel>
    <item rdf:about="https://example.org/1"><title>\(item)</title><dc:date>2026-08-20</dc:date></item></rdf:RDF>
    """
  }

  /// Reads a feed, which must be the same however the bytes are divided.
  private func read(
    _ text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) -> (titles: [String?], feed: String?, complaints: [String]) {
    let found = [Int.max, 1, 7, 100].map { pieces in
      let reader = FeedReader()
      var events: [FeedEvent] = []
      var rest = Data(text.utf8)[...]
      while !rest.isEmpty {
        events += reader.feed(Data(rest.prefix(pieces)))
        rest = rest.dropFirst(pieces)
      }
      events += reader.finish()
      return (events, reader.properties.title)
    }
    #expect(found.allSatisfy { $0 == found[0] }, sourceLocation: sourceLocation)
    return (found[0].0.entries.map(\.title), found[0].1, found[0].0.complaints)
  }

  @Test(
    "are skipped, whatever they declare",
    arguments: [
      """
      <!DOCTYPE rdf:RDF [<!ENTITY % HTMLlat1 PUBLIC "-//W3C//ENTITIES Latin 1 for XHTML//EN"
        "http://www.w3.org/TR/xhtml1/DTD/xhtml-lat1.ent"> %HTMLlat1; ]>
      """,
      "<!DOCTYPE rdf:RDF SYSTEM 'http://127.0.0.1:9/x.dtd'>", "<!DOCTYPE rdf:RDF PUBLIC \"a>b\" \"c\">",
      "<!DOCTYPE rdf:RDF PUBLIC \"-//unclosed>", "<!doctype rdf:RDF>", "<!DOCTYPE a><!-- x --><!DOCTYPE rdf:RDF>",
      "<!DOCTYPE rdf:RDF [<!ENTITY % a \"<!ENTITY b 'c'>\">%a;]>", "<!DOCTYPE rdf:RDF [%undeclared;]>",
      "<!DOCTYPE rdf:RDF [<!ENTITY % p SYSTEM 'file:///etc/passwd'> %p;\n<!ENTITY eacute '?'>]>",
      "<!DOCTYPE rdf:RDF [<!NOTATION gif SYSTEM 'x'><!ENTITY e SYSTEM 'e.gif' NDATA gif>]>",
      "<!DOCTYPE rdf:RDF [<!ATTLIST item a CDATA 'b' c (d|e) #REQUIRED><!ELEMENT item ANY>]>",
      "<!DOCTYPE rdf:RDF [<!-- > ]> <rss> ' --><?x ]> \" ?>\n<!ENTITY x ']>'>]>",
      "<!DOCTYPE rdf:RDF [<!ENTITY x \"'><rss>\">\n] >", "<!DOCTYPE rdf:RDF [ nonsense <!NONSENSE> ]>",
      "<!DOCTYPE html [%a;]>", "<!DOCTYPE rdf:RDF",
    ])
  func skipped(type: String) {
    let found = read(Self.feed(type))
    #expect(found.titles == ["aéb"])
    #expect(found.feed == "T")
    #expect(found.complaints == [])
  }

  @Test("keep the lines of what follows")
  func lines() {
    let text = Self.feed("<!DOCTYPE rdf:RDF [\n<!-- -->\n%a;]>", item: "A & B")
    #expect(read(text).complaints == ["noted line 8: has ampersands that are not escaped; they are read as text"])
    let broken = Self.feed("<!DOCTYPE rdf:RDF [<!ENTITY e '1\n2'>]>", channel: "&e;")
      .replacing("2026-08-20", with: "x")
    #expect(read(broken).complaints == ["skipped line 7: the date \"x\" cannot be read"])
  }

  @Test(
    "declare texts, which are read outside of entries",
    arguments: [
      ("<!ENTITY e 'ACME'>", "ACME"), ("<!ENTITY e \"a &amp; b&#233;&eacute;\">", "a & béé"),
      ("<!ENTITY e '\"&#34;&apos;'>", "\"\"'"), ("<!ENTITY e ''>", ""), ("<!ENTITY e\n\"1\n2\">", "1 2"),
      ("<!ENTITY e 'first'><!ENTITY e 'second'>", "first"), ("<!ENTITY a '1'><!ENTITY e '&a;2'>", "12"),
      ("<!ENTITY e '<b>bold</b>'>", "bold"),
    ])
  func texts(declaration: String, text: String) {
    let found = read(Self.feed("<!DOCTYPE rdf:RDF [\(declaration)]>", channel: "x &e;"))
    #expect(found.feed == "x \(text)".trimmingCharacters(in: .whitespaces))
    #expect(found.titles == ["aéb"])
    #expect(found.complaints == [])
  }

  @Test(
    "leave references whose texts are elsewhere, unknown or too long as words",
    arguments: [
      "<!ENTITY e SYSTEM 'file:///etc/passwd'>", "<!ENTITY e PUBLIC 'a' 'http://127.0.0.1:9/'>", "<!ENTITY e '&e;'>",
      "<!ENTITY e '&a;'><!ENTITY a '&e;'>", "<!ENTITY % e 'x'>", "<!ENTITY e '&other;'>",
      "<!ENTITY e '\(String(repeating: "x", count: 1025))'>", "<!ENTITY e '&eacute; & x'>", "",
      "<!ENTITY e SYSTEM 'e.txt'><!ENTITY e 'second'>",
    ])
  func words(declaration: String) {
    let found = read(Self.feed("<!DOCTYPE rdf:RDF [\(declaration)]>", channel: "x &e;"))
    #expect(found.feed == "x &e;")
    #expect(found.titles == ["aéb"])
    #expect(found.complaints.count == 1)
    #expect(found.complaints.first?.hasSuffix(Self.unknown) == true, "\(found.complaints)")
  }

  @Test("declare texts for attributes of the root, such as namespaces")
  func attributes() {
    let type = "<!DOCTYPE rdf:RDF [<!ENTITY rdf 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'>]>"
    for declaration in ["<?xml version=\"1.0\"?>\n", ""] {
      let text = Self.feed(type).replacing(
        "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#", with: "xmlns:rdf=\"&rdf;"
      )
      .replacing("<?xml version=\"1.0\"?>\n", with: declaration)
      #expect(read(text).titles == ["aéb"])
    }
  }

  @Test("declare texts also for what follows an entry")
  func afterEntry() {
    let found = read(
      """
      <!DOCTYPE rss [<!ENTITY e 'ACME'>]>
      <rss version="2.0"><channel>
      <item><title>a</title><pubDate>Thu, 20 Aug 2026 12:00:00 GMT</pubDate></item><title>x &e;</title>
      </channel></rss>
      """)
    #expect(found.feed == "x ACME")
    #expect(found.titles == ["a"] && found.complaints == [])
  }

  @Test("declare nothing for entries, which are read as a whole or not at all")
  func entries() {
    let type = "<!DOCTYPE rdf:RDF [<!ENTITY e 'x'>]>"
    let found = read(Self.feed(type, item: "&e;").replacing("</rdf:RDF>", with: "<textinput>&e;</textinput></rdf:RDF>"))
    #expect(found.complaints == ["skipped line 6: uses the entity \"e\", which is unknown"])
    let unheard = read(Self.feed(type, item: "a &unheard; b"))
    #expect(unheard.titles == ["a &unheard; b"])
    #expect(unheard.complaints == ["noted line 6: \(Self.unknown)"])
  }

  @Test("multiply no texts")
  func bounds() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
    let laughs = zip(names, names.dropFirst()).map { "<!ENTITY \($1) '\(String(repeating: "&\($0);", count: 10))'>" }
    let type = "<!DOCTYPE rdf:RDF [<!ENTITY a 'ha'>\(laughs.joined())]>"
    #expect(read(Self.feed(type, channel: "&j;")).feed == "&j;")
    #expect(read(Self.feed(type, channel: "&b;")).feed == String(repeating: "ha", count: 10))
    let long = "<!DOCTYPE rdf:RDF [<!ENTITY e '\(String(repeating: "x", count: 1000))'>]>"
    let many = "<image>\(String(repeating: "&e;", count: 10_000))</image>"
    let found = events(Self.feed(long).replacing("<item", with: many + "<item"))
    #expect(found.entries.map(\.title) == ["aéb"])
    #expect(found.complaints.count == 1)
    #expect(found.complaints.first?.hasSuffix(Self.unknown) == true)
  }

  @Test("are skipped in lists of feeds too")
  func lists() throws {
    let text = "<!DOCTYPE opml [%a;]><opml><body><outline xmlUrl='https://example.org/'/></body></opml>"
    #expect(try OPML(reading: Data(text.utf8)).feeds.map(\.address) == ["https://example.org/"])
  }
}
