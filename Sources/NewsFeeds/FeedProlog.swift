internal import SafeHTML

/// The text before the root element of a feed.
///
/// Software writes warnings, comments, byte order marks and second XML declarations before a feed. XML allows none of
/// them, and browsers and feed readers ignore them.
struct FeedProlog {
  /// The maximum number of bytes before the root element that are searched.
  static let maximumBytes = 64 * 1024

  /// The local names of root elements.
  private static let roots: Set<String> = ["rss", "rdf", "feed", "entry", "opml"]

  enum Found: Equatable {
    /// The root element is where XML allows it, or the document is a page. Document types are complete.
    case regular
    /// There is no root element.
    case none
    /// The number of bytes before the root element, which are to be dropped.
    case excess(Int)
    /// The root element does not begin in these bytes.
    case open
  }

  /// Examines the start of a document.
  ///
  /// - Parameter isWhole: Whether no bytes follow.
  static func find(in bytes: some RandomAccessCollection<UInt8>, isWhole: Bool) -> Found {
    let bytes = Array(bytes.prefix(maximumBytes))
    let isEnough = isWhole || bytes.count == maximumBytes
    var index = 0
    var isRegular = true
    var isPage = false
    while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
      isRegular = isRegular && bytes[index..<start].allSatisfy { $0 <= 0x20 }
      let rest = bytes[start...]
      // A tag may be incomplete here.
      if rest.count < 160, !isEnough { return .open }
      if let opaque = OpaqueMarkup.all.first(startingWith: rest) {
        guard let end = opaque.end(of: rest) else { return isEnough ? .none : .open }
        let isDeclaration = rest.starts(with: "<?xml ".utf8)
        isRegular = isRegular && (!isDeclaration || start == 0)
        index = end
        continue
      }
      let name = elementName(rest)
      if name == "!doctype" {
        guard let end = DocumentType.parts(of: rest)?.end else { return isEnough ? .none : .open }
        isPage = doctype(rest) == "html"
        index = end
        continue
      }
      if roots.contains(name) { return isRegular ? .regular : .excess(start) }
      // A page is not a feed, even if it shows one.
      if name == "html" || isPage { return .regular }
      isRegular = false
      index = end(ofTag: rest)
    }
    return isEnough ? .none : .open
  }

  /// Returns the local name of the tag at the start, in lower case.
  private static func elementName(_ bytes: ArraySlice<UInt8>) -> String {
    let name = bytes.dropFirst().prefix(64).prefix { !" \t\r\n/><[".utf8.contains($0) }
    let local = name.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).last ?? []
    return String(decoding: local, as: UTF8.self).lowercased()
  }

  private static func doctype(_ bytes: ArraySlice<UInt8>) -> String {
    let words = bytes.dropFirst().prefix(128).split { $0 <= 0x20 || $0 == UInt8(ascii: ">") }
    return words.count > 1 ? String(decoding: words[1], as: UTF8.self).lowercased() : ""
  }

  /// Returns the place after a tag.
  private static func end(ofTag bytes: ArraySlice<UInt8>) -> Int {
    let end = bytes.dropFirst().firstIndex { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") }
    return end.map { bytes[$0] == UInt8(ascii: ">") ? $0 + 1 : $0 } ?? bytes.endIndex
  }
}
