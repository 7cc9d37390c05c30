public import Foundation
public import News

/// An entry of a feed, ready to become a news item.
public struct FeedEntry: Sendable, Equatable {
  /// The UUID the source gave (JSON Lines), or else version 5 of `source` and `guid`: the same in every run, whatever
  /// the file is called.
  public var id: UUID
  /// What names the feed: its format, a colon, and the id of an Atom feed, the link of an RSS channel or the address of
  /// a JSON Feed; the `source` of a line as it is. A site that offers its news in two formats has two feeds, because
  /// they seldom say the same: as one, each import would undo the other's.
  /// nil in the copy of an item that was made by an editor, as are `guid` and `digest`.
  public var source: String?
  /// What names the entry within its feed: its own guid, else its link, else a hash of its title and date.
  public var guid: String?
  /// SHA-256 of what the source says: equal for equal content, different as soon as anything visible changes.
  public var digest: Data?
  /// In whole milliseconds; can be in the future.
  public var date: Date
  /// One line, at most 1 KiB.
  public var title: String?
  /// Plain text, at most 16 KiB.
  public var summary: String?
  /// Plain text, not empty, at most 256 KiB.
  public var text: String
  /// Sanitised, at most 512 KiB; nil where the source has plain text only.
  public var html: String?
  /// At most 16, in the order of the source, each slug once.
  public var categories: [FeedCategory]
  /// A BCP 47 language tag.
  public var language: String?
  /// Absolute, http or https, at most 2048 bytes.
  public var url: String?
  /// At most 256 bytes; several authors are separated by commas.
  public var author: String?
  /// Only JSON Lines can say so.
  public var breaking: Bool
  /// Enclosures and then the pictures of the text, each URL once, at most 32.
  public var attachments: [Attachment]
  /// Whether it is a line of an export: an item as it was stored. It stands for that item where there is none, and is
  /// no news of one that is there.
  public var isCopy = false
  /// In copies, the topics that the file has not named before.
  public var newTopics: [ExportedTopic] = []
}

/// A category as an entry has it, and the topic it stands for.
public struct FeedCategory: Sendable, Hashable {
  /// The topic's slug, `[a-z0-9-]{1,64}`.
  public var slug: String
  /// What the source calls it.
  public var label: String

  /// A category whose slug is known to be valid.
  public init(slug: String, label: String) {
    self.slug = slug
    self.label = label
  }
}

/// Where in a file something was found.
public enum FeedPosition: Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1, where an element of XML starts or that a JSON object fills.
  case line(Int)
  /// The item of a JSON Feed, from 1.
  case entry(Int)

  /// `line 12` or `entry 3`.
  public var description: String {
    switch self {
    case .line(let number): "line \(number)"
    case .entry(let number): "entry \(number)"
    }
  }
}

/// What was wrong with a piece of a file.
public struct FeedProblem: Sendable, Equatable, CustomStringConvertible {
  /// Where it is, or where it starts.
  public var position: FeedPosition
  /// One sentence without full stop, for the person who runs the import.
  public var message: String

  /// The position and the message.
  public var description: String { "\(position): \(message)" }
}

/// What a reader finds.
public enum FeedEvent: Sendable, Equatable {
  case entry(FeedEntry)
  /// An entry was left out.
  case skipped(FeedProblem)
  /// The entry that follows lost a part that is over its limit.
  case reduced(FeedProblem)
  /// Something is wrong with the file that cost no entry.
  case noted(FeedProblem)
  /// Reading ended here: the file is no feed, or broken from this place on. Entries before it are whole.
  case failed(FeedProblem)
}

/// The kinds of feed.
public enum FeedFormat: String, Sendable, CaseIterable {
  case rss, atom, jsonFeed, jsonLines
}
