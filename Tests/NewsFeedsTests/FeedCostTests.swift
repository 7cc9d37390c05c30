import Foundation
import NewsFeeds
import TestKit
import Testing

@Suite struct `The cost of feeds` {
  struct Shape: Sendable, CustomTestStringConvertible {
    var name: String
    var bytes = 12_000
    var make: @Sendable (Int) -> String

    var testDescription: String { name }
  }

  private static let marks = "\u{316}\u{301}"

  private static func entry(_ content: String, id: Int = 1) -> String {
    "<item><guid>\(id)</guid><title>One</title><pubDate>20 Aug 2026 13:45 GMT</pubDate>\(content)"
      + "<description>Text</description></item>"
  }

  private static func filled(_ size: Int, _ start: String, _ text: String, _ end: String) -> String {
    start + String(repeating: text, count: size / text.utf8.count) + end
  }

  private static let markup: [Shape] = [
    Shape(name: "attributes", bytes: 40_000) { size in
      rss(entry("<x " + (0..<size / 12).map { "a\($0)=\"1\"" }.joined(separator: " ") + "/>"))
    },
    Shape(name: "attributes beyond ASCII", bytes: 40_000) { size in
      rss(entry("<x " + (0..<size / 12).map { "é\($0)=\"'\"" }.joined(separator: " ") + "/>"))
    },
    Shape(name: "namespaces of one tag", bytes: 40_000) { size in
      rss(entry("<x " + (0..<size / 16).map { "xmlns:a\($0)=\"b\"" }.joined(separator: " ") + "/>"))
    },
    Shape(name: "uses of a long namespace", bytes: 40_000) { size in
      rss(
        entry("<a xmlns='urn:\(String(repeating: "a", count: size))'>\(String(repeating: "<b/>", count: size / 8))</a>")
      )
    },
    Shape(name: "elements with default attributes", bytes: 40_000) { size in
      "<!DOCTYPE rss [<!ATTLIST b c CDATA '\(String(repeating: "a", count: size))'>]>"
        + "<rss version='2.0'><channel>\(String(repeating: "<b/>", count: size / 8))</channel></rss>"
    },
    Shape(name: "nested elements") { rss(entry(filled($0, "", "<x>", ""))) },
    Shape(name: "elements in a row") { rss(entry(filled($0, "", "<x/>", ""))) },
    Shape(name: "a long text") { rss(entry(filled($0, "<x>", "text ", "</x>"))) },
    Shape(name: "a long attribute") { rss(entry(filled($0, "<x y='", "text ", "'/>"))) },
    Shape(name: "a long comment") { rss(entry(filled($0, "<!--", "text ", "-->"))) },
    Shape(name: "a long section") { rss(entry(filled($0, "<x><![CDATA[", "text ", "]]></x>"))) },
    Shape(name: "entities") { rss(entry(filled($0, "<x>", "&amp;&nbsp;", "</x>"))) },
    Shape(name: "instructions") { rss(entry(filled($0, "", "<?x y?>", ""))) },
    Shape(name: "items that are not well-formed", bytes: 4_000) { rss(filled($0, "", "<item><title>x</item>", "")) },
    Shape(name: "items within items", bytes: 3_000) { rss(filled($0, "", "<item>", "")) },
    Shape(name: "ampersands") { rss(entry(filled($0, "<x>", "& ", "</x>"))) },
    Shape(name: "long names after ampersands") {
      rss(entry(filled($0, "<x>", "&\(String(repeating: "a", count: 70))", "</x>")))
    },
    Shape(name: "comments within ampersands") { rss(entry(filled($0, "<x>", "&<!--&-->", "</x>"))) },
    Shape(name: "forbidden references") { rss(entry(filled($0, "<x>", "&#0;", "</x>"))) },
    Shape(name: "sections without end in items") { rss(filled($0, "", "<item><x><![CDATA[</x></item>", "")) },
  ]

