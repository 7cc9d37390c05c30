/// The syntax of BCP 47 language tags.
///
///     print(LanguageTag.isValid("de-AT"), LanguageTag.isValid("de_AT"))  // true false
public enum LanguageTag {
  /// Whether the text has the form of a tag (RFC 5646 section 2.1) and at most 35 bytes (section 4.4.1).
  ///
  /// The form is a language of 2 to 8 letters, then subtags of 1 to 8 letters and digits.
  public static func isValid(_ tag: some StringProtocol) -> Bool {
    var tag = String(tag)
    return tag.withUTF8 { bytes in
      guard bytes.count <= 35 else { return false }
      let parts = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
      guard let first = parts.first, first.count > 1, first.allSatisfy(\.isASCIILetter) else { return false }
      return parts.allSatisfy { part in
        1...8 ~= part.count && part.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit }
      }
    }
  }
}
