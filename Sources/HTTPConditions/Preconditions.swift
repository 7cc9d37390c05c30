public import Foundation
public import HTTPTypes

/// The outcome of evaluating a request's preconditions.
///
///     func status(for result: PreconditionResult) -> HTTPResponse.Status {
///       switch result {
///       case .proceed: .ok
///       case .notModified: .notModified
///       case .failed: .preconditionFailed
///       }
///     }
public enum PreconditionResult: Hashable, Sendable {
  /// Every condition holds, or the request has none: process the request.
  case proceed
  /// A 304 Not Modified response, for GET and HEAD only.
  case notModified
  /// A 412 Precondition Failed response.
  case failed
}

/// The preconditions of a request (RFC 9110 section 13.1).
///
/// Evaluate them only if the response without them would be 2xx or 412 (RFC 9110 section 13.2.1). For example, the 410
/// of an expired token takes precedence over a matching tag. Nothing is parsed before
/// ``evaluate(method:current:now:)``. A request without conditions costs one pass over its field names and no
/// allocation.
///
/// A date that is malformed or has several values is ignored, as sections 13.1.3 and 13.1.4 require. A malformed
/// element in a list of tags matches nothing. In the `If-None-Match` of a write, it fails the request if a
/// representation exists: an unreadable condition must not let an overwrite through.
///
///     let fields: HTTPFields = [.ifNoneMatch: #""x1""#]
///     let current = Validators(entityTag: EntityTag(strong: "x1"))
///     let result = Preconditions(fields: fields).evaluate(method: .get, current: current)
///     print(result == .notModified)  // true
public struct Preconditions: Sendable {
  private enum Condition {
    case ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince, ifRange

    init?(canonicalName: String) {
      // Two bytes rule out most names.
      let bytes = canonicalName.utf8
      guard bytes.first == UInt8(ascii: "i"), bytes.dropFirst(2).first == .hyphen else { return nil }
      switch canonicalName {
      case "if-match": self = .ifMatch
      case "if-none-match": self = .ifNoneMatch
      case "if-modified-since": self = .ifModifiedSince
      case "if-unmodified-since": self = .ifUnmodifiedSince
      case "if-range": self = .ifRange
      default: return nil
      }
    }
  }

  private struct Line {
    var condition: Condition
    var field: HTTPField
  }

  /// The field lines with a condition. Most requests have none, so the array has no storage.
  private var lines: [Line] = []

  /// Selects the conditions from the header fields of a request.
  public init(fields: HTTPFields) {
    for field in fields {
      guard let condition = Condition(canonicalName: field.name.canonicalName) else { continue }
      lines.append(Line(condition: condition, field: field))
    }
  }

  /// Whether the request has no `If-*` field of RFC 9110 at all, `If-Range` included.
  public var isEmpty: Bool { lines.isEmpty }

  /// Evaluates the conditions in the order of RFC 9110 section 13.2.2, steps 1 to 4. Step 5, `If-Range`, is
  /// ``rangeApplies(current:now:)``.
  ///
  /// - Parameters:
  ///   - method: The request's method. CONNECT, OPTIONS and TRACE select no representation and always proceed (section
  ///     13.2.1).
  ///   - current: The validators of the current representation; nil if there is none, as for a resource that a PUT
  ///     would create.
  ///   - now: The clock for two-digit years, evaluated only for a date in the obsolete RFC 850 format.
  public func evaluate(
    method: HTTPRequest.Method, current: Validators?, now: @autoclosure () -> Date = Date()
  ) -> PreconditionResult {
    if lines.isEmpty || method == .options || method == .trace || method == .connect { return .proceed }
    let isRead = method == .get || method == .head
    if has(.ifMatch) {
      guard ifMatchHolds(current: current) else { return .failed }
    } else if let limit = date(of: .ifUnmodifiedSince, now: now), let modified = current?.modifiedSecond {
      guard modified <= limit else { return .failed }
    }
    if has(.ifNoneMatch) {
      guard ifNoneMatchHolds(current: current, isRead: isRead) else { return isRead ? .notModified : .failed }
    } else if isRead, let limit = date(of: .ifModifiedSince, now: now), let modified = current?.modifiedSecond {
      guard modified > limit else { return .notModified }
    }
    return .proceed
  }

