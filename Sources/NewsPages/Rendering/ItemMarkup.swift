import SafeHTML

/// The HTML of an item as a part of a page.
///
/// It was sanitised when it was written. It is sanitised again, so that a page never depends on who wrote a row, or by
/// which version. The page has its own `h1`, so the headings begin with `h2` and skip no level.
package struct ItemMarkup {
  /// The fragment.
  package let html: String
  /// The addresses of the pictures in the fragment.
  package let pictures: Set<String>

  package init(_ source: String) {
    let safe = SafeHTML(source)
    html = Self.adapted(safe.html)
    pictures = Set(safe.images.map(\.url))
  }

  /// Rewrites the tags of a sanitised fragment. In it, each `<` begins a tag, and tags are written in one way only.
  private static func adapted(_ fragment: String) -> String {
    let bytes = Array(fragment.utf8)
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count + 256)
    var levels = HeadingLevels()
    var index = 0
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "<") else {
        output.append(bytes[index])
        index += 1
        continue
      }
      let nameStart = index + 1
      let nameEnd = bytes[nameStart...].firstIndex { " />".utf8.contains($0) && $0 != UInt8(ascii: "/") } ?? bytes.count
      let name = bytes[nameStart..<nameEnd]
      if name.elementsEqual("img".utf8) {
        output += "<img loading=\"lazy\" decoding=\"async\"".utf8
      } else if let level = levels.level(of: name) {
        output += "<\(name.first == UInt8(ascii: "/") ? "/" : "")h\(level)".utf8
      } else {
        output.append(UInt8(ascii: "<"))
        output += name
      }
      index = nameEnd
    }
    return String(decoding: output, as: UTF8.self)
  }
}

/// Maps the headings of a fragment to those of the page.
private struct HeadingLevels {
  /// The open headings, as levels of the page.
  private var open: [Int] = []
  /// The levels of the source that precede the current heading and contain it, each with the level of the page.
  private var outline: [(source: Int, page: Int)] = []

  /// Returns the level for the name of a tag, such as `h1` or `/h1`; nil for other elements.
  mutating func level(of name: ArraySlice<UInt8>) -> Int? {
    let isEnd = name.first == UInt8(ascii: "/")
    let name = isEnd ? name.dropFirst() : name
    guard name.count == 2, name.first == UInt8(ascii: "h"), let digit = name.last, 0x31...0x36 ~= digit else {
      return nil
    }
    if isEnd { return open.popLast() ?? 2 }
    let source = Int(digit) - 0x30
    while let last = outline.last, last.source >= source { outline.removeLast() }
    let level = min(6, (outline.last?.page ?? 1) + 1)
    outline.append((source, level))
    open.append(level)
    return level
  }
}
