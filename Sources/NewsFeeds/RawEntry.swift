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
  /// The missing parts whose addresses cannot be used.
  var losses: [SafeHTML.Loss] = []

  /// Makes the link of the entry absolute.
  mutating func setLink(_ written: String?, within base: String?) {
    link = written.flatMap { SafeLink.web($0, base: base) }
    if link == nil, let written, !written.isEmpty { losses.append(SafeHTML.Loss(.link, at: written)) }
  }

  init(position: FeedPosition, source: String) {
    self.position = position
    self.source = source
  }
}
