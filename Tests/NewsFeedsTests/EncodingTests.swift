import Foundation
import NewsFeeds
import Testing

@Suite("Encodings")
struct EncodingTests {
  private static func feed(_ text: String, declared: String) -> String {
    rss("<item><guid>1</guid><pubDate>20 Aug 2026</pubDate><description>\(text)</description></item>")
      .replacing("UTF-8", with: declared)
  }

  /// Returns a feed in an encoding, as encoded by Foundation.
  private static func bytes(_ text: String, _ encoding: String.Encoding, declared: String) throws -> Data {
    try #require(feed(text, declared: declared).data(using: encoding))
  }

  private func expect(
    _ bytes: Data, text: String, notes: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for pieces in [Int.max, 1, 3, 100] {
      let events = events(bytes, pieces: pieces)
      #expect(events.complaints == notes.map { "noted \($0)" }, sourceLocation: sourceLocation)
      #expect(events.entries.map(\.text) == [text], sourceLocation: sourceLocation)
    }
  }

  @Test(
    "are read as declared",
    arguments: [
      ("windows-1251", String.Encoding.windowsCP1251, "Привет, мир"), ("Shift_JIS", .shiftJIS, "東京の表示ソ能"),
      ("ISO-8859-1", .windowsCP1252, "“Grüße” – 5 €"), ("windows-1252", .windowsCP1252, "“Grüße” – 5 €"),
      ("windows-1252", .windowsCP1252, "€ 5"),
      ("WINDOWS-1250", .windowsCP1250, "Žluťoučký kůň"),
      ("ISO-2022-JP", .iso2022JP, "東京の表示"), ("iso-8859-2", .isoLatin2, "Łódź"), ("us-ascii", .ascii, "plain"),
    ])
  func declared(name: String, encoding: String.Encoding, text: String) throws {
    expect(try Self.bytes(text, encoding, declared: name), text: text)
  }

  @Test("are read beyond the first characters above 127", arguments: [5000, 40_000])
  func long(count: Int) throws {
    let text = String(repeating: "Привет, мир. ", count: count / 13) + "Конец"
    expect(try Self.bytes(text, .windowsCP1251, declared: "windows-1251"), text: text)
    expect(Data(Self.feed(text, declared: "UTF-8").utf8), text: text)
    // The end of a block is within a character of four bytes.
    let faces = "éabc" + String(repeating: "😀", count: count / 4)
    expect(Data(Self.feed(faces, declared: "UTF-8").utf8), text: faces)
    let signs = "é" + String(repeating: "東", count: count / 3)
    expect(Data(Self.feed(signs, declared: "UTF-8").utf8), text: signs)
    // A tag before the end of a block.
    let item = "<item><title>é</title><pubDate>2026</pubDate><description>\(faces)</description></item>"
    #expect(events(rss(item)).entries.map(\.text) == [faces])
  }

  @Test(
    "are UTF-16 with or without a byte order mark, whatever is declared",
    arguments: ["UTF-16", "UTF-8", "windows-1251"],
    [String.Encoding.utf16LittleEndian, .utf16BigEndian])
  func wide(name: String, encoding: String.Encoding) throws {
    let text = "Grüße, 東京 😀"
    let bytes = try Self.bytes(text, encoding, declared: name)
    expect(bytes, text: text)
    expect((encoding == .utf16BigEndian ? Data([0xFE, 0xFF]) : Data([0xFF, 0xFE])) + bytes, text: text)
  }

  @Test(
    "are UTF-32 with or without a byte order mark, whatever is declared",
    arguments: ["UTF-32", "UTF-8", "windows-1251"],
    [String.Encoding.utf32LittleEndian, .utf32BigEndian])
  func widest(name: String, encoding: String.Encoding) throws {
    let text = "Grüße, 東京 😀"
    let bytes = try Self.bytes(text, encoding, declared: name)
    expect(bytes, text: text)
    let mark: [UInt8] = encoding == .utf32BigEndian ? [0x00, 0x00, 0xFE, 0xFF] : [0xFF, 0xFE, 0x00, 0x00]
    expect(Data(mark) + bytes, text: text)
  }

