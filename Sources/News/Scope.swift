/// What a reader follows: the whole feed, or what is in any of a set of topics.
public struct Scope: Sendable, Hashable {
  /// Slugs, sorted and without repetition; none for the feed.
  public let topics: [String]

  /// All published items.
  public static let feed = Scope(topics: [])

  /// The union of some topics, in any order; no topics means the feed.
  public init(topics: some Sequence<String>) {
    self.topics = Set(topics).sorted()
  }

  /// A short fingerprint, so that a token of one scope is not taken for another's: five digits of base 36.
  public var fingerprint: String {
    // FNV-1a: a guard against mix-ups, not against forgery, and the same on every platform.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in topics.joined(separator: ",").utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    let digits = String((hash ^ hash >> 32) % 60_466_176, radix: 36)
    return String(repeating: "0", count: 5 - digits.count) + digits
  }
}

/// The rules for a topic's slug.
public enum TopicSlug {
  /// Whether the text is `[a-z0-9-]{1,64}`.
  public static func isValid(_ slug: some StringProtocol) -> Bool {
    let bytes = slug.utf8
    return 1...64 ~= bytes.count && bytes.allSatisfy { 97...122 ~= $0 || 48...57 ~= $0 || $0 == 45 }
  }
}
