/// Values of `Content-Range` (RFC 9110 section 14.4).
public enum ContentRange {
  /// The value of a 206, such as `bytes 0-499/1234`.
  ///
  /// - Parameters:
  ///   - range: The bytes that are sent; traps if it is empty, which the field cannot express.
  ///   - length: The length of the whole representation, which the range must not exceed.
  public static func satisfied(_ range: Range<Int>, length: Int) -> String {
    precondition(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= length, "no part of \(length) bytes")
    return "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
  }

  /// The value of a 416, such as `bytes */1234`.
  ///
  /// - Parameter length: The length of the whole representation.
  public static func unsatisfiable(length: Int) -> String { "bytes */\(length)" }
}
