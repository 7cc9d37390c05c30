package import Foundation
import HTTPEdge
import Hummingbird
package import News
import NewsStore

/// Reads the query of a request parameter by parameter. Errors are collected, so that one response reports them together.
/// `check()` throws them.
package struct QueryParameters {
  /// The number of parameters that are read, far more than any route has. Each takes microseconds of a thread for which others
  /// wait, and a header has room for 8,000.
  private static let maximumRead = 256

  private var values: [String: String] = [:]
  private var errors = FieldErrors()

  /// Splits the query. An unknown, repeated or empty parameter is an error, and so is each after the first 256.
  ///
  /// - Parameters:
  ///   - query: The text after the question mark of the target.
  ///   - known: The names of the route's parameters.
  package init(_ query: String?, known: Set<String>) {
    // Bytes are compared: a comparison of characters takes quadratic time in their combining characters.
    let pairs = (query ?? "").utf8.split(separator: UInt8(ascii: "&"))
    defer { errors.append(unnamed: max(0, pairs.count - Self.maximumRead)) }
    for pair in pairs.prefix(Self.maximumRead) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        .map { Substring($0) }
      // Hashing a name takes time that grows with the square of its combining characters.
      guard parts[0].utf8.count <= 64, let name = Self.decode(parts[0]), known.contains(name) else {
        refuse(FieldErrors.shortened(parts[0]), .knownParameter)
        continue
      }
      guard parts.count == 2, !parts[1].isEmpty else {
        refuse(name, .notEmpty)
        continue
      }
      guard let value = Self.decode(parts[1]) else {
        refuse(name, "must be percent-encoded UTF-8")
        continue
      }
      // PostgreSQL's `text` cannot hold U+0000.
      guard !value.utf8.contains(0) else {
        refuse(name, "must not contain U+0000")
        continue
      }
      guard value.isStreamSafe else {
        refuse(name, "must not have more than 30 combining marks in a row")
        continue
      }
      guard values.updateValue(value, forKey: name) == nil else {
        refuse(name, .notRepeated)
        continue
      }
    }
  }

  /// Ends the reading.
  ///
  /// - Throws: `ProblemError`, 400, that names the parameters and rules, if any parameter was invalid.
  package func check() throws {
    guard errors.isEmpty else { throw ProblemError.invalidParameters(errors.list) }
  }

  mutating func refuse(_ name: String, _ rule: FieldRule) {
    errors.append(name, rule)
  }

  /// Reads a parameter. A text for which `convert` returns nil breaks the rule.
  package mutating func value<Value>(_ name: String, rule: FieldRule, _ convert: (String) -> Value?) -> Value? {
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
    value(name, rule: .number(range)) { text in
      // Int() would accept a sign as well.
      guard text.utf8.allSatisfy(\.isASCIIDigit), let number = Int(text), range ~= number else { return nil }
      return number
    }
  }

  package mutating func date(_ name: String) -> Date? {
    value(name, rule: "must be an RFC 3339 date such as 2026-11-21T08:30:00Z (write + as %2B)") { text in
      RFC3339.date(from: text).map(RFC3339.truncated)
    }
  }

  package mutating func token(_ name: String) -> SyncToken? {
    value(name, rule: "must be a token issued by this server") { SyncToken($0) }
  }

  /// Reads the scope from `topics=a,b`; the feed if the parameter is absent.
  package mutating func scope() -> Scope {
    value("topics", rule: "must be 1 to 32 topics separated by commas, each matching [a-z0-9-]{1,64}") { text in
      let slugs = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { Substring($0) }
      guard slugs.count <= 32, slugs.allSatisfy({ TopicSlug.isValid($0) }) else { return nil }
      return Scope(topics: slugs.map(String.init))
    } ?? .feed
  }

  /// Reads whether `include=html` is set.
  package mutating func includesHTML() -> Bool {
    value("include", rule: "must be html") { $0.utf8.elementsEqual("html".utf8) ? true : nil } ?? false
  }

  package mutating func bool(_ name: String) -> Bool? {
    value(name, rule: "must be true or false") { text in
      text.utf8.elementsEqual("true".utf8) ? true : text.utf8.elementsEqual("false".utf8) ? false : nil
    }
  }

  package mutating func text(_ name: String, maximumBytes: Int) -> String? {
    value(name, rule: .maximumBytes(maximumBytes)) { $0.utf8.count <= maximumBytes ? $0 : nil }
  }

  /// Percent-decodes; `+` is a space, as in forms (URL standard, section 5.1).
  static func decode(_ text: Substring) -> String? {
    let plus = UInt8(ascii: "+")
    // Most parameters have neither, and the general form takes several microseconds.
    guard text.utf8.contains(where: { $0 == plus || $0 == UInt8(ascii: "%") }) else { return String(text) }
    return String(decoding: text.utf8.map { $0 == plus ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
      .removingPercentEncoding
  }
}

extension Request {
  /// Returns the query of a route with these parameters.
  func parameters(_ known: Set<String> = []) -> QueryParameters {
    QueryParameters(uri.query, known: known)
  }
}

extension APIContext {
  /// Returns the id in the path.
  ///
  /// - Throws: A 404 for a malformed id.
  package func itemID() throws -> UUID {
    try resourceID("item")
  }

  /// Returns the id in the path, and adds it to the log lines of the request.
  ///
  /// - Parameter subject: The kind of resource: `item`, `media` or `subscription`.
  /// - Throws: A 404 for a malformed id.
  package func resourceID(_ subject: String) throws -> UUID {
    guard let text = parameters.get("id"), let id = UUID(uuidString: text) else { throw ProblemError(.notFound) }
    record.setSubject(subject, id.uuidString.lowercased())
    return id
  }

  /// Returns the slug in the path, and adds it to the log lines of the request.
  ///
  /// - Throws: A 404 for a malformed slug.
  package func topicSlug() throws -> String {
    guard let slug = parameters.get("slug"), TopicSlug.isValid(slug) else { throw ProblemError(.notFound) }
    record.setSubject("topic", slug)
    return slug
  }
}
