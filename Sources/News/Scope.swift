/// The part of the feed that a reader follows: all items, or the items in any of a set of topics.
///
///     let scope = Scope(topics: ["sport", "harbour", "sport"])
///     print(scope.topics)  // ["harbour", "sport"]
///     print(scope == .feed, scope.fingerprint.count)  // false 5
public struct Scope: Sendable, Hashable {
  /// The slugs of the topics, sorted and unique; empty for the feed.
  public let topics: [String]

  /// All published items.
  public static let feed = Scope(topics: [])

  /// Creates the union of topics, in any order. No topics mean the feed.
  public init(topics: some Sequence<String>) {
    let topics = Array(topics)
    // Nearly all scopes are sorted already.
    let isSorted = zip(topics, topics.dropFirst()).allSatisfy { $0 < $1 }
    self.topics = isSorted ? topics : Set(topics).sorted()
  }

  /// A short hash, which detects a token of another scope: five digits of base 36.
  public var fingerprint: String {
    // FNV-1a: it protects against mistakes, not against forgery, and is the same on every platform.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in topics.joined(separator: ",").utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    let digits = String((hash ^ hash >> 32) % 60_466_176, radix: 36)
    return String(repeating: "0", count: 5 - digits.count) + digits
  }
}

/// The syntax of topic slugs.
///
///     print(TopicSlug.isValid("night-ferry"), TopicSlug.isValid("Night Ferry"))  // true false
public enum TopicSlug {
  /// Whether the text matches `[a-z0-9-]{1,64}`.
  public static func isValid(_ slug: some StringProtocol) -> Bool {
    var slug = String(slug)
    return slug.withUTF8 { bytes in
      1...64 ~= bytes.count
        && bytes.allSatisfy { $0.isASCIILowercase || $0.isASCIIDigit || $0 == UInt8(ascii: "-") }
    }
  }
}
