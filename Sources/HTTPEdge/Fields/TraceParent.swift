package import HTTPTypes
package import NIOHTTP1

/// The trace that a request is part of (W3C Trace Context, section 3.2).
package struct TraceParent: Sendable, Equatable {
  /// The id of the trace: 32 hexadecimal digits.
  package let traceID: String
  /// The id of the sender's span: 16 hexadecimal digits.
  package let parentID: String

  /// Parses the field `traceparent`.
  ///
  /// - Parameter fields: The header fields of the request.
  /// - Returns: nil if the field is missing, repeated or malformed. A malformed field is ignored (section 3.2.2.2).
  package init?(_ fields: HTTPFields) { self.init(values: fields[values: .traceParent]) }

  /// The same for the field lines of a request that has not passed the router.
  package init?(_ fields: HTTPHeaders) { self.init(values: fields[HTTPField.Name.traceParent.rawName]) }

  private init?(values: [String]) {
    guard values.count == 1 else { return nil }
    let parts = values[0].split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, parts[0].isHexadecimal(2), parts[0] != "ff", parts[0] != "00" || parts.count == 4,
      parts[1].isHexadecimal(32), parts[1].contains(where: { $0 != "0" }),
      parts[2].isHexadecimal(16), parts[2].contains(where: { $0 != "0" }), parts[3].isHexadecimal(2)
    else { return nil }
    traceID = String(parts[1])
    parentID = String(parts[2])
  }
}

extension HTTPField.Name {
  // The name is a token (RFC 9110 section 5.6.2).
  fileprivate static let traceParent = HTTPField.Name("traceparent")!
}

extension Substring {
  /// Whether the text has exactly `count` hexadecimal digits, in lower case as the standard requires.
  fileprivate func isHexadecimal(_ count: Int) -> Bool {
    utf8.count == count && utf8.allSatisfy { 48...57 ~= $0 || 97...102 ~= $0 }
  }
}
