/// The values of `Content-Range` (RFC 9110 section 14.4).
///
///     print(ContentRange.satisfied(0..<500, length: 1234))  // bytes 0-499/1234
///     print(ContentRange.unsatisfiable(length: 1234))  // bytes */1234
public enum ContentRange {
  /// Returns the value for a 206, such as `bytes 0-499/1234`.
  ///
  /// - Parameters:
  ///   - range: The bytes that are sent. Traps if it is empty, which the field cannot express, or exceeds the length.
  ///   - length: The length of the whole representation in bytes.
  public static func satisfied(_ range: Range<Int>, length: Int) -> String {
    precondition(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= length, "no part of \(length) bytes")
    return "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
  }

  /// Returns the value for a 416, such as `bytes */1234`.
  ///
  /// - Parameter length: The length of the whole representation in bytes.
  public static func unsatisfiable(length: Int) -> String { "bytes */\(length)" }
}
