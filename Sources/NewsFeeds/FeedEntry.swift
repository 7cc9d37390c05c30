public import Foundation
public import News

/// An entry of a feed, ready to become a news item.
public struct FeedEntry: Sendable, Equatable {
  /// The UUID from the source (JSON Lines), or else a version 5 UUID of `source` and `guid`. It is the same in every
  /// run, whatever the name of the file.
  public var id: UUID
  /// The name of the feed; nil in the copy of an item that an editor created, as are `guid` and `digest`.
  ///
  /// The name is the format, a colon, and the id of an Atom feed, the link of an RSS channel or the address of a JSON
  /// Feed. In JSON Lines it is the `source` of the line. A site that offers its news in two formats has two feeds.
  /// Their content is seldom equal: as one feed, each import would undo that of the other format.
  public var source: String?
  /// The name of the entry within its feed: its guid or another identifier, else its link, else a hash of its title and
  /// date.
  public var guid: String?
  /// SHA-256 of the source's content. It is equal for equal content, and changes with anything visible.
  public var digest: Data?
  /// The date in whole milliseconds. It may be in the future.
  public var date: Date
  /// The title on one line, at most 1 KiB.
  public var title: String?
  /// Plain text, at most 16 KiB.
  public var summary: String?
  /// Plain text, not empty, at most 256 KiB.
  public var text: String
  /// Sanitised HTML, at most 512 KiB; nil if the source has only plain text.
  public var html: String?
  /// At most 16 categories in the order of the source, each name once. Different names may have the same slug.
  public var categories: [FeedCategory]
  /// A BCP 47 language tag.
  public var language: String?
  /// An absolute http or https URL of at most 2048 bytes.
  public var url: String?
  /// The authors, separated by commas, at most 256 bytes.
  public var author: String?
  /// Whether the entry is breaking news. Only JSON Lines can express this.
  public var breaking: Bool
  /// The enclosures, then the recordings and the pictures of the text. Each URL occurs once, at most 32 in total.
  public var attachments: [Attachment]
  /// Whether the entry is a line of an export, that is, an item as it was stored. It restores an item that is missing,
  /// and leaves an existing item unchanged.
  public var isCopy = false
  /// In copies, the topics that no previous line of the file has named.
  public var newTopics: [ExportedTopic] = []
  /// Whether the entry has no readable date, so that `date` is the time of this reading (``MissingDate/firstSeen(at:)``).
  /// Neither the id nor the digest depend on that time, and an item that exists keeps the date that it has.
  public var isDateFirstSeen = false
  /// The reason why the written date is not used, as a sentence without full stop, for an entry whose date cannot be
  /// read; nil for others, and for entries without a date.
  public var dateProblem: String?
  /// The id that the entry has at its source, if its guid is a UUID as a URN (RFC 9562 section 4), as in the feeds of
  /// Tidings. An item keeps this id on every server that imports it, so that servers which follow each other do not
  /// multiply it. nil for other guids.
  public var origin: UUID?
  /// The id of an entry whose name is not its own: the version 5 UUID of `source`, `guid` and the link. The first file takes
  /// the place of a missing link, and the title and the date, or the text, that of a missing file. nil if the source gives
  /// a UUID.
  public var linkID: UUID?
  /// Whether the link says nothing beside `guid`: it is the name, or the feed's page.
  public var isNamedByLink = false
  /// The id that the entry had in versions that read fewer identifiers; nil if it is `id`.
  public var earlierID: UUID?
  /// Whether the name does not identify the entry: an entry before this one in the document has the same `id` and is
  /// another one, or the name is no more than the date of a day.
  public var sharesName = false
  /// Whether `linkID` is made of texts, although the entry has a name.
  var hasWeakMark = false
}

/// A category of an entry, and the topic it stands for.
public struct FeedCategory: Sendable, Hashable {
  /// The topic's slug, `[a-z0-9-]{1,64}`.
  public var slug: String
  /// The category's name at the source.
  public var label: String

  /// Creates a category. The slug is not validated.
  public init(slug: String, label: String) {
    self.slug = slug
    self.label = label
  }
}

/// A position in a file.
public enum FeedPosition: Sendable, Hashable, CustomStringConvertible {
  /// A line, counted from 1: that of an XML start tag, a JSON object or an error.
  case line(Int)
  /// An item of a JSON Feed, counted from 1.
  case entry(Int)

  var number: Int {
    switch self {
    case .line(let number), .entry(let number): number
    }
  }

  /// The position as `line 12` or `entry 3`.
  public var description: String {
    switch self {
    case .line(let number): "line \(number)"
    case .entry(let number): "entry \(number)"
    }
  }
}

/// A problem with part of a file.
public struct FeedProblem: Error, Equatable, CustomStringConvertible {
  /// The position of the problem or of the affected entry.
  public var position: FeedPosition
  /// One sentence without full stop, for the person who runs the import.
  public var message: String
  /// The kind of a record that was skipped because it is not public, such as `draft` or `attachment`, in at most
  /// 32 characters; nil for other problems.
  public var notPublic: String?

  /// The position and the message.
  public var description: String { "\(position): \(message)" }
}

/// An event of a ``FeedReader``.
public enum FeedEvent: Sendable, Equatable {
  case entry(FeedEntry)
  /// A line of the export of a newsroom, as it was read. Only a reader with `FeedReader.Options.readsNewsrooms` has such
  /// events, because the line may contain what no feed may write: states, histories and subscriptions.
  case newsroom(line: Data, FeedPosition)
  /// An entry was skipped.
  case skipped(FeedProblem)
  /// The next entry lost a part that exceeds its limit or cannot be read, such as a picture without a web address.
  case reduced(FeedProblem)
  /// A problem with the file that affects no entry.
  case noted(FeedProblem)
  /// The end of reading: the file is not a feed, or is malformed from here on. The entries before are complete.
  case failed(FeedProblem)
}

/// A feed format.
public enum FeedFormat: String, Sendable, CaseIterable {
  case rss, atom, jsonFeed, jsonLines
}
