import Foundation
import News
import NewsFeeds
import TestKit
import Testing

/// Feeds with a few wrong bytes. A seed repeats its run; seeds that have found a fault stay in the list.
@Suite("Mutated feeds")
struct FeedFuzzTests {
  /// Names so different that a few wrong bytes cannot turn one into another.
  private static let names = ["walnut", "quince", "medlar", "cherry", "almond", "raisin"]

  /// Returns feeds in which every text of an entry contains the name of that entry.
  private static func samples() -> [Data] {
    let items = names.map { name in
      """
      <item><title>\(name)</title><link>https://example.org/\(name)</link><guid isPermaLink="false">\(name)</guid>
      <pubDate>Thu, 20 Aug 2026 13:45:00 GMT</pubDate><category>\(name)</category>
      <description>\(name) &amp;amp; &lt;b&gt;ü&lt;/b&gt;</description>
      <content:encoded><![CDATA[<p>\(name) <img src="\(name).png"/></p>]]></content:encoded></item>
      """
    }
    let entries = names.map { name in
      """
      <entry xml:lang="en"><id>\(name)</id><title type="html">\(name)</title><link href="\(name)"/>
      <updated>2026-08-20T13:45:00Z</updated><author><name>\(name)</name></author><summary>\(name)</summary>
      <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>\(name) &#228;</p></div></content></entry>
      """
    }
    let objects = names.map { name in
      """
      {"id":"\(name)","guid":"\(name)","title":"\(name)","date":"2026-08-20T13:45:00Z","text":"\(name) ü",\
      "date_published":"2026-08-20T13:45:00Z","content_text":"\(name) ü","url":"https://example.org/\(name)"}
      """
    }
    let rss = rss(items.joined(separator: "\n"))
    let atom = atom(entries.joined(separator: "\n"), attributes: "xml:base='https://example.org/'")
    let json = "{\"version\":\"https://jsonfeed.org/version/1.1\",\n\"items\":[\(objects.joined(separator: ",\n"))]}"
    let old = rss.replacing("UTF-8", with: "windows-1251").replacing("ü", with: "ж")
    return [rss, atom, json, objects.joined(separator: "\n")].map { Data($0.utf8) }
      + [rss.data(using: .utf16), old.data(using: .windowsCP1251)].compactMap { $0 }
  }

  private static let tokens = [
    "<item>", "</item>", "<entry>", "</entry>", "<![CDATA[", "]]>", "<!--", "-->", "<title>", "</title>", "</channel>",
    "&", "&amp;", "&x;", "&#0;", "<", ">", "\"", "'", "{", "}", "[", "]", ",", "\\", "\n", "\u{0}", "<?x?>", "<x:y>",
    "<!DOCTYPE x [", "]>", "xml:base='a/'", "</description>", "melon", "\u{FFFE}", "\\ud800", "1e999",
  ].map { Data($0.utf8) }

  /// Changes a few bytes; no change is large enough to remove everything between two entries.
  private static func mutate(_ data: Data, _ random: inout SplitMix64) -> Data {
    var bytes = data
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2: bytes.removeSubrange(place..<min(place + Int.random(in: 1...8, using: &random), bytes.count))
      case 3: bytes.insert(contentsOf: tokens.randomElement(using: &random) ?? Data(), at: place)
      case 4: bytes.insert(contentsOf: bytes[place..<min(place + 40, bytes.count)], at: place)
      default: if Int.random(in: 0..<8, using: &random) == 0 { bytes = bytes.prefix(place + 1) }
      }
    }
    return bytes
  }

  /// Returns the names of all entries whose texts appear in an entry.
  private static func names(in entry: FeedEntry) -> Set<String> {
    let texts =
      [entry.guid, entry.title, entry.summary, entry.text, entry.html, entry.url, entry.author].compactMap { $0 }
      + entry.categories.map(\.label) + entry.attachments.map(\.url)
    return Set(names.filter { name in texts.contains { $0.contains(name) } })
  }

  @Test(
    "give complete entries or problems, the same for any division of the bytes",
    arguments: slice(of: 0..<20 as Range<UInt64>) + [25, 74, 75, 122])
  func mutated(seed: UInt64) async {
    var random = SplitMix64(seed: seed)
    let samples = Self.samples()
    for round in 0..<30 {
      // Otherwise the seeds would occupy every thread, and tests with deadlines would fail.
      await Task.yield()
      for (index, sample) in samples.enumerated() {
        let bytes = Self.mutate(sample, &random)
        let found = events(bytes)
        let size = Int.random(in: 1...200, using: &random)
        #expect(
          found == events(bytes, pieces: size), "seed \(seed), round \(round), sample \(index), pieces of \(size)")
        for entry in found.entries {
          // A missing byte in UTF-16 changes all following characters, including tags.
          let isShifted = index == 4
          #expect(
            isShifted || Self.names(in: entry).count <= 1, "seed \(seed), round \(round), sample \(index): \(entry)")
          #expect(!entry.text.isEmpty && entry.text.utf8.count <= 262_144)
        }
      }
    }
  }

  @Test("lose few entries to a few wrong bytes")
  func survivors() async {
    var random = SplitMix64(seed: 7)
    for sample in Self.samples().prefix(2) {
      await Task.yield()
      let counts = (0..<100).map { _ in events(Self.mutate(sample, &random)).entries.count }
      #expect(counts.reduce(0, +) > 300)
    }
  }
}
