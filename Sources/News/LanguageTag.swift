/// The shape of BCP 47 language tags.
public enum LanguageTag {
  /// Whether the text has the shape of a tag (RFC 5646 section 2.1) and 35 bytes at most (section 4.4.1): a language of
  /// two to eight letters, then subtags of one to eight letters and digits.
  public static func isValid(_ tag: some StringProtocol) -> Bool {
    guard tag.utf8.count <= 35 else { return false }
    let parts = tag.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard let first = parts.first, first.count > 1, first.allSatisfy(isLetter) else { return false }
    return parts.allSatisfy { part in
      1...8 ~= part.count && part.allSatisfy { isLetter($0) || 48...57 ~= $0 }
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { 65...90 ~= byte || 97...122 ~= byte }
}
