public import Foundation
public import News

/// The editable content of an item. The caller has validated each field.
public struct ItemContent: Sendable {
  /// The state, which is never `retracted`.
  public var state: EditorialItem.State
  /// The time at which the item is or was to be published; nil if none was given.
  public var publishAt: Date?
  /// The time at which the item expires; nil if it does not.
  public var expireAt: Date?
  /// The date of the item, in whole milliseconds; nil for the moment of its publication.
  public var date: Date?
  /// The text: not blank, at most 256 KiB of UTF-8.
  public var text: String
  /// The title, at most 1 KiB of UTF-8.
  public var title: String?
  /// The summary, as plain text.
  public var summary: String?
  /// The sanitised HTML.
  public var html: String?
  /// Sorted slugs without duplicates.
  public var topics: [String]
  /// A BCP 47 tag.
  public var language: String?
  /// An absolute URL with the scheme http or https.
  public var url: String?
  /// The author's name, as displayed.
  public var author: String?
  /// Whether the item is breaking news.
  public var breaking: Bool
  /// The attachments in display order.
  public var attachments: [Attachment]

  /// Creates content. Only the state, the date and the text are required.
  public init(
    state: EditorialItem.State, publishAt: Date? = nil, expireAt: Date? = nil, date: Date?, text: String,
    title: String? = nil, summary: String? = nil, html: String? = nil, topics: [String] = [], language: String? = nil,
    url: String? = nil, author: String? = nil, breaking: Bool = false, attachments: [Attachment] = []
  ) {
    self.state = state
    self.publishAt = publishAt
    self.expireAt = expireAt
    self.date = date
    self.text = text
    self.title = title
    self.summary = summary
    self.html = html
    self.topics = topics
    self.language = language
    self.url = url
    self.author = author
    self.breaking = breaking
    self.attachments = attachments
  }

  /// The current content of an item.
  public init(_ item: EditorialItem) {
    self.init(
      state: item.state, publishAt: item.publishAt, expireAt: item.expireAt,
      date: item.hasDate ? item.item.date : nil, text: item.item.text, title: item.item.title,
      summary: item.item.summary, html: item.item.html, topics: item.item.topics, language: item.item.language,
      url: item.item.url, author: item.item.author, breaking: item.item.breaking, attachments: item.item.attachments)
  }
}

extension ItemContent {
  /// Whether the item has a date of its own, or receives one because it is published.
  var hasDate: Bool { date != nil || state == .published }

  /// Whether an item has this content, whatever its state is. Content without a date allows any.
  func isEqual(toContentOf item: EditorialItem) -> Bool {
    var other = ItemContent(item)
    other.state = state
    if date == nil { other.date = nil }
    return self == other
  }

  /// The approximate size in bytes, mostly that of the texts.
  public var approximateBytes: Int {
    let texts = [text, title, summary, html, url, author].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    return 512 + texts + 256 * attachments.count
  }
}

extension ItemContent: Equatable {
  /// Compares the values of all columns, texts by their bytes.
  public static func == (one: ItemContent, other: ItemContent) -> Bool {
    ItemColumn.all.allSatisfy { $0.isEqual(in: one, and: other) }
  }
}
