public import HTTPTypes

/// The `Accept-Encoding` of a request (RFC 9110 section 12.5.3).
///
/// Malformed elements, and elements with a malformed weight, are ignored. If a coding is listed twice, the smaller
/// weight applies: a coding that is refused anywhere is not sent.
///
///     let fields: HTTPFields = [.acceptEncoding: "gzip;q=0.5, br"]
///     let coding = AcceptEncoding(fields: fields).preferredCoding(among: [.gzip, .identity])
///     print(coding == .gzip)  // true
public struct AcceptEncoding: Hashable, Sendable {
  /// The weights in thousandths; nil for a coding that is not listed.
  private var gzip: Int?
  private var identity: Int?
  private var anyOther: Int?
  private var isPresent = false

  /// Parses all `Accept-Encoding` lines; allocates nothing.
  public init(fields: HTTPFields) {
    for field in fields where field.name == .acceptEncoding {
      isPresent = true
      field.withUnsafeBytesOfValue { read($0.span) }
    }
  }

  /// Returns the coding for the response.
  ///
  /// The greatest weight wins. Among equal weights, the coding that the server names first wins. `identity` need not be
  /// listed, but any other acceptable coding is then preferred: a client that lists `gzip;q=0.5` alone wants gzip.
  ///
  /// Without the field every coding is acceptable. `identity` is then chosen, because many clients that send no field
  /// decode no coding.
  ///
  /// - Parameter codings: The codings that the server offers, best first.
  /// - Returns: The coding, or nil if none is acceptable. The server may then answer 406 or ignore the field.
  public func preferredCoding(among codings: [ContentCoding]) -> ContentCoding? {
    guard isPresent else { return codings.contains(.identity) ? .identity : codings.first }
    var best: (coding: ContentCoding, rank: Int)?
    for coding in codings {
      let rank = rank(of: coding)
      if rank > best?.rank ?? 0 { best = (coding, rank) }
    }
    return best?.coding
  }

  /// Returns twice the weight, so that an unlisted `identity` ranks between 0 and the least weight.
  private func rank(of coding: ContentCoding) -> Int {
    switch coding {
    case .gzip: 2 * (gzip ?? anyOther ?? 0)
    case .identity: (identity ?? anyOther).map { 2 * $0 } ?? 1
    }
  }

  private mutating func read(_ bytes: Span<UInt8>) {
    var position = bytes.indexOfListMember(from: 0)
    while position < bytes.count {
      var end = position
      while end < bytes.count, bytes[end] != .comma { end += 1 }
      readMember(bytes, position..<end)
      position = bytes.indexOfListMember(from: end)
    }
  }

  /// Parses `codings [ weight ]`.
  private mutating func readMember(_ bytes: Span<UInt8>, _ member: Range<Int>) {
    var end = member.lowerBound
    while end < member.upperBound, bytes[end] != .semicolon, !bytes[end].isFieldWhitespace { end += 1 }
    let name = member.lowerBound..<end
    guard let weight = Self.weight(bytes, end..<member.upperBound) else { return }
    if bytes.spells("gzip", in: name) || bytes.spells("x-gzip", in: name) {
      gzip = min(gzip ?? weight, weight)
    } else if bytes.spells("identity", in: name) {
      identity = min(identity ?? weight, weight)
    } else if bytes.spells("*", in: name) {
      anyOther = min(anyOther ?? weight, weight)
    }
  }

  /// Parses `[ OWS ";" OWS "q=" qvalue ]` in thousandths (RFC 9110 section 12.4.2); 1000 if absent, nil if malformed.
  private static func weight(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
    var end = range.upperBound
    while end > range.lowerBound, bytes[end - 1].isFieldWhitespace { end -= 1 }
    if end == range.lowerBound { return 1000 }
    var index = bytes.indexAfterWhitespace(from: range.lowerBound)
    guard index < end, bytes[index] == .semicolon else { return nil }
    index = bytes.indexAfterWhitespace(from: index + 1)
    guard index + 2 < end, bytes.spells("q=", in: index..<index + 2) else { return nil }
    index += 2
    // One digit, then at most a dot and three digits.
    guard end - index <= 5, let whole = bytes[index].digitValue else { return nil }
    var weight = whole * 1000
    var unit = 100
    for fraction in index + 1..<end {
      if fraction == index + 1 {
        guard bytes[fraction] == .dot else { return nil }
        continue
      }
      guard let digit = bytes[fraction].digitValue else { return nil }
      weight += digit * unit
      unit /= 10
    }
    return weight <= 1000 ? weight : nil
  }
}

/// A content coding that the server can answer in (RFC 9110 section 8.4.1).
///
///     let coding = ContentCoding.gzip
///     if coding != .identity { print("Content-Encoding: \(coding.rawValue)") }  // Content-Encoding: gzip
public enum ContentCoding: String, CaseIterable, Hashable, Sendable {
  /// No coding. The name is used in `Accept-Encoding` only, never in `Content-Encoding`.
  case identity
  /// The gzip format of RFC 1952. `x-gzip` in a request means the same (RFC 9110 section 8.4.1.3).
  case gzip

  /// The suffix of the entity tag of a variant in this coding; empty for `identity`.
  var entityTagSuffix: String {
    switch self {
    case .identity: ""
    case .gzip: "-gz"
    }
  }
}