  private static let fields: [Shape] = [
    Shape(name: "items") { size in rss((0..<size / 120).map { entry("", id: $0) }.joined()) },
    Shape(name: "categories") { size in
      rss(entry((0..<size / 30).map { "<category>c\($0)</category>" }.joined()))
    },
    Shape(name: "authors") { size in
      rss(entry((0..<size / 30).map { "<dc:creator>c\($0)</dc:creator>" }.joined()))
    },
    Shape(name: "enclosures") { size in
      rss(entry((0..<size / 40).map { "<enclosure url='http://a.example/\($0)'/>" }.joined()))
    },
    Shape(name: "titles of one entry") { rss(entry(filled($0, "", "<title>One</title>", ""))) },
    Shape(name: "entries of a feed with a long id", bytes: 30_000) { size in
      atom(
        String(repeating: "<entry><title>One</title></entry>", count: size / 66),
        head: "<id>urn:\(String(repeating: "a", count: size / 2))</id>")
    },
    Shape(name: "entries of a feed with authors") { size in
      atom(
        String(repeating: "<entry><title>One</title></entry>", count: size / 66),
        head: "<id>a</id>" + String(repeating: "<author><name>Name</name></author>", count: size / 68))
    },
    Shape(name: "combining marks of a title", bytes: 60_000) { rss(entry(filled($0, "<title>e", marks, "</title>"))) },
    Shape(name: "combining marks of a guid", bytes: 60_000) {
      rss(filled($0, "<item><guid>e", marks, "</guid><title>x</title></item>"))
    },
    Shape(name: "combining marks of a category", bytes: 60_000) {
      rss(entry(filled($0, "<category>e", marks, "</category>")))
    },
    Shape(name: "combining marks of an author") { rss(entry(filled($0, "<author>e", marks, "@</author>"))) },
    Shape(name: "combining marks of a language", bytes: 60_000) {
      rss(entry(filled($0, "<dc:language>e", marks, "</dc:language>")))
    },
    Shape(name: "links of a channel") {
      rss(entry(""), channel: filled($0, "", "<atom:link rel='hub' href='/a'/>", ""))
    },
    Shape(name: "skipped hours") {
      rss(entry(""), channel: filled($0, "<skipHours>", "<hour>1</hour>", "</skipHours>"))
    },
    Shape(name: "encoded texts") {
      atom("<entry><id>1</id><content mode='base64'>\(filled($0, "", "YWJj", ""))</content></entry>")
    },
    Shape(name: "combining marks of a relation", bytes: 60_000) {
      rss(entry(filled($0, "<link rel='e", marks, "' href='/a'/>")))
    },
    Shape(name: "combining marks of a mode", bytes: 60_000) { size in
      atom("<entry><id>1</id><content mode='e" + filled(size, "", marks, "") + "'>x</content></entry>")
    },
    Shape(name: "combining marks of a type", bytes: 60_000) {
      rss(entry(filled($0, "<enclosure url='//a.b' type='e", marks, "'/>")))
    },
    Shape(name: "combining marks of a type of content", bytes: 60_000) { size in
      atom("<entry><id>1</id><content type='e" + filled(size, "", marks, "") + "'>x</content></entry>")
    },
    Shape(name: "combining marks of a date", bytes: 60_000) {
      rss(entry(filled($0, "<dc:date>e", marks, "</dc:date>")))
    },
  ]

  private static let parts: [Shape] = [
    Shape(name: "combining marks of a long author", bytes: 60_000) {
      rss(entry(filled($0, "<dc:creator>e", marks, "</dc:creator>")))
    },
    Shape(name: "mail addresses") { rss(entry(filled($0, "<author>", "a@b.c (Ann), ", "</author>"))) },
    Shape(name: "mail addresses of marks", bytes: 60_000) {
      rss(entry(filled($0, "<author>a@b e", marks, "</author>")))
    },
    Shape(name: "captions") { size in
      rss(
        entry(
          (0..<size / 90).map {
            "<media:content url='http://a.example/\($0)'><media:description>a</media:description></media:content>"
          }.joined()))
    },
    Shape(name: "combining marks of a caption", bytes: 60_000) {
      rss(entry(filled($0, "<media:content url='//a.b'><media:credit>e", marks, "</media:credit></media:content>")))
    },
    Shape(name: "entries with one guid") { size in
      rss(
        (0..<size / 120).map { "<item><guid>1</guid><title>\($0)</title><pubDate>\($0 + 1970)</pubDate></item>" }
          .joined())
    },
    Shape(name: "sections that end in words", bytes: 40_000) {
      rss(entry(filled($0, "<x><![CDATA[", "</x><item>", "]]></x>")))
    },
    Shape(name: "unknown entities") { rss(entry(filled($0, "<x>", "&unheard;", "</x>"))) },
    Shape(name: "states") { rss(entry(filled($0, "", "<draft>no</draft>", ""))) },
    Shape(name: "braces before a JSON Feed", bytes: 40_000) {
      filled($0, "x", "{\"a", "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[]}")
    },
    Shape(name: "fields of wrong types") { size in
      "{\"text\":\"x\",\"date\":\"2026\",\"topics\":[" + Array(repeating: "[]", count: size / 3).joined(separator: ",")
        + "]}\n"
    },
  ]

  /// The marks of a state must not be compared as characters.
  private static let states: [Shape] = [
    Shape(name: "combining marks of a state", bytes: 60_000) {
      rss(entry(filled($0, "<status>e", marks, "</status>")))
    },
    Shape(name: "combining marks of a draft", bytes: 60_000) { size in
      atom(
        "<entry><id>1</id><content>x</content><a:draft xmlns:a='http://www.w3.org/2007/app'>"
          + filled(size, "e", marks, "") + "</a:draft></entry>")
    },
    Shape(name: "combining marks of a status", bytes: 60_000) {
      filled($0, "{\"text\":\"x\",\"date\":\"2026-08-20\",\"status\":\"e", marks, "\"}\n")
    },
  ]

