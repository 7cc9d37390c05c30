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

  /// Extracts the name from `lawyer@boyer.net (Lawyer Boyer)`, `Lawyer Boyer (lawyer@boyer.net)` or
  /// `Lawyer Boyer <lawyer@boyer.net>`. Readers see the name, not the address.
  static func name(inMailbox text: String) -> String {
    guard text.utf8.count <= 4 * EntryBuilder.maximumAuthorBytes else { return "" }
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