  @Test(
    "are those of the response if nothing is declared",
    arguments: [
      ("text/xml; charset=windows-1251", "", "Привет"), ("text/xml;Charset=\"windows-1251\"", "", "Привет"),
      ("application/xml; charset=utf-8", " encoding='windows-1251'", "Привет"),
      ("text/xml; charset=us-ascii", " encoding='windows-1251'", "Привет"), ("text/xml", "", "Ïðèâåò"),
      ("text/xml; charset=", "", "Ïðèâåò"), ("text/xml; charset='windows-1251'", "", "Привет"),
      ("text/xml ;charset = windows-1251 ; x=y", "", "Привет"),
    ])
  func response(contentType: String, declaration: String, text: String) throws {
    let feed = Self.feed("Привет", declared: "").replacing(" encoding=\"\"", with: declaration)
    let reader = FeedReader(FeedReader.Options(contentType: contentType))
    let events = reader.feed(try #require(feed.data(using: .windowsCP1251))) + reader.finish()
    #expect(events.entries.map(\.text) == [text])
  }

  @Test("are UTF-8 if there is a byte order mark or the bytes are UTF-8, whatever is declared")
  func disguised() throws {
    let mark = Data([0xEF, 0xBB, 0xBF])
    for name in ["windows-1252", "ISO-8859-1", "windows-1251", "Shift_JIS", "GB2312"] {
      let bytes = Data(Self.feed("Grüße, мир 東京", declared: name).utf8)
      expect(mark + bytes, text: "Grüße, мир 東京")
      expect(
        bytes, text: "Grüße, мир 東京",
        notes: ["line 5: declares the encoding \(name), but is UTF-8 and is read as UTF-8"])
    }
    for name in ["UTF-16", "utf16le", "UTF-32", "utf32", "UCS-2", "ISO-10646-UCS-2", "unicode"] {
      expect(
        Data(Self.feed("Grüße", declared: name).utf8), text: "Grüße",
        notes: ["line 1: declares the encoding \(name), but is UTF-8 and is read as UTF-8"])
    }
    // The sample ends within a character.
    let long = "é" + String(repeating: "x", count: 4093) + "é"
    expect(
      Data(Self.feed(long, declared: "GB2312").utf8), text: long,
      notes: ["line 5: declares the encoding GB2312, but is UTF-8 and is read as UTF-8"])
    expect(
      Data(Self.feed("Grüße", declared: "x-unheard-of").utf8), text: "Grüße",
      notes: ["line 1: declares the encoding x-unheard-of, which is unknown; it is read as UTF-8"])
  }

  @Test("are windows-1252 for byte sequences that are not UTF-8")
  func undeclared() throws {
    let notes = ["line 5: has bytes that are not UTF-8; they are read as windows-1252"]
    expect(try Self.bytes("“Grüße” – 5 €", .windowsCP1252, declared: "UTF-8"), text: "“Grüße” – 5 €", notes: notes)
    let mixed = Data(Self.feed("Grüße \u{1}", declared: "UTF-8").utf8).map { $0 == 1 ? 0xE9 : $0 }
    expect(Data(mixed), text: "Grüße é", notes: notes)
    let lines = Data("{\"date\":\"2026\",\"text\":\"caf\u{1}\"}".utf8).map { $0 == 1 ? 0xE9 : $0 }
    expect(Data(lines), text: "café", notes: ["line 1: has bytes that are not UTF-8; they are read as windows-1252"])
    let cut = Data("{\"date\":\"2026\",\"text\":\"x\"}\n".utf8) + Data([0xC3])
    let note = "noted line 2: has bytes that are not UTF-8; they are read as windows-1252"
    #expect(events(cut).complaints.last == note)
    // The start of a character at the end says nothing about the rest.
    let partly = Self.bytes("{\"date\":\"2026\",\"text\":\"é\u{1}\"}\n", [0xE9]) + Data([0xC3])
    #expect(events(partly).entries.map(\.text) == ["éé"])
    expect(try Self.bytes("“Grüße” – 5 €", .windowsCP1252, declared: "utf8"), text: "“Grüße” – 5 €", notes: notes)
    // The line is that of the byte, not that of the text around it.
    let below = "<title>ééééé</title><pubDate>2026</pubDate><description>\n\n\u{1}\u{1}\u{1}\u{1}</description>"
    let found = events(Self.bytes(rss("<item>\(below)</item>"), [0xE9]))
    #expect(found.entries.map { $0.text.suffix(4) } == ["éééé"])
    #expect(found.complaints == [notes[0].replacing("line 5", with: "noted line 7")])
  }

  private static let labels: [(label: String, text: String, bytes: [UInt8])] = [
    ("latin1", "“é”", [0x93, 0xE9, 0x94]), ("ascii", "“é”", [0x93, 0xE9, 0x94]),
    ("us-ascii", "“é”", [0x93, 0xE9, 0x94]), ("ISO-8859-9", "“ğı”", [0x93, 0xF0, 0xFD, 0x94]),
    ("shift-jis", "東①", [0x93, 0x8C, 0x87, 0x40]), ("sjis", "東①", [0x93, 0x8C, 0x87, 0x40]),
    ("x-sjis", "東①", [0x93, 0x8C, 0x87, 0x40]), ("Shift_JIS", "東①", [0x93, 0x8C, 0x87, 0x40]),
    ("windows-31j", "東①", [0x93, 0x8C, 0x87, 0x40]), ("ms932", "東①", [0x93, 0x8C, 0x87, 0x40]),
    ("x-euc-jp", "東京", [0xC5, 0xEC, 0xB5, 0xFE]),
    ("GB2312", "镕新", [0xE9, 0x46, 0xD0, 0xC2]), ("gbk", "镕新", [0xE9, 0x46, 0xD0, 0xC2]),
    ("x-gbk", "镕新", [0xE9, 0x46, 0xD0, 0xC2]), ("Big5", "啫新", [0x94, 0xDC, 0xB7, 0x73]),
    ("EUC-KR", "똠소", [0x8C, 0x63, 0xBC, 0xD2]), ("ks_c_5601-1987", "똠소", [0x8C, 0x63, 0xBC, 0xD2]),
    ("x-cp1251", "Тут", [0xD2, 0xF3, 0xF2]), ("x-cp1250", "Žluť", [0x8E, 0x6C, 0x75, 0x9D]),
    ("windows-874", "ข่าว“", [0xA2, 0xE8, 0xD2, 0xC7, 0x93]),
  ]

  @Test("are those that a label means in practice", arguments: labels)
  func meaning(label: String, text: String, bytes: [UInt8]) {
    let marks = String(String.UnicodeScalarView((1...bytes.count).compactMap { Unicode.Scalar($0) }))
    expect(Self.bytes(Self.feed(marks, declared: label), bytes), text: text)
  }

  /// Returns UTF-8 in which the bytes 1, 2, 3 ... stand for others.
  private static func bytes(_ text: String, _ others: [UInt8]) -> Data {
    Data(text.utf8.map { (1...others.count).contains(Int($0)) && $0 < 9 ? others[Int($0) - 1] : $0 })
  }

  /// Returns the titles of a feed, which must be the same however the bytes are divided.
  private func titles(_ bytes: Data, sourceLocation: SourceLocation = #_sourceLocation) -> [String?] {
    let whole = events(bytes)
    for pieces in [1, 3, 100, 4096] {
      #expect(events(bytes, pieces: pieces) == whole, "pieces of \(pieces)", sourceLocation: sourceLocation)
    }
    return whole.entries.map(\.title)
  }

  private static func item(_ title: String) -> String {
    "<item><title>\(title)</title><guid>\(title)</guid><pubDate>2026-08-20</pubDate></item>\n"
  }

  @Test(
    "are UTF-8 with a stray byte, whichever encoding of single bytes is declared",
    arguments: [
      "ISO-8859-1", "windows-1252", "iso-8859-2", "ISO-8859-5", "ISO-8859-7", "ISO-8859-15", "windows-1250",
      "windows-1251", "windows-1253", "windows-1255", "windows-1256", "windows-1258", "KOI8-R", "macintosh", "us-ascii",
    ], [0, 5000, 20_000])
  func strayByte(name: String, distance: Int) {
    let filler = "<!--\(String(repeating: "x", count: distance))-->"
    let text = rss(
      filler + Self.item("Brøndby") + Self.item("Żółć, мир"), channel: "<description>bes\u{1}ge</description>"
    )
    .replacing("UTF-8", with: name)
    #expect(titles(Self.bytes(text, [0xF8])) == ["Brøndby", "Żółć, мир"])
    let note = "declares the encoding \(name), but is UTF-8 and is read as UTF-8"
    #expect(events(Self.bytes(text, [0xF8])).complaints.contains { $0.hasSuffix(note) })
  }

  @Test("read a stray byte in UTF-8 as declared")
  func strayAsDeclared() {
    let text = rss(Self.item("Łódź, Żółć \u{1}")).replacing("UTF-8", with: "ISO-8859-2")
    #expect(titles(Self.bytes(text, [0xB1])) == ["Łódź, Żółć ą"])
    #expect(
      events(Self.bytes(text, [0xB1])).complaints == [
        "noted line 5: declares the encoding ISO-8859-2, but is UTF-8 and is read as UTF-8",
        "noted line 5: has bytes that are not UTF-8; they are read as ISO-8859-2",
      ])
  }

