public import HTTPTypes

/// The outcome of evaluating a `Range` field for a representation of known length (RFC 9110 sections 14.1 and 14.2).
///
/// Evaluate preconditions and `If-Range` first: a range matters only if the response would be 200.
///
///     let fields: HTTPFields = [.range: "bytes=0-499"]
///     switch RangeRequest(fields: fields, method: .get, length: 1234) {
///     case .ignored: print("200")
///     case .unsatisfiable: print("416", ContentRange.unsatisfiable(length: 1234))
///     case .ranges(let ranges): print("206", ContentRange.satisfied(ranges[0], length: 1234))
///     }
public enum RangeRequest: Hashable, Sendable {
  /// A response with the whole representation, because there is no `Range`, the method is not GET, the unit is unknown,
  /// or the field is malformed. Section 14.2 also lets a server ignore too many ranges, and more than two that overlap.
  case ignored
  /// A 416 response with ``ContentRange/unsatisfiable(length:)``.
  case unsatisfiable
  /// The satisfiable ranges in the order of the request, none empty and all within the representation. A server may
  /// answer several ranges with the whole representation.
  case ranges([Range<Int>])

  /// Evaluates the `Range` field of a request.
  ///
  /// - Parameters:
  ///   - fields: The header fields of the request. `Range` is not a list field, so two lines are malformed.
  ///   - method: The method; section 14.2 defines ranges for GET alone.
  ///   - length: The length of the representation in bytes, at least 0.
  ///   - maximumRanges: The maximum number of ranges; a request for more is ignored.
  public init(fields: HTTPFields, method: HTTPRequest.Method, length: Int, maximumRanges: Int = 8) {
    self = .ignored
    guard method == .get else { return }
    var found: HTTPField?
    for field in fields where field.name == .range {
      guard found == nil else { return }
      found = field
    }
    guard let found else { return }
    self = found.withUnsafeBytesOfValue { buffer in
      RangeRequest(bytes: buffer.span, length: length, maximumRanges: maximumRanges)
    }
  }

  /// Evaluates the value of a `Range` field.
  ///
  /// - Parameters:
  ///   - fieldValue: The value of `Range`; whitespace around it is ignored.
  ///   - length: The length of the representation in bytes, at least 0.
  ///   - maximumRanges: The maximum number of ranges; a request for more is ignored.
  public init(fieldValue: some StringProtocol, length: Int, maximumRanges: Int = 8) {
    self = fieldValue.withFieldBytes { RangeRequest(bytes: $0, length: length, maximumRanges: maximumRanges) }
  }

  private init(bytes: Span<UInt8>, length: Int, maximumRanges: Int) {
    precondition(length >= 0, "a representation has no negative length")
    self = .ignored
    let content = bytes.fieldContent
    let bytes = bytes.extracting(content)
    // Range units are case-insensitive (section 14.1).
    guard bytes.count > 6, bytes.spells("bytes=", in: 0..<6) else { return }
    var ranges: [Range<Int>] = []
    var count = 0
    var position = bytes.indexOfListMember(from: 6)
    while position < bytes.count {
      count += 1
      guard count <= maximumRanges, let spec = ByteRangeSpec(bytes, at: &position) else { return }
      if let range = spec.range(in: length) { ranges.append(range) }
      position = bytes.indexAfterWhitespace(from: position)
      guard position == bytes.count || bytes[position] == .comma else { return }
      position = bytes.indexOfListMember(from: position)
    }
    guard count > 0 else { return }
    if ranges.isEmpty {
      self = .unsatisfiable
    } else if !ranges.contains(where: \.isEmpty), !Self.overlapTooMuch(ranges) {
      self = .ranges(ranges)
    }
  }

  /// Whether more than two ranges overlap, a sign of a broken client or an attack (section 14.2). There are at most
  /// `maximumRanges`, so comparing every pair is cheap.
  private static func overlapTooMuch(_ ranges: [Range<Int>]) -> Bool {
    var overlapping = 0
    for (index, range) in ranges.enumerated() {
      let meets = ranges.indices.contains { $0 != index && ranges[$0].overlaps(range) }
      if meets { overlapping += 1 }
    }
    return overlapping > 2
  }
}

/// One `int-range` or `suffix-range` (RFC 9110 section 14.1.1).
private enum ByteRangeSpec {
  case from(Int)
  case closed(first: Int, last: Int)
  case suffix(Int)

  /// Parses the spec at `position`, and moves `position` behind it; nil if it is malformed or its end precedes its
  /// start.
  init?(_ bytes: Span<UInt8>, at position: inout Int) {
    if bytes[position] == .hyphen {
      position += 1
      guard let length = DecimalNumber(bytes, at: &position) else { return nil }
      self = .suffix(length.value)
      return
    }
    guard let first = DecimalNumber(bytes, at: &position), position < bytes.count, bytes[position] == .hyphen else {
      return nil
    }
    position += 1
    guard let last = DecimalNumber(bytes, at: &position) else {
      self = .from(first.value)
      return
    }
    if last.isLess(than: first, in: bytes) { return nil }
    self = .closed(first: first.value, last: last.value)
  }

  /// Returns the bytes that the spec selects in a representation of `length` bytes; nil if it is unsatisfiable (section
  /// 14.1.2).
  ///
  /// For an empty representation, a suffix is satisfiable and selects an empty range. `Content-Range` cannot express an
  /// empty range, so the caller answers 200.
  func range(in length: Int) -> Range<Int>? {
    switch self {
    case .from(let first):
      first < length ? first..<length : nil
    case .closed(let first, let last):
      first < length ? first..<(last < length ? last + 1 : length) : nil
    case .suffix(let count):
      count > 0 ? max(0, length - count)..<length : nil
    }
  }
}

/// A decimal number `1*DIGIT` of any size: "recipients MUST anticipate potentially large decimal numerals" (section
/// 14.1.2).
private struct DecimalNumber {
  /// The number, or `Int.max` if it is greater.
  var value: Int
  /// The position of its digits, without leading zeros.
  var digits: Range<Int>

  /// Parses the number at `position`, and moves `position` behind it; nil, without a move, if there is no digit.
  init?(_ bytes: Span<UInt8>, at position: inout Int) {
    var index = position
    var start = position
    value = 0
    while index < bytes.count, let digit = bytes[index].digitValue {
      if value == 0 { start = index }
      let (product, productOverflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, sumOverflow) = product.addingReportingOverflow(digit)
      value = productOverflow || sumOverflow ? Int.max : sum
      index += 1
    }
    guard index > position else { return nil }
    position = index
    digits = start..<index
  }

  /// Whether the number is less than another. It compares digits, because two numbers beyond `Int.max` may still be in
  /// the wrong order.
  func isLess(than other: DecimalNumber, in bytes: Span<UInt8>) -> Bool {
    if digits.count != other.digits.count { return digits.count < other.digits.count }
    for offset in 0..<digits.count {
      let own = bytes[digits.lowerBound + offset]
      let others = bytes[other.digits.lowerBound + offset]
      if own != others { return own < others }
    }
    return false
  }
}
