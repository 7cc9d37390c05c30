/// An entity tag (RFC 9110 section 8.8.3).
///
/// **Variants.** The compressed variant of a representation has other bytes than the plain one, so it needs another
/// strong tag (RFC 9110 section 8.8.3.3): the server appends `-gz` to the opaque part. A client that holds either
/// variant holds the current content, so ``weaklyMatches(_:)`` ignores the suffix. A change of `Accept-Encoding`, or a
/// proxy that decompresses, therefore costs no second transfer. ``stronglyMatches(_:)`` compares the suffix too,
/// because ranges and editors rely on equal bytes. The tags that editors use as locks are made from revisions and never
/// carry the suffix, so nothing is lost there.
///
/// **Proxies.** nginx weakens a strong tag whenever it compresses a response itself (`"x"` becomes `W/"x"`). Weak
/// comparison still recognises the tag in `If-None-Match`. In `If-Match` it can never match again, so an editor may
/// also send the revision in the body. Other proxies append the coding to the opaque part: Apache and Caddy make `"x-gzip"`,
/// `"x-br"` or `"x-zstd"`, Jetty `"x--gzip"`, LiteSpeed `"x;gz"`. Weak comparison ignores one such suffix too.
///
///     let tag = EntityTag(strong: "x1")
///     let compressed = tag.variant(.gzip)
///     print(compressed.fieldValue)  // "x1-gz"
///     print(tag.weaklyMatches(compressed), tag.stronglyMatches(compressed))  // true false
public struct EntityTag: Sendable {
  /// The text between the quotes, made of `etagc` characters only (RFC 9110 section 8.8.3).
  public let opaque: String
  /// Whether the tag is weak. A weak tag identifies content of equal meaning, not of equal bytes.
  public let isWeak: Bool

  /// Creates a strong tag.
  ///
  /// - Parameter strong: The text between the quotes. Traps on anything but `etagc` characters, because it is meant for
  ///   tags that the server makes. Use ``init(fieldValue:)`` for input.
  public init(strong: String) {
    self.init(checking: strong, isWeak: false)
  }

  /// Creates a weak tag.
  ///
  /// - Parameter weak: The text between the quotes. Traps on anything but `etagc` characters, because it is meant for
  ///   tags that the server makes. Use ``init(fieldValue:)`` for input.
  public init(weak: String) {
    self.init(checking: weak, isWeak: true)
  }

  /// Parses one entity tag, such as `"x"` or `W/"x"`; `W` is case-sensitive (RFC 9110 section 8.8.3).
  ///
  /// - Parameter fieldValue: The field value; whitespace around it is ignored.
  /// - Returns: nil unless the value is exactly one well-formed tag. Lists, `*` and missing quotes are rejected.
  public init?(fieldValue: some StringProtocol) {
    let tag: EntityTag? = fieldValue.withFieldBytes { bytes in
      let content = bytes.fieldContent
      guard let syntax = EntityTagSyntax(bytes, at: content.lowerBound), syntax.end == content.upperBound else {
        return nil
      }
      return EntityTag(syntax, in: bytes)
    }
    guard let tag else { return nil }
    self = tag
  }

  /// Creates a tag from its position in a field value.
  ///
  /// - Returns: nil if the opaque part is not UTF-8, which a `String` cannot hold.
  init?(_ syntax: EntityTagSyntax, in bytes: Span<UInt8>) {
    let opaque = bytes.extracting(syntax.opaque).withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) }
    guard let opaque else { return nil }
    self.init(unchecked: opaque, isWeak: syntax.isWeak)
  }

  private init(checking opaque: String, isWeak: Bool) {
    precondition(opaque.utf8.allSatisfy(\.isEntityTagCharacter), "not an opaque-tag of RFC 9110: \(opaque)")
    self.init(unchecked: opaque, isWeak: isWeak)
  }

  private init(unchecked opaque: String, isWeak: Bool) {
    self.opaque = opaque
    self.isWeak = isWeak
  }

  /// The tag as a field value: `"x"` or `W/"x"`.
  public var fieldValue: String { isWeak ? "W/\"\(opaque)\"" : "\"\(opaque)\"" }
}

