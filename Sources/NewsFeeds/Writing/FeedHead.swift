public import Foundation

/// The part of a document of a feed that is not an entry.
public struct FeedHead: Sendable {
  /// The links between the documents of a feed (RFC 5005 section 4).
  public struct Archives: Sendable, Hashable {
    /// The number of this archive, from 1; nil for the current document.
    public var number: Int?
    /// The number of archives.
    public var count: Int

    /// Creates the links.
    public init(number: Int? = nil, count: Int) {
      self.number = number
      self.count = count
    }

    /// The archive with the entries before those of this document.
    var previous: Int? {
      let previous = number.map { $0 - 1 } ?? count
      return previous > 0 ? previous : nil
    }

    /// The archive with the entries after those of this one; nil for the current document and the last archive.
    var next: Int? { number.flatMap { $0 < count ? $0 + 1 : nil } }
  }

  /// The slug of the topic; nil for the feed of all items.
  public var topic: String?
  /// The time of the last change of the document.
  public var updated: Date
  /// The links to archives.
  public var archives: Archives
  /// The ids of items that were removed, each with the time. Only formats that can remove entries have them.
  public var removals: [(id: UUID, date: Date)]

  /// Creates a head.
  public init(topic: String?, updated: Date, archives: Archives, removals: [(id: UUID, date: Date)] = []) {
    self.topic = topic
    self.updated = updated
    self.archives = archives
    self.removals = removals
  }
}