  @Test("combine characters that are written as several bytes")
  func combined() {
    let text = rss(Self.item("Vi\u{1}\u{2}t \u{1}\u{2}") + Self.item("\u{1}")).replacing("UTF-8", with: "windows-1258")
    #expect(titles(Self.bytes(text, [0xEA, 0xF2])) == ["Vi\u{1EC7}t \u{1EC7}", "\u{EA}"])
  }

  @Test("may be those of each part of a document")
  func parts() throws {
    let old = try #require("Привет, мир".data(using: .windowsCP1251))
    let filler = String(repeating: "<!-- \(String(repeating: "x", count: 100)) -->", count: 50)
    let items = Self.item("\u{1}") + filler + Self.item("Здравствуй") + filler + Self.item("\u{1}\u{1}")
    let text = rss(items).replacing("UTF-8", with: "windows-1251")
    let parts = text.split(separator: "\u{1}", omittingEmptySubsequences: false).map { Data($0.utf8) }
    let bytes = Data(parts.joined(separator: old))
    #expect(titles(bytes) == ["Привет, мир", "Здравствуй", "Привет, мирПривет, мир"])
  }

  @Test(
    "are not UTF-8 for sequences that occur by chance",
    arguments: [
      ("\u{1}\u{2}dou\u{3}\u{2}\u{4} r\u{3}p\u{5}te", "« doué » répète"),
      ("dou\u{3}\u{2}\u{4} \u{6} r\u{3}p\u{5}te", "doué » … répète"),
      ("La CAF\u{7}\u{4} r\u{3}p\u{5}te d\u{3}j\u{3}", "La CAFÉ» répète déjé"),
    ])
  func chance(written: String, title: String) {
    let others: [UInt8] = [0xAB, 0xA0, 0xE9, 0xBB, 0xE8, 0x85, 0xC9]
    for declaration in ["", " encoding=\"UTF-8\""] {
      let text = rss(Self.item(written) + Self.item("CAF\u{7}\u{4}")).replacing(
        " encoding=\"UTF-8\"", with: declaration)
      #expect(titles(Self.bytes(text, others)) == [title, "CAFÉ»"])
      let note = "noted line 5: has bytes that are not UTF-8; they are read as windows-1252"
      #expect(events(Self.bytes(text, others)).complaints == [note])
    }
  }

