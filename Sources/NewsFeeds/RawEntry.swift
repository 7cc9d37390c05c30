internal import Foundation
internal import News
internal import SafeHTML

/// A text of a feed before it is decoded.
struct RawText: Equatable {
  enum Kind: String {
    /// Plain text, taken literally.
    case plain
    /// Markup.
    case html
    /// Markup if it looks like markup, otherwise text that may have entities. RSS fields are used in this way.
    case unsure
  }

  var value: String
  var kind: Kind

  init?(_ value: String?, _ kind: Kind) {
    guard let value, value.contains(where: { !$0.isWhitespace }) else { return nil }
    self.value = value
    self.kind = kind
  }
}

/// The texts about a file in an entry, as they are written.
struct FileCaption {
  var alt: String?
  var credit: String?
}

/// An entry of any format before it is decoded, sanitised and validated.
struct RawEntry {
  var position: FeedPosition
  var source: String
  var base: String?
  var id: UUID?
  var guid: String?
  /// An identifier in the place of a missing guid.
  var identifier: String?
  var link: String?
  /// The address of the entry's page if `link` is that of a proxy. It is part of neither names nor digest, so that known
  /// entries stay what they are.
  var page: String?
  /// The address of the feed's page.
  var home: String?
  /// The dates in order of preference. The first one that can be parsed applies.
  var dates: [String] = []
  /// The date of the whole feed, for entries without one.
  var fallbackDate: String?
  var title: RawText?
  var summary: RawText?
  var content: RawText?
  /// The plain text, if the source has both; otherwise the text is made from `content`.
  var text: String?
  var categories: [String] = []
  var language: String?
  var authors: [String] = []
  var breaking = false
  var attachments: [Attachment] = []
  /// The authors, files and captions that older versions did not read. They are not part of the digest, so that known
  /// entries do not look changed.
  var lateAuthors: [String] = []
  var lateFiles: [Attachment] = []
  /// The texts of files by the bytes of their addresses.
  var captions: [[UInt8]: FileCaption] = [:]
  /// Sentences about parts that could not be read.
  var losses: [String] = []
  /// The reason why the record is not public news; nil if it is.
  var exclusion: Exclusion?

  /// The language if it is a tag, which is short and ASCII. Comparing and hashing other texts as characters takes time
  /// quadratic in their combining marks.
  var languageTag: String? { language.flatMap(LanguageTag.normalised) }

  /// The dates of the entry, parsed.
  var writtenDates: [WrittenDate] {
    let language = languageTag
    return dates.compactMap { text in text.trimmed.nonEmpty.map { WrittenDate($0, language: language) } }
  }

  init(position: FeedPosition, source: String) {
    self.position = position
    self.source = source
  }

  /// Notes that the address of the entry's page cannot be used.
  ///
  /// - Parameter link: The address that is used, which may be another one.
  mutating func noteLoss(of written: String?, used link: String?) {
    guard let written, link == nil || written.utf8.count > EntryBuilder.maximumAddressBytes else { return }
    losses.append("the link is omitted: " + EntryBuilder.unusable(written))
  }
}