// Equality compares bytes, not Unicode's canonical equivalence: two spellings of one character are two tags.
extension EntityTag: Hashable {
  /// Whether the tags are identical, including their weakness. This is neither comparison of RFC 9110: see
  /// ``stronglyMatches(_:)`` and ``weaklyMatches(_:)``.
  public static func == (one: EntityTag, other: EntityTag) -> Bool {
    one.isWeak == other.isWeak && one.opaque.utf8.elementsEqual(other.opaque.utf8)
  }

  /// Feeds the bytes and the weakness of the tag to `hasher`.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(isWeak)
    for byte in opaque.utf8 { hasher.combine(byte) }
  }
}

// MARK: - Comparison

extension EntityTag {
  /// Whether the tags match by strong comparison (RFC 9110 section 8.8.3.2): both are strong, and their opaque parts
  /// are equal byte for byte, including the suffix of a compressed variant.
  public func stronglyMatches(_ other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && opaque.utf8.elementsEqual(other.opaque.utf8)
  }

  /// Whether the tags match by weak comparison (RFC 9110 section 8.8.3.2): their opaque parts are equal, whether the
  /// tags are weak or not. The suffixes of a compressed variant and of a proxy are ignored.
  public func weaklyMatches(_ other: EntityTag) -> Bool {
    other.opaque.withFieldBytes { bytes in
      matches(EntityTagSyntax(isWeak: other.isWeak, opaque: 0..<bytes.count), in: bytes, .weak)
    }
  }

  enum Comparison { case strong, weak }

  /// Whether the tag matches one that remains in the bytes of its field value.
  func matches(_ other: EntityTagSyntax, in bytes: Span<UInt8>, _ comparison: Comparison) -> Bool {
    if comparison == .strong, isWeak || other.isWeak { return false }
    return opaque.withFieldBytes { own in
      let isBlind = comparison == .weak
      let ownCount = isBlind ? own.identityCount(in: 0..<own.count) : own.count
      let otherCount = isBlind ? bytes.identityCount(in: other.opaque) : other.opaque.count
      guard ownCount == otherCount else { return false }
      for offset in 0..<ownCount where own[offset] != bytes[other.opaque.lowerBound + offset] { return false }
      return true
    }
  }
}

extension Span where Element == UInt8 {
  /// Returns the length in bytes of the opaque tag in `range`, without the suffixes of a proxy and of a compressed variant,
  /// one of each at most: what precedes them is the tag of the plain content.
  fileprivate func identityCount(in range: Range<Int>) -> Int {
    let proxied = EntityTag.proxySuffixes.first { ends(with: $0, in: range) }
    let range = range.lowerBound..<range.upperBound - (proxied?.utf8CodeUnitCount ?? 0)
    let suffix = EntityTag.variantSuffix
    return range.count - (ends(with: suffix, in: range) ? suffix.utf8CodeUnitCount : 0)
  }

  /// Whether the bytes in `range` end with a text, compared in place.
  private func ends(with suffix: StaticString, in range: Range<Int>) -> Bool {
    let count = suffix.utf8CodeUnitCount
    guard range.count >= count else { return false }
    let start = range.upperBound - count
    return suffix.withUTF8Buffer { text in
      (0..<count).allSatisfy { self[start + $0] == text[$0] }
    }
  }
}

extension EntityTag {
  /// The suffix of the variant in gzip.
  fileprivate static let variantSuffix: StaticString = "-gz"
  /// The suffixes that proxies append when they compress a response. A longer one comes before its own end.
  fileprivate static let proxySuffixes: [StaticString] = [
    "--gzip", "-gzip", "-br", "-zstd", "-deflate", ";gzip", ";gz", ";br",
  ]
}

// MARK: - Variants

extension EntityTag {
  /// Returns the tag of the same content in `coding`, with the same weakness. An existing suffix is replaced.
  public func variant(_ coding: ContentCoding) -> EntityTag {
    let identity = identity
    guard coding != .identity else { return identity }
    return EntityTag(unchecked: identity.opaque + coding.entityTagSuffix, isWeak: isWeak)
  }

  /// The tag without the suffixes of a compressed variant and of a proxy: the tag of the plain content.
  public var identity: EntityTag {
    let count = opaque.withFieldBytes { $0.identityCount(in: 0..<$0.count) }
    guard count < opaque.utf8.count else { return self }
    return EntityTag(unchecked: String(opaque.utf8.prefix(count)) ?? opaque, isWeak: isWeak)
  }
}
