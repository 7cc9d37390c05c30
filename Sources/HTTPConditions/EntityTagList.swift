public import HTTPTypes

/// The value of `If-Match` or `If-None-Match` (RFC 9110 sections 13.1.1 and 13.1.2): `*` or a list of entity tags.
///
/// Lists are parsed as RFC 9110 section 5.6.1.2 requires of recipients: empty elements and whitespace around commas are
/// ignored. A comma inside quotes belongs to the tag. A malformed element (an unquoted word, a lower-case `w/`, a lone
/// quote, bytes that are not UTF-8) is skipped up to the next comma outside quotes, and matches nothing. `*` is valid
/// only alone; beside any other element, a second `*` included, it is malformed.
///
///     let fields: HTTPFields = [.ifNoneMatch: #""a", W/"b""#]
///     if case .tags(let tags)? = EntityTagList(fields: fields, name: .ifNoneMatch) {
///       print(tags.map(\.opaque))  // ["a", "b"]
///     }
public enum EntityTagList: Hashable, Sendable {
  /// `*`: any current representation.
  case any
  /// The well-formed tags in order; empty if the field is present but has none.
  case tags([EntityTag])

  /// Parses all field lines called `name`. Each line is parsed separately, so an open quote in one does not affect the
  /// others.
  ///
  /// - Returns: nil if there is no such line.
  public init?(fields: HTTPFields, name: HTTPField.Name) {
    var isPresent = false
    var members = 0
    var sawAny = false
    var tags: [EntityTag] = []
    for field in fields where field.name == name {
      isPresent = true
      field.withUnsafeBytesOfValue { buffer in
        let bytes = buffer.span
        var position = 0
        while let member = EntityTagListMember.next(in: bytes, from: &position) {
          members += 1
          switch member {
          case .any: sawAny = true
          case .malformed: break
          case .tag(let syntax): if let tag = EntityTag(syntax, in: bytes) { tags.append(tag) }
          }
        }
      }
    }
    guard isPresent else { return nil }
    self = sawAny && members == 1 ? .any : .tags(tags)
  }
}

/// The position of an entity tag in the bytes of a field value.
struct EntityTagSyntax {
  var isWeak: Bool
  /// The range of the opaque part, between the quotes.
  var opaque: Range<Int>
  /// The index after the closing quote.
  var end: Int { opaque.upperBound + 1 }

  init(isWeak: Bool, opaque: Range<Int>) {
    self.isWeak = isWeak
    self.opaque = opaque
  }

  /// Parses `[ %s"W/" ] DQUOTE *etagc DQUOTE` (RFC 9110 section 8.8.3); nil if that is not at `start`.
  init?(_ bytes: Span<UInt8>, at start: Int) {
    var index = start
    var isWeak = false
    if index + 1 < bytes.count, bytes[index] == UInt8(ascii: "W"), bytes[index + 1] == .slash {
      isWeak = true
      index += 2
    }
    guard index < bytes.count, bytes[index] == .quote else { return nil }
    index += 1
    let opaqueStart = index
    while index < bytes.count, bytes[index].isEntityTagCharacter { index += 1 }
    guard index < bytes.count, bytes[index] == .quote else { return nil }
    self.init(isWeak: isWeak, opaque: opaqueStart..<index)
  }
}

/// One element of the list. ``EntityTagList`` and ``Preconditions`` share this scanner.
enum EntityTagListMember {
  case any
  case tag(EntityTagSyntax)
  case malformed

  /// Returns the next element at or after `position`, and moves `position` behind it; nil at the end.
  static func next(in bytes: Span<UInt8>, from position: inout Int) -> EntityTagListMember? {
    let start = bytes.indexOfListMember(from: position)
    guard start < bytes.count else {
      position = start
      return nil
    }
    var member = EntityTagListMember.malformed
    var end = start
    if bytes[start] == .asterisk {
      member = .any
      end = start + 1
    } else if let syntax = EntityTagSyntax(bytes, at: start) {
      member = .tag(syntax)
      end = syntax.end
    }
    if end > start {
      let delimiter = bytes.indexAfterWhitespace(from: end)
      if delimiter == bytes.count || bytes[delimiter] == .comma {
        position = delimiter
        return member
      }
    }
    position = indexOfUnquotedComma(in: bytes, from: start)
    return .malformed
  }

  private static func indexOfUnquotedComma(in bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    var isQuoted = false
    while index < bytes.count, isQuoted || bytes[index] != .comma {
      if bytes[index] == .quote { isQuoted.toggle() }
      index += 1
    }
    return index
  }
}