  /// Returns the titles of a document without a declared encoding, after the first one, which is far from the others.
  private func titles(_ first: String, _ others: [String]) -> [String] {
    let filler = "<!--\(String(repeating: "x", count: 5000))-->"
    let items = others.enumerated().map { Self.item("\($1) \($0)") }
    let text = rss(Self.item(first) + filler + items.joined()).replacing(" encoding=\"UTF-8\"", with: "")
    return titles(Self.bytes(text, [0xE9, 0xC9, 0xBB])).dropFirst().map { String(($0 ?? "").dropLast(2)) }
  }

  @Test("are decided by the bytes near a text, and not by more that is far away")
  func balance() {
    let old = String(repeating: "\u{1}", count: 40)
    let new = String(repeating: "é", count: 40)
    let plain = Array(repeating: "café", count: 10)
    #expect(titles(old, plain) == plain)
    let chance = Array(repeating: "\u{1} \u{1} CAF\u{2}\u{3}", count: 10)
    #expect(titles(new, chance) == Array(repeating: "é é CAFÉ»", count: 10))
    // Texts are counted one by one, unless there is no evidence against UTF-8.
    #expect(titles(old, ["CAF\u{2}\u{3}", "CAF\u{2}\u{3}"]) == ["CAFÉ»", "CAFÉ»"])
    #expect(titles(new, [new, "\u{1} \u{1} \u{1} \u{1} CAF\u{2}\u{3}"]) == [new, "é é é é CAFÉ»"])
  }

