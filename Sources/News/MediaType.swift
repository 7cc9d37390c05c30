/// The syntax of media types.
///
///     print(MediaType.isValid("image/jpeg"), MediaType.isValid("text/html; charset=utf-8"))  // true false
public enum MediaType {
  /// Whether the text is `type/subtype` without parameters (RFC 6838 section 4.2).
  public static func isValid(_ type: some StringProtocol) -> Bool {
    let parts = type.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
    return parts.count == 2
      && parts.allSatisfy { part in
        1...127 ~= part.count
          && part.allSatisfy { byte in
            byte.isASCIILetter || byte.isASCIIDigit || "!#$&-^_.+".utf8.contains(byte)
          }
      }
  }
}
