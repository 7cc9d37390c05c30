internal import News

extension LanguageTag {
  /// Returns a tag in conventional case (RFC 5646 section 2.1.1): `en-us` and `en_US` become `en-US`.
  ///
  /// - Returns: nil if the text is not a tag.
  static func normalised(_ text: String) -> String? {
    guard text.utf8.count <= 64 else { return nil }
    let tag = text.trimmed.replacing("_", with: "-")
    guard isValid(tag) else { return nil }
    var afterSingleton = false
    return tag.split(separator: "-").enumerated().map { index, part in
      defer { afterSingleton = afterSingleton || part.utf8.count == 1 }
      if index == 0 || afterSingleton { return part.lowercased() }
      return switch part.utf8.count {
      case 2: part.uppercased()
      case 4 where part.allSatisfy(\.isLetter): part.prefix(1).uppercased() + part.dropFirst().lowercased()
      default: part.lowercased()
      }
    }.joined(separator: "-")
  }
}
