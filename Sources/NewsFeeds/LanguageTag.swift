/// BCP 47 language tags.
enum LanguageTag {
  /// A tag in the usual case (RFC 5646, section 2.1.1): `en-us` and `en_US` become `en-US`.
  ///
  /// - Returns: nil for what is no tag of at most 35 bytes.
  static func normalised(_ text: String) -> String? {
    let parts = text.trimmed.replacing("_", with: "-").split(separator: "-", omittingEmptySubsequences: false)
    guard let first = parts.first, 2...8 ~= first.utf8.count, first.utf8.allSatisfy(isLetter),
      parts.allSatisfy({ 1...8 ~= $0.utf8.count && $0.utf8.allSatisfy { isLetter($0) || 48...57 ~= $0 } })
    else { return nil }
    var afterSingleton = false
    let tag = parts.enumerated().map { index, part in
      defer { afterSingleton = afterSingleton || part.utf8.count == 1 }
      if index == 0 || afterSingleton { return part.lowercased() }
      return switch part.utf8.count {
      case 2: part.uppercased()
      case 4 where part.utf8.allSatisfy(isLetter): part.prefix(1).uppercased() + part.dropFirst().lowercased()
      default: part.lowercased()
      }
    }.joined(separator: "-")
    return tag.utf8.count <= 35 ? tag : nil
  }

  private static func isLetter(_ byte: UInt8) -> Bool { 65...90 ~= byte || 97...122 ~= byte }
}
