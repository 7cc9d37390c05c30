internal import Foundation
internal import News
internal import SafeHTML

/// The modules that entries of RSS and Atom share: Dublin Core, iTunes and Media RSS (rssboard.org/media-rss).
extension RawEntry {
  static func dublinCoreDates(_ element: FeedElement) -> [String] {
    ["date", "issued", "available", "created", "modified"].compactMap { element.value(.dublinCore, $0) }
  }

  /// Returns the names of the authors by the first of several elements that names any.
  static func moduleAuthors(_ element: FeedElement) -> [String] {
    let names = [
      ["creator", "author"].flatMap { element.all(.dublinCore, $0) }.map { name(inMailbox: $0.text) },
      element.all(.itunes, "author").map(\.text),
    ]
    return names.lazy.map { $0.compactMap(\.trimmed.nonEmpty) }.first { !$0.isEmpty } ?? []
  }

  /// Returns the categories of Media RSS, or else those of iTunes, which may be nested.
  static func moduleCategories(_ element: FeedElement) -> [String] {
    let media = places(element).flatMap { $0.all(.media, "category") }.map { $0["label"]?.nonEmpty ?? $0.text }
    if !media.isEmpty { return media }
    let outer = element.all(.itunes, "category")
    return outer.flatMap { [$0] + $0.all(.itunes, "category") }.compactMap { $0["text"] }
  }

  /// Reads the files of Media RSS.
  static func mediaFiles(_ element: FeedElement) -> [Attachment] {
    let files = places(element).flatMap { $0.all(.media, "content") + $0.all(.media, "thumbnail") }
    let nested = files.flatMap { $0.all(.media, "thumbnail") }
    return (files + nested).compactMap { file in
      guard let url = file["url"]?.nonEmpty else { return nil }
      // The page of a player is not a media file.
      if file["medium"] == "document" || file["type"]?.utf8.starts(with: "text/html".utf8) == true { return nil }
      return Attachment(
        url: url, type: file["type"] ?? "", bytes: file["fileSize"].flatMap(count),
        width: file["width"].flatMap(pixels), height: file["height"].flatMap(pixels))
    }
  }

  /// Reads the title or description that some feeds of videos and pictures have in place of their own.
  static func mediaText(_ name: String, of element: FeedElement) -> RawText? {
    RawText(places(element).lazy.compactMap { $0.value(.media, name) }.first, .unsure)
  }

