import Foundation
import NewsFeeds
import Testing

@Suite("The identity of an entry")
struct FeedIdentityTests {
  private func item(
    guid: String = "<guid>1</guid>", title: String = "T", date: String = "Thu, 20 Aug 2026 13:45:00 GMT",
    description: String = "Text", extra: String = ""
  ) -> String {
    "<item>\(guid)<title>\(title)</title><pubDate>\(date)</pubDate><description>\(description)</description>\(extra)</item>"
  }

  @Test("is a UUID of version 5 that is the same in every run")
  func version5() throws {
    let entry = try entry(rss(item()))
    // This value must never change: a different one would import every known entry again.
    #expect(entry.id == UUID(uuidString: "6AA81F91-5B1D-5720-B81B-39032640D74D"))
  }

  @Test("depends on feed and guid, and on nothing else")
  func parts() throws {
    let first = try entry(rss(item()))
    #expect(try entry(rss(item(title: "U", date: "2026-01-01", description: "Other"))).id == first.id)
    #expect(try entry(rss(item(guid: "<guid>2</guid>"))).id != first.id)
    #expect(try entry(rss(item(), channel: "<link>https://example.com/</link>")).id != first.id)
    #expect(try entry(rss(item(), channel: "<ttl>5</ttl><link>https://example.org/</link>")).id == first.id)
    // The address of a feed names it before its title does.
    let address = "<atom:link xmlns:atom='http://www.w3.org/2005/Atom' rel='self' href='https://example.org/feed'/>"
    let ids = try ["A", "B"].map { try entry(rss(item(), channel: "\(address)<title>\($0)</title>")).id }
    #expect(ids.first == ids.last)
    let addresses = address + address.replacing("/feed", with: "/other")
    #expect(try entry(rss(item(), channel: addresses)).id == ids.first)
    let relative = "<rss xml:base='https://example.org/a/'><channel><link>../</link>\(item())</channel></rss>"
    #expect(try entry(relative).id == first.id)
  }

  @Test("is derived from title and date if the source has neither guid nor link")
  func nameless() throws {
    let first = try entry(rss(item(guid: "")))
    #expect(first.guid?.hasPrefix("sha256:") == true)
    #expect(try entry(rss(item(guid: "", description: "Edited"))).id == first.id)
    #expect(try entry(rss(item(guid: "", title: "U"))).id != first.id)
    #expect(try entry(rss(item(guid: "", date: "21 Aug 2026"))).id != first.id)
  }

  @Test("is shared by messages without a title of one day, which differ in their texts")
  func messages() throws {
    func message(_ text: String) -> String {
      "<item><pubDate>20 Aug 2026</pubDate><description>\(text)</description></item>"
    }
    let found = events(rss(message("The ferry is late") + message("It runs again") + message("The ferry is late")))
    #expect(found.entries.map(\.text) == ["The ferry is late", "It runs again"])
    // The date of a day is no name, also if there is one message at a time.
    #expect(found.entries.map(\.sharesName) == [true, true])
    let timed = "<item><pubDate>20 Aug 2026 13:45 GMT</pubDate><description>Late</description></item>"
    #expect(try entry(rss(timed)).sharesName == false)
    for midnight in ["20 Aug 2026 00:00 +0200", "2026-08-20T00:00:00+02:00"] {
      #expect(try entry(rss(timed.replacing("20 Aug 2026 13:45 GMT", with: midnight))).sharesName, "\(midnight)")
    }
    #expect(try entry(rss(timed.replacing("<description>", with: "<title>T</title><description>"))).sharesName == false)
    let titled = timed.replacing(" 13:45 GMT", with: "").replacing("<item>", with: "<item><title>T</title>")
    #expect(try entry(rss(titled)).sharesName == false)
    let named = timed.replacing(" 13:45 GMT", with: "").replacing("<item>", with: "<item><guid>1</guid>")
    #expect(try entry(rss(named)).sharesName == false)
    #expect(Set(found.entries.map(\.linkID)).count == 2 && Set(found.entries.map(\.id)).count == 1)
    #expect(found.complaints.count == 1)
  }

