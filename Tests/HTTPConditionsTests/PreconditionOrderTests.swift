import Foundation
import HTTPConditions
import HTTPTypes
import Testing

@Suite struct `The order of preconditions (RFC 9110 section 13.2)` {
  /// One way to send or omit a field, and the outcome of its condition for a current representation: nil if the field
  /// is absent or to be ignored.
  private struct Variant: Sendable {
    var value: String?
    var holds: @Sendable (Current) -> Bool?

    init(_ value: String?, _ holds: @escaping @Sendable (Current) -> Bool?) {
      self.value = value
      self.holds = holds
    }
  }

  private enum Current: CaseIterable, Sendable {
    case none, tagAndDate, tagOnly, dateOnly

    var exists: Bool { self != .none }
    var hasTag: Bool { self == .tagAndDate || self == .tagOnly }
    var hasDate: Bool { self == .tagAndDate || self == .dateOnly }

    var validators: Validators? {
      let (tag, date) = (EntityTag(strong: "a"), Date(timeIntervalSince1970: 783_459_811))
      return switch self {
      case .none: nil
      case .tagAndDate: Validators(entityTag: tag, lastModified: date)
      case .tagOnly: Validators(entityTag: tag)
      case .dateOnly: Validators(lastModified: date)
      }
    }
  }

  private static let ifMatch = [
    Variant(nil) { _ in nil },
    Variant("*") { $0.exists },
    Variant("\"x\", \"a\"") { $0.hasTag },
    Variant("\"x\"") { _ in false },
    Variant("W/\"a\"") { _ in false },
    Variant("?") { _ in false },
  ]
  private static let ifNoneMatch = [
    Variant(nil) { _ in nil },
    Variant("*") { !$0.exists },
    Variant("\"x\", \"a\"") { !$0.hasTag },
    Variant("W/\"a\"") { !$0.hasTag },
    Variant("\"x\"") { _ in true },
  ]
  private static let ifUnmodifiedSince = [
    Variant(nil) { _ in nil },
    Variant("Sat, 29 Oct 1994 19:43:30 GMT") { $0.hasDate ? false : nil },
    Variant("Sat, 29 Oct 1994 19:43:31 GMT") { $0.hasDate ? true : nil },
    Variant("Sat, 29 Oct 1994 19:43:32 GMT") { $0.hasDate ? true : nil },
    Variant("nonsense") { _ in nil },
  ]
  private static let ifModifiedSince = [
    Variant(nil) { _ in nil },
    Variant("Sat, 29 Oct 1994 19:43:30 GMT") { $0.hasDate ? true : nil },
    Variant("Sat, 29 Oct 1994 19:43:31 GMT") { $0.hasDate ? false : nil },
    Variant("Sat, 29 Oct 1994 19:43:32 GMT") { $0.hasDate ? false : nil },
    Variant("nonsense") { _ in nil },
  ]

  /// A request with one variant of each field.
  private struct Request: Sendable {
    var match: Variant
    var unmodified: Variant
    var noneMatch: Variant
    var modified: Variant

    var lines: [String] {
      [
        ("If-Match", match.value), ("If-Unmodified-Since", unmodified.value), ("If-None-Match", noneMatch.value),
        ("If-Modified-Since", modified.value),
      ].compactMap { name, value in value.map { "\(name): \($0)" } }
    }

    /// Evaluates steps 1 to 4 of section 13.2.2 literally.
    func expectedResult(_ method: HTTPRequest.Method, _ current: Current) -> PreconditionResult {
      let isRead = method == .get || method == .head
      // 1. "When ... If-Match is present, evaluate the If-Match precondition: ... if false, respond 412"
      if match.value != nil, match.holds(current) == false { return .failed }
      // 2. "When ... If-Match is not present, and If-Unmodified-Since is present, evaluate ...: if false, respond 412"
      if match.value == nil, unmodified.holds(current) == false { return .failed }
      // 3. "When If-None-Match is present, evaluate ...: if false for GET/HEAD, respond 304"; 412 for other methods
      if noneMatch.value != nil, noneMatch.holds(current) == false { return isRead ? .notModified : .failed }
      // 4. "When the method is GET or HEAD, If-None-Match is not present, ...: if false, respond 304"
      if isRead, noneMatch.value == nil, modified.holds(current) == false { return .notModified }
      return .proceed
    }
  }

  private static let requests = ifMatch.flatMap { match in
    ifUnmodifiedSince.flatMap { unmodified in
      ifNoneMatch.flatMap { noneMatch in
        ifModifiedSince.map { modified in
          Request(match: match, unmodified: unmodified, noneMatch: noneMatch, modified: modified)
        }
      }
    }
  }

  @Test(arguments: [HTTPRequest.Method.get, .head, .put, .post, .patch, .delete])
  func `Every combination of fields is evaluated in the order of the steps`(_ method: HTTPRequest.Method) {
    var seen: Set<PreconditionResult> = []
    for current in Current.allCases {
      for request in Self.requests {
        let expected = request.expectedResult(method, current)
        seen.insert(expected)
        // The order of the field lines has no meaning.
        for lines in [request.lines, request.lines.reversed()] {
          let conditions = Preconditions(fields: HTTPFields(lines: lines))
          #expect(conditions.evaluate(method: method, current: current.validators) == expected, "\(current) \(lines)")
        }
      }
    }
    #expect(seen.count == (method == .get || method == .head ? 3 : 2))
  }

  @Test(arguments: [HTTPRequest.Method.connect, .options, .trace])
  func `A method that involves no selected representation ignores all of them`(_ method: HTTPRequest.Method) {
    let current = Validators(entityTag: EntityTag(strong: "a"), lastModified: Date(timeIntervalSince1970: 783_459_811))
    for line in [
      "If-Match: \"x\"", "If-None-Match: *", "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:30 GMT",
      "If-Modified-Since: Sat, 29 Oct 1994 19:43:32 GMT",
    ] {
      let conditions = Preconditions(fields: HTTPFields(lines: [line]))
      #expect(conditions.evaluate(method: method, current: current) == .proceed)
      #expect(conditions.evaluate(method: method, current: nil) == .proceed)
    }
  }

  @Test func `Without conditions every method proceeds`() {
    let conditions = Preconditions(
      fields: HTTPFields(lines: ["Host: a", "If: (<x>)", "I-Am: here", "Range: bytes=0-"]))
    #expect(conditions.isEmpty)
    for method in [HTTPRequest.Method.get, .head, .put, .post, .patch, .delete] {
      #expect(conditions.evaluate(method: method, current: nil) == .proceed)
      #expect(conditions.evaluate(method: method, current: Validators(entityTag: EntityTag(strong: "a"))) == .proceed)
    }
  }

  @Test(arguments: ["If-Match", "if-none-match", "IF-MODIFIED-SINCE", "If-Unmodified-Since", "If-range"])
  func `Every condition is recognised in any case of its name`(_ name: String) {
    #expect(!Preconditions(fields: HTTPFields(lines: ["\(name): x"])).isEmpty)
  }
}