  /// Whether to honour a `Range` field: true without `If-Range`, otherwise the result of its condition (RFC 9110
  /// section 13.1.5).
  ///
  /// A tag is compared strongly, including the suffix of a compressed variant, because parts of two variants must not
  /// be combined. A date must be equal to a strong `Last-Modified`. A malformed or repeated field yields false: the
  /// response is then the whole representation, which is always correct.
  ///
  /// - Parameters:
  ///   - current: The validators of the representation that would be sent.
  ///   - now: The clock for two-digit years, evaluated only for a date in the obsolete RFC 850 format.
  public func rangeApplies(current: Validators, now: @autoclosure () -> Date = Date()) -> Bool {
    guard has(.ifRange) else { return true }
    guard let field = onlyField(of: .ifRange) else { return false }
    return field.withUnsafeBytesOfValue { buffer in
      let bytes = buffer.span
      let content = bytes.fieldContent
      if let syntax = EntityTagSyntax(bytes, at: content.lowerBound) {
        guard syntax.end == content.upperBound, let tag = current.entityTag else { return false }
        return tag.matches(syntax, in: bytes, .strong)
      }
      guard current.isLastModifiedStrong, let modified = current.modifiedSecond else { return false }
      return HTTPDate.seconds(parsing: bytes, now: now) == modified
    }
  }
}

extension Preconditions {
  private func has(_ condition: Condition) -> Bool {
    lines.contains { $0.condition == condition }
  }

  /// Returns the field of a condition that takes one value; nil if it is absent or repeated.
  private func onlyField(of condition: Condition) -> HTTPField? {
    var found: HTTPField?
    for line in lines where line.condition == condition {
      guard found == nil else { return nil }
      found = line.field
    }
    return found
  }

  private func date(of condition: Condition, now: () -> Date) -> Int64? {
    onlyField(of: condition)?.withUnsafeBytesOfValue { HTTPDate.seconds(parsing: $0.span, now: now) }
  }

  /// Whether `If-Match` holds (RFC 9110 section 13.1.1): false without a current representation, even for `*`.
  private func ifMatchHolds(current: Validators?) -> Bool {
    guard let current else { return false }
    let outcome = scan(.ifMatch, for: current.entityTag, .strong)
    return outcome.isAny || outcome.isMatch
  }

  /// Whether `If-None-Match` holds (RFC 9110 section 13.1.2): true without a current representation, even for `*`.
  private func ifNoneMatchHolds(current: Validators?, isRead: Bool) -> Bool {
    guard let current else { return true }
    let outcome = scan(.ifNoneMatch, for: current.entityTag, .weak)
    if outcome.isAny || outcome.isMatch { return false }
    return isRead || !outcome.hasMalformedMember
  }

  private struct Scan {
    var members = 0
    var sawAny = false
    var isMatch = false
    var sawMalformed = false

    /// Whether the field is a lone `*`. Beside other members, `*` is malformed.
    var isAny: Bool { sawAny && members == 1 }
    var hasMalformedMember: Bool { sawMalformed || (sawAny && members > 1) }
  }

  /// Compares each listed tag in place, without building a list.
  private func scan(_ condition: Condition, for tag: EntityTag?, _ comparison: EntityTag.Comparison) -> Scan {
    var scan = Scan()
    for line in lines where line.condition == condition {
      line.field.withUnsafeBytesOfValue { buffer in
        let bytes = buffer.span
        var position = 0
        while let member = EntityTagListMember.next(in: bytes, from: &position) {
          scan.members += 1
          switch member {
          case .any: scan.sawAny = true
          case .malformed: scan.sawMalformed = true
          case .tag(let syntax):
            if let tag, tag.matches(syntax, in: bytes, comparison) { scan.isMatch = true }
          }
        }
      }
    }
    return scan
  }
}

extension Validators {
  fileprivate var modifiedSecond: Int64? { lastModified.map(HTTPDate.seconds(of:)) }
}