  @Test(
    "is the entry's own if nothing but the name has stayed",
    arguments: [
      "<guid isPermaLink='false'>latest</guid>", "<link>/status</link>",
      "<guid isPermaLink='false'>latest</guid><link>https://example.org/</link>",
    ])
  func oneName(names: String) throws {
    let days = (1...3).map { day in
      item(guid: names, title: "T\(day)", date: "2\(day) Aug 2026 1\(day):00 GMT", description: "Text \(day)")
    }
    let found = events(rss(days.joined() + days[1]))
    #expect(found.entries.map(\.title) == ["T1", "T2", "T3"])
    #expect(found.entries.map(\.sharesName) == [false, true, true])
    #expect(found.complaints.count == 1)
    // A part that has stayed makes it the same entry.
    for same in [
      item(guid: names, date: "1 Aug 2026", description: "Other"), item(guid: names, title: "U", date: "1 Aug 2026"),
      item(guid: names, title: "U", description: "Other"),
    ] {
      #expect(events(rss(item(guid: names) + same)).entries.count == 1)
    }
    // Without titles, text and date decide.
    let untitled = days[..<2].map { $0.replacing(/<title>.*<.title>/, with: "") }
    #expect(events(rss(untitled.joined())).entries.map(\.text) == ["Text 1", "Text 2"])
    // An edited text is no other entry.
    let edited = item(guid: names, title: "T2", date: "22 Aug 2026 12:00 GMT", description: "Edited")
    #expect(try entry(rss(edited)).linkID == found.entries[1].linkID)
  }

  @Test("does not depend on the concatenation of feed and guid")
  func boundaries() throws {
    let first = try entry("{\"date\":\"2026\",\"text\":\"x\",\"source\":\"a\",\"guid\":\"bc\"}")
    let second = try entry("{\"date\":\"2026\",\"text\":\"x\",\"source\":\"ab\",\"guid\":\"c\"}")
    #expect(first.id != second.id)
  }

  @Test(
    "has another digest once the source's content changes",
    arguments: [
      "title", "date", "text", "category", "author", "link", "file", "length", "markup", "language",
    ])
  func changes(what: String) throws {
    let extra = "<category>a</category><author>A</author><link>/1</link><enclosure url='/f.mp3' length='1'/>"
    let first = try entry(rss(item(extra: extra)))
    let changed =
      switch what {
      case "title": rss(item(title: "t", extra: extra))
      case "date": rss(item(date: "Thu, 20 Aug 2026 13:45:01 GMT", extra: extra))
      case "text": rss(item(description: "Text.", extra: extra))
      case "category": rss(item(extra: extra + "<category>b</category>"))
      case "author": rss(item(extra: extra.replacing("<author>A", with: "<author>B")))
      case "link": rss(item(extra: extra.replacing("/1", with: "/2")))
      case "file": rss(item(extra: extra.replacing("f.mp3", with: "g.mp3")))
      case "length": rss(item(extra: extra.replacing("length='1'", with: "length='2'")))
      case "markup": rss(item(description: "&lt;b&gt;Text&lt;/b&gt;", extra: extra))
      default: rss(item(extra: extra), channel: "<link>https://example.org/</link><language>de</language>")
      }
    let second = try entry(changed)
    #expect(second.digest != first.digest)
    #expect(second.id == first.id)
    #expect(first.digest?.count == 32)
  }

  @Test("has another digest for another base of its links, an author in place of a category and another kind of text")
  func links() throws {
    func digest(_ base: String, _ fields: String) throws -> Data? {
      let item = item(extra: fields)
      return try entry(rss(item.replacing("<item>", with: "<item xml:base='https://example.org/\(base)/'>"))).digest
    }
    let links = try [("a", "1"), ("a", "2"), ("b", "1")].map { base, name in
      try digest(base, "<link>https://example.org/\(name)</link>")
    }
    #expect(Set(links).count == 3)
    let lists = try ["category", "author"].map { try digest("a", "<\($0)>A</\($0)>") }
    #expect(Set(lists).count == 2)
    let kinds = try ["text", "html"].map { type in
      try entry(atom("<entry><id>1</id><title type='\(type)'>T</title><updated>2026</updated></entry>")).digest
    }
    #expect(Set(kinds).count == 2)
  }