  private static let json: [Shape] = [
    Shape(name: "a key of combining marks", bytes: 60_000) { filled($0, "{\"e", marks, "\":1}\n") },
    Shape(name: "a key of escaped combining marks", bytes: 60_000) { filled($0, "{\"e", "\\u0316\\u0301", "\":1}\n") },
    Shape(name: "keys") { size in "{" + (0..<size / 10).map { "\"k\($0)\":1" }.joined(separator: ",") + "}\n" },
    Shape(name: "arrays within arrays") { filled($0, "{\"a\":", "[", "") },
    Shape(name: "tags") { size in
      "{\"text\":\"x\",\"date\":\"2026-08-20\",\"topics\":["
        + (0..<size / 10).map { "\"t\($0)\"" }.joined(separator: ",") + "]}\n"
    },
    Shape(name: "a title of combining marks", bytes: 60_000) {
      filled($0, "{\"text\":\"x\",\"date\":\"2026-08-20\",\"title\":\"e", marks, "\"}\n")
    },
    Shape(name: "lines") { filled($0, "", "{\"text\":\"x\",\"date\":\"2026-08-20\"}\n", "") },
    Shape(name: "escapes") { filled($0, "{\"text\":\"", "\\u00e9\\n", "\",\"date\":\"2026-08-20\"}\n") },
    Shape(name: "items of a feed with a long title") { size in
      "{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"\(String(repeating: "t", count: size / 2))\","
        + "\"items\":[" + Array(repeating: "{\"id\":1}", count: size / 18).joined(separator: ",") + "]}"
    },
  ]

  @Test(arguments: markup + fields + parts + states + json)
  func `The time is proportional to the size`(_ shape: Shape) {
    let growth = growth(from: shape.bytes, of: { Data(shape.make($0).utf8) }, in: { _ = events($0, pieces: 65_536) })
    #expect(growth < linearGrowth)
  }

  @Test func `Too many attributes are rejected with a reason, and default attributes are ignored`() {
    let many = (0..<200).map { "a\($0)='1'" }.joined(separator: " ")
    let events = events(rss(Self.entry("", id: 1) + Self.entry("<x \(many)/>", id: 2) + Self.entry("", id: 3)))
    #expect(events.entries.map(\.guid) == ["1", "3"])
    #expect(events.complaints.count == 1)
    #expect(
      events.complaints.first?.contains("has a start tag with more than 128 attributes") == true, "\(events.complaints)"
    )
    for (count, isRead) in [(128, true), (129, false)] {
      let most = (0..<count).map { "a\($0)='1'" }.joined(separator: " ")
      #expect(NewsFeedsTests.events(rss(Self.entry("<x \(most)/>"))).entries.isEmpty == !isRead, "\(count)")
    }
    // The root of the feed declares three more.
    for (count, isRead) in [(1, true), (2, false)] {
      let pairs = (0..<126).map { "<x xmlns:a\($0)='b' xmlns:c\($0)='d'>" }
      let tags = pairs + (0..<count).map { "<x xmlns:e\($0)='f'>" }
      let nested = tags.joined() + String(repeating: "</x>", count: tags.count)
      let found = NewsFeedsTests.events(rss(Self.entry(nested)))
      #expect(found.entries.isEmpty == !isRead, "\(count)")
      #expect(found.complaints.contains { $0.hasSuffix("declares more than 256 nested namespaces") } == !isRead)
    }
    let defaults = NewsFeedsTests.events("<!DOCTYPE rss [<!ATTLIST item a CDATA 'b'>]><rss version='2.0'/>")
    #expect(defaults.complaints == [])
    let spaces = (0..<300).map { "<x xmlns:a\($0)='b'>" }.joined()
    let deep = NewsFeedsTests.events(rss(Self.entry(spaces)))
    #expect(deep.entries.isEmpty)
  }

  @Test func `A key that is too long skips its line`() {
    let line = "{\"text\":\"x\",\"date\":\"2026-08-20\"}"
    let events = events("\(line)\n{\"\(String(repeating: "k", count: 1025))\":1}\n")
    #expect(events.entries.count == 1)
    #expect(events.complaints == ["skipped line 2: has a key of more than 1024 bytes"])
    let longest = "{\"text\":\"y\",\"date\":\"2026-08-20\",\"\(String(repeating: "k", count: 1024))\":1}"
    #expect(NewsFeedsTests.events(line + "\n" + longest).entries.count == 2)
    // A text of that length is not a key, and an escaped quote does not end it.
    let long = "{\"date\":\"2026-08-20\",\"text\":\"\(String(repeating: "\\\":", count: 1000))\"}\n"
    #expect(NewsFeedsTests.events(line + "\n" + long).entries.count == 2)
  }
}