  @Test(
    "are UTF-8 with a few stray bytes if an encoding of several bytes is declared", arguments: ["GB2312", "Shift_JIS"])
  func strayInWide(name: String) {
    let text = rss(Self.item("東京の表示は新しい \u{1}")).replacing("UTF-8", with: name)
    #expect(titles(Self.bytes(text, [0xE9])) == ["東京の表示は新しい é"])
  }

  @Test("are UTF-16 and UTF-32 in JSON too")
  func wideJSON() throws {
    let line = "{\"date\":\"2026\",\"text\":\"日本\"}\n"
    for encoding in [
      String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian,
    ] {
      expect(try #require(line.data(using: encoding)), text: "日本")
    }
  }

  @Test("replace invalid characters and report them")
  func impossible() throws {
    var bytes = try Self.bytes("Привет x", .windowsCP1251, declared: "windows-1251")
    bytes.replaceSubrange(try #require(bytes.firstRange(of: Data("x<".utf8))), with: [0x98, 0x3C])
    expect(
      bytes, text: "Привет \u{FFFD}",
      notes: ["line 5: has bytes that are not windows-1251; they are replaced by U+FFFD"])
    let feed = Self.feed("a\u{0}\u{B}b", declared: "UTF-8")
    bytes = Data(feed.replacing("</channel>", with: "\u{1}</channel>").utf8)
    expect(
      bytes, text: "ab", notes: ["line 5: has control characters, which XML does not allow; they are removed"])
    #expect(events(Self.feed("a\tb\r\nc", declared: "UTF-8")).complaints == [])
    #expect(events("{\"date\":\"2026\",\"text\":\"a\u{1}b\"}").complaints.allSatisfy { !$0.contains("XML") })
    bytes = try Self.bytes("Привет\n\nx", .windowsCP1251, declared: "windows-1251")
    bytes.replaceSubrange(try #require(bytes.firstRange(of: Data("x<".utf8))), with: [0x98, 0x3C])
    let note = "noted line 7: has bytes that are not windows-1251; they are replaced by U+FFFD"
    #expect(events(bytes).complaints == [note])
  }

  @Test(
    "replace invalid units of UTF-16 and UTF-32, and read what follows",
    arguments: [
      ("UTF-16LE", String.Encoding.utf16LittleEndian, [0x00, 0xDC]), ("UTF-16BE", .utf16BigEndian, [0xDC, 0x00]),
      ("UTF-32LE", .utf32LittleEndian, [0x00, 0x00, 0x11, 0x00]),
    ] as [(String, String.Encoding, [UInt8])])
  func invalidUnits(name: String, encoding: String.Encoding, unit: [UInt8]) throws {
    var bytes = try Self.bytes("Grüße x 東京", encoding, declared: "UTF-8")
    let before = try #require("ße ".data(using: encoding))
    let after = try #require(bytes.firstRange(of: before)).upperBound
    bytes.replaceSubrange(after..<after + unit.count, with: unit)
    expect(
      bytes, text: "Grüße \u{FFFD} 東京",
      notes: ["line 5: has bytes that are not \(name); they are replaced by U+FFFD"])
  }

  @Test("replace a unit that the end of the document cuts off")
  func cutUnit() throws {
    for (name, encoding) in [("UTF-16LE", String.Encoding.utf16LittleEndian), ("UTF-32LE", .utf32LittleEndian)] {
      let found = events(try Self.bytes("Grüße", encoding, declared: "UTF-8") + Data([0x20]))
      #expect(found.entries.map(\.text) == ["Grüße"])
      let note = "noted line 6: has bytes that are not \(name); they are replaced by U+FFFD"
      #expect(found.complaints.contains(note), "\(found.complaints)")
    }
  }

  @Test("are recognised by the first bytes after any number of blank lines")
  func blanks() {
    for count in [1, 5, 2000] {
      let text = String(repeating: "\n", count: count) + Self.feed("a\u{1}ü", declared: "UTF-8")
      expect(
        Data(text.utf8), text: "aü",
        notes: ["line \(count + 5): has control characters, which XML does not allow; they are removed"])
    }
  }
}
