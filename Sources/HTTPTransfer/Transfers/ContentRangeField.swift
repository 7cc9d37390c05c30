/// `Content-Range` of bytes (RFC 9110, section 14.4).
struct ContentRangeField {
  var first: Int64
  /// The total length in bytes; nil if the server does not declare it.
  var total: Int64?

  /// Parses a field value; nil unless it describes a part.
  init?(_ value: String?) {
    guard let match = value?.wholeMatch(of: /(?i:bytes) +([0-9]{1,18})-([0-9]{1,18})\/([0-9]{1,18}|\*)/),
      let first = Int64(match.1), let last = Int64(match.2), first <= last
    else { return nil }
    self.first = first
    total = Int64(match.3)
    // An end beyond the total is invalid. An earlier end is accepted, and the next request asks for the rest.
    if let total, last >= total { return nil }
  }

  /// Returns the length in bytes that a 416 reports.
  static func unsatisfied(_ value: String?) -> Int64? {
    value?.wholeMatch(of: /(?i:bytes) +\*\/([0-9]{1,18})/).flatMap { Int64($0.1) }
  }
}