  @Test("has the ids of the names that earlier versions knew, and says whether its link is its name")
  func earlierNames() throws {
    let (identifier, link) = ("<dc:identifier>doi:1</dc:identifier>", "<link>https://example.org/1</link>")
    let guid = "<guid isPermaLink='false'>1</guid>"
    let (linked, nameless) = (try entry(rss(item(guid: link))), try entry(rss(item(guid: ""))))
    let named = try entry(rss(item(guid: identifier + link)))
    #expect(named.guid == "doi:1" && named.earlierID == linked.id && linked.earlierID == nil)
    let unlinked = try entry(rss(item(guid: identifier)))
    #expect(unlinked.guid == "doi:1" && unlinked.earlierID == nameless.id)
    let both = try entry(rss(item(guid: guid + identifier + link)))
    #expect(both.guid == "1" && both.earlierID == nil)
    let paper = try entry(atom("<entry>\(identifier)<title>t</title><updated>2026</updated></entry>"))
    #expect(paper.guid == "doi:1")
    let home = try entry(rss(item(guid: guid + "<link>https://example.org/</link>")))
    #expect([linked, home].map(\.isNamedByLink) == [true, true])
    #expect([named, unlinked, both, nameless].map(\.isNamedByLink) == [false, false, false, false])
  }

  @Test("differs by the file of an entry that has no name but its link")
  func files() {
    let items = ["a", "b", "a"].map { item(guid: "<link>/show</link>", extra: "<enclosure url='/\($0).mp3'/>") }
    let found = events(rss(items.joined()))
    #expect(found.entries.map(\.sharesName) == [false, true])
    #expect(found.complaints.count == 1)
  }

  @Test("has the same digest while the source's content is equal")
  func unchanged() throws {
    let first = try entry(rss(item()))
    #expect(try entry(rss(item())).digest == first.digest)
    #expect(try entry(rss(item(date: "2026-08-20T15:45:00+02:00"))).digest == first.digest)
    #expect(try entry(rss(item(description: "<![CDATA[Text]]>"))).digest == first.digest)
    #expect(try entry(rss("\n\n" + item(extra: "<comments>https://example.org/c</comments>"))).digest == first.digest)
  }

  @Test("belongs to the first of two entries with the same name, except in JSON Lines, where the last one applies")
  func repeated() {
    let twice = events(rss(item() + "\n" + item(title: "U") + item(guid: "<guid>2</guid>")))
    #expect(twice.entries.map(\.guid) == ["1", "2"])
    #expect(twice.entries.first?.title == "T")
    #expect(twice.complaints == ["skipped line 6: has the same identifier as the entry at line 5"])
    // A link in one of them does not make them different ones.
    for (first, second) in [("", "<link>/2</link>"), ("<link>/2</link>", "")] {
      #expect(events(rss(item(extra: first) + item(extra: second))).entries.count == 1)
    }
    let json = "{\"id\":\"1\",\"content_text\":\"x\",\"date_published\":\"2026\"}"
    let feed = events("{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[\(json),\(json)]}")
    #expect(feed.entries.count == 1)
    #expect(feed.complaints == ["skipped entry 2: has the same identifier as the entry at entry 1"])
    let lines = events(String(repeating: "{\"guid\":\"1\",\"text\":\"x\",\"date\":\"2026\"}\n", count: 2))
    #expect(lines.entries.count == 2)
    #expect(lines.complaints == [])
  }

  @Test("is known for as many entries as are remembered")
  func remembered() {
    var limits = FeedReader.Limits()
    limits.rememberedEntries = 2
    let items = [1, 2, 3, 1].map { item(guid: "<guid>\($0)</guid>") }
    let found = events(Data(rss(items.joined()).utf8), limits: limits)
    #expect(found.entries.map(\.guid) == ["1", "2", "3"])
    #expect(FeedReader.Limits().rememberedEntries == 50_000)
  }

  @Test("is not derived from the feed's page, which some feeds give for all entries")
  func home() throws {
    let home = "<link>https://example.org/</link>"
    for name in [home, "<guid>https://example.org/</guid>", "<guid>https://example.org/</guid>" + home] {
      let found = events(rss(item(guid: name) + item(guid: name, title: "U")))
      #expect(found.complaints == [])
      #expect(Set(found.entries.map(\.id)).count == 2)
      #expect(found.entries.allSatisfy { $0.guid?.hasPrefix("sha256:") == true && $0.url == "https://example.org/" })
    }
    let page = "<link href='https://example.org/'/>"
    let entries = ["T", "U"].map { "<entry>\(page)<title>\($0)</title><updated>2026</updated></entry>" }
    let items = ["T", "U"].map { #"{"url":"https://example.org/","title":"\#($0)","date_published":"2026"}"# }
    let head = #""version":"https://jsonfeed.org/version/1","home_page_url":"https://example.org/""#
    for feed in [
      atom(entries.joined(), head: "<id>a</id>" + page), "{\(head),\"items\":[\(items.joined(separator: ","))]}",
    ] {
      #expect(events(feed).entries.map(\.title) == ["T", "U"])
    }
  }
}