  /// Returns the address that FeedBurner has replaced by that of its proxy (`feedburner:origLink`); nil if the link is
  /// another one.
  static func original(_ element: FeedElement, of link: String?, within base: String?) -> String? {
    guard let link, let written = element.value(.feedburner, "origLink") else { return nil }
    let parts = link.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2)
    guard parts.count > 1 else { return nil }
    let host = String(decoding: parts[1], as: UTF8.self).lowercased()
    // The proxy has names of its own, and those of publishers.
    let isProxy = link.contains("/~r/") || host == "feedproxy.google.com" || ".\(host)".hasSuffix(".feedburner.com")
    return isProxy ? SafeLink.web(written, base: base) : nil
  }

  // MARK: Captions

  /// Reads the texts of the files of Media RSS. A credit of the group or the entry is that of its files.
  mutating func readCaptions(_ element: FeedElement) {
    let shared = Self.credit(of: element)
    for place in Self.places(element) {
      let common = Self.credit(of: place) ?? shared
      for file in place.all(.media, "content") {
        let caption = FileCaption(
          alt: file.value(.media, "description") ?? file.value(.media, "title"), credit: Self.credit(of: file) ?? common
        )
        guard let url = file["url"]?.nonEmpty, caption.alt != nil || caption.credit != nil else { continue }
        if captions[Array(url.utf8)] == nil { captions[Array(url.utf8)] = caption }
      }
    }
    noteLossOfPlayer(element)
  }

  private static func credit(of element: FeedElement) -> String? {
    element.all(.media, "credit").prefix(EntryBuilder.maximumAuthors).compactMap { $0.text.trimmed.nonEmpty }.uniqued()
      .joined(separator: ", ").nonEmpty
  }

  /// Reports the first player without a file, unless it is the page of the entry.
  private mutating func noteLossOfPlayer(_ element: FeedElement) {
    let files = Self.places(element).lazy.flatMap { $0.all(.media, "content") }.filter { $0["url"]?.nonEmpty == nil }
    guard let player = files.compactMap({ $0.first(.media, "player")?["url"]?.nonEmpty }).first,
      link.map({ $0.utf8.elementsEqual(player.utf8) }) != true
    else { return }
    losses.append("a player is omitted: it is at " + PlainText.shortened(PlainText.line(player), to: 64))
  }

  // MARK: Pictures

  /// Returns the picture of an episode or of an old item. A recording without one has that of its feed.
  static func pictures(of item: FeedElement, _ feed: FeedMetadata, beside files: [Attachment]) -> [Attachment] {
    let old = item.all(.none, "image").map { $0["url"] ?? $0["href"] ?? $0.value(.none, "url") ?? $0.text.trimmed }
    let addresses = modulePictures(item) + old.compactMap(\.nonEmpty)
    let types = files.map { MediaType.valid($0.type) ?? MediaType.guessed(from: $0.url) }
    let isRecording = types.contains { $0.hasPrefix("audio/") || $0.hasPrefix("video/") }
    let fallback = isRecording && !types.contains { $0.hasPrefix("image/") } ? feed.picture : nil
    return (addresses.isEmpty ? [fallback].compactMap { $0 } : addresses).map { address in
      let type = MediaType.guessed(from: address)
      return Attachment(url: address, type: type.hasPrefix("image/") ? type : "image/jpeg")
    }
  }

  /// Returns the pictures of the first module for podcasts that has any.
  static func modulePictures(_ element: FeedElement) -> [String] {
    let pictures = [FeedNamespace.itunes, .googlePlay, .podcast].lazy.map { space in
      element.all(space, "image").compactMap { $0["href"]?.nonEmpty ?? $0["url"]?.nonEmpty ?? $0.text.trimmed.nonEmpty }
    }
    let sizes = element.all(.podcast, "images").compactMap { $0["srcset"]?.trimmed.split(separator: " ").first }
    return pictures.first { !$0.isEmpty } ?? sizes.prefix(1).map { String($0) }
  }

  /// The element itself, and its groups of files.
  private static func places(_ element: FeedElement) -> [FeedElement] {
    [element] + element.all(.media, "group")
  }

  /// Parses a length in bytes; nil for 0, which many feeds write for "unknown".
  static func count(_ text: String) -> Int? {
    Int(text.trimmed).flatMap { $0 > 0 ? $0 : nil }
  }

  private static func pixels(_ text: String) -> Int? {
    count(text).flatMap { $0 <= 99_999 ? $0 : nil }
  }

  // MARK: Persons

  /// The maximum number of bytes of the text of a person that older versions read.
  private static let maximumPersonBytes = 4 * EntryBuilder.maximumAuthorBytes

  /// Returns the lists of authors in one element that are longer than a person's name.
  static func longNames(_ element: FeedElement) -> [String] {
    let names = [(FeedNamespace.dublinCore, "creator"), (.dublinCore, "author"), (.none, "author"), (.atom, "author")]
    return names.flatMap { element.all($0, $1) }.compactMap(longName)
  }

  /// Returns the list of authors in an element if it is longer than a person's name.
  static func longName(_ element: FeedElement) -> String? {
    guard !element.hasElements else { return nil }
    let list = element.text
    guard list.utf8.count > maximumPersonBytes else { return nil }
    guard list.utf8.contains(UInt8(ascii: "@")) else { return list.trimmed.nonEmpty }
    let parts = list.utf8.split { ",;".utf8.contains($0) }.map { String(decoding: $0, as: UTF8.self) }
    return parts.compactMap { part in
      guard part.utf8.count > maximumPersonBytes else { return name(inMailbox: part).trimmed.nonEmpty }
      let words = part.utf8.split(separator: UInt8(ascii: " ")).filter { !$0.contains(UInt8(ascii: "@")) }
      return words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ").trimmed.nonEmpty
    }
    .joined(separator: ", ").nonEmpty
  }

  /// Extracts the name from `lawyer@boyer.net (Lawyer Boyer)`, `Lawyer Boyer (lawyer@boyer.net)` or
  /// `Lawyer Boyer <lawyer@boyer.net>`. Readers see the name, not the address.
  static func name(inMailbox text: String) -> String {
    guard text.utf8.count <= maximumPersonBytes else { return "" }
    guard text.contains("@") else { return text }
    if let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"), open < close {
      let inner = text[text.index(after: open)..<close]
      return (inner.contains("@") ? String(text[..<open]) : String(inner)).trimmed
    }
    if let open = text.firstIndex(of: "<") {
      return text[..<open].trimmingCharacters(in: CharacterSet(charactersIn: " \t\n\""))
    }
    return text.trimmed.contains(" ") ? text : ""
  }

  /// Returns the name of an Atom person (RFC 4287 section 3.2), or else its only mail address, or the text of an element
  /// without children.
  static func name(ofPerson element: FeedElement) -> String? {
    element.value(.atom, "name") ?? element.value(.atom, "email")
      ?? (element.hasElements ? nil : name(inMailbox: element.text).trimmed.nonEmpty)
  }
}
