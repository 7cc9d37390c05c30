/// The shape of BCP 47 language tags.
public enum LanguageTag {
  /// Whether the text has the shape of a tag (RFC 5646 section 2.1) and 35 bytes at most (section 4.4.1): a language of
  /// two to eight letters, then subtags of one to eight letters and digits.
  public static func isValid(_ tag: some StringProtocol) -> Bool {
    let parts = tag.split(separator: "-", omittingEmptySubsequences: false)
    guard tag.utf8.count <= 35, let first = parts.first, first.utf8.count > 1, first.utf8.allSatisfy(isLetter) else {
      return false
    }
    return parts.allSatisfy { part in
      1...8 ~= part.utf8.count && part.utf8.allSatisfy { isLetter($0) || 48...57 ~= $0 }
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { 65...90 ~= byte || 97...122 ~= byte }
}
