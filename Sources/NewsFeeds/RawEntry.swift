internal import Foundation
internal import News

/// A text as a feed gives it.
struct RawText: Equatable {
  enum Kind: String {
    /// Means what it says.
    case plain
    /// Markup.
    case html
    /// Markup if it looks like it, otherwise text that may have entities: what RSS fields are in practice.
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

/// An entry before anything is decoded, sanitised or checked, whatever the format.
struct RawEntry {
  var position: FeedPosition
  var source: String
  var base: String?
  var id: UUID?
  var guid: String?
  var link: String?
  /// The page of the whole feed.
  var home: String?
  /// In order of preference; the first counts.
  var dates: [String] = []
  /// That of the whole feed, where entries have none.
  var fallbackDate: String?
  var title: RawText?
  var summary: RawText?
  var content: RawText?
  /// The plain text where the source has both; otherwise it is made from `content`.
  var text: String?
  var categories: [String] = []
  var language: String?
  var authors: [String] = []
  var breaking = false
  var attachments: [Attachment] = []

  init(position: FeedPosition, source: String) {
    self.position = position
    self.source = source
  }
}
