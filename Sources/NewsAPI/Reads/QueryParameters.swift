package import Foundation
import Hummingbird
package import News
import NewsStore

/// The query of a request, read parameter by parameter. Errors are collected, so that one answer reports them together;
/// `check()` ends the reading.
package struct QueryParameters {
  private var values: [String: String] = [:]
  private var errors = FieldErrors()

  /// Splits the query; a parameter that is not known here, comes twice, or is empty is an error, never ignored.
  ///
  /// - Parameters:
  ///   - query: As it stands in the target of the request, without the question mark.
  ///   - known: The names that the route reads.
  package init(_ query: String?, known: Set<String>) {
    // By bytes: a comparison of characters takes quadratic time in their combining characters.
    for pair in (query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        .map { Substring($0) }
      // Hashing a name takes time that grows with the square of its combining characters.
      guard parts[0].utf8.count <= 64, let name = Self.decode(parts[0]), known.contains(name) else {
        refuse(FieldErrors.shortened(parts[0]), "is not a parameter of this resource")
        continue
      }
      guard parts.count == 2, !parts[1].isEmpty else {
        refuse(name, "must not be empty")
        continue
      }
      guard let value = Self.decode(parts[1]) else {
        refuse(name, "must be UTF-8, percent-encoded")
        continue
      }
      // PostgreSQL's text cannot hold it, and no parameter has a use for it.
      guard !value.utf8.contains(0) else {
        refuse(name, "must not contain U+0000")
        continue
      }
      guard values.updateValue(value, forKey: name) == nil else {
        refuse(name, "must not be repeated")
        continue
      }
    }
  }

  /// Throws if anything read so far was wrong.
  package func check() throws {
    guard errors.isEmpty else { throw ProblemError.invalidParameters(errors.list) }
  }

  mutating func refuse(_ name: String, _ rule: String) {
    errors.append(name, rule)
  }

  /// Takes what a parameter stands for; what `convert` does not accept breaks the rule.
  mutating func value<Value>(_ name: String, rule: String, _ convert: (String) -> Value?) -> Value? {
    guard let text = values[name] else { return nil }
    guard let value = convert(text) else {
      refuse(name, rule)
      return nil
    }
    return value
  }

  package mutating func integer(_ name: String, in range: ClosedRange<Int>, default standard: Int) -> Int {
    integer(name, in: range) ?? standard
  }

  package mutating func integer(_ name: String, in range: ClosedRange<Int>) -> Int? {
    value(name, rule: "must be a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
      // Int() would accept a sign too.
      guard text.utf8.allSatisfy({ 48...57 ~= $0 }), let number = Int(text), range ~= number else { return nil }
      return number
    }
  }

  package mutating func date(_ name: String) -> Date? {
    value(name, rule: "must be an RFC 3339 date such as 2026-11-21T08:30:00Z (write + as %2B)") { text in
      RFC3339.date(from: text).map(RFC3339.truncated)
    }
  }

  package mutating func token(_ name: String) -> SyncToken? {
    value(name, rule: "must be a token that this server gave out") { SyncToken($0) }
  }

  /// The scope of `topics=a,b`; the feed where it is absent.
  package mutating func scope() -> Scope {
    value("topics", rule: "must be 1 to 32 topics, separated by commas, each [a-z0-9-]{1,64}") { text in
      let slugs = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { Substring($0) }
      guard slugs.count <= 32, slugs.allSatisfy({ TopicSlug.isValid($0) }) else { return nil }
      return Scope(topics: slugs.map(String.init))
    } ?? .feed
  }

  /// Whether `include=html` asks for it.
  package mutating func includesHTML() -> Bool {
    value("include", rule: "must be html") { $0.utf8.elementsEqual("html".utf8) ? true : nil } ?? false
  }

  package mutating func text(_ name: String, maximumBytes: Int) -> String? {
    value(name, rule: "must have \(maximumBytes) bytes at most") { $0.utf8.count <= maximumBytes ? $0 : nil }
  }

  /// Percent-decodes; `+` is a space, as in forms (URL standard, section 5.1).
  private static func decode(_ text: Substring) -> String? {
    let plus = UInt8(ascii: "+")
    return String(decoding: text.utf8.map { $0 == plus ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
      .removingPercentEncoding
  }
}

extension Request {
  /// The query, of which the route knows these parameters.
  func parameters(_ known: Set<String> = []) -> QueryParameters {
    QueryParameters(uri.query, known: known)
  }
}

extension APIContext {
  /// The id in the path.
  ///
  /// - Throws: 404 for what cannot be an id.
  func itemID() throws -> UUID {
    try resourceID("item")
  }

  /// The id in the path, which becomes the subject of the request's log lines.
  ///
  /// - Parameter subject: The kind of resource: `item` or `media`.
  /// - Throws: 404 for what cannot be an id.
  func resourceID(_ subject: String) throws -> UUID {
    guard let text = parameters.get("id"), let id = UUID(uuidString: text) else { throw ProblemError(.notFound) }
    record.setSubject(subject, id.uuidString.lowercased())
    return id
  }

  /// The slug in the path.
  ///
  /// - Throws: 404 for what cannot be a slug.
  func topicSlug() throws -> String {
    guard let slug = parameters.get("slug"), TopicSlug.isValid(slug) else { throw ProblemError(.notFound) }
    record.setSubject("topic", slug)
    return slug
  }
}
