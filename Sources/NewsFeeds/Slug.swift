internal import Crypto
internal import Foundation

/// Topic slugs from what feeds call their categories.
public enum Slug {
  private static let maximumLength = 64

  /// Writes a category in `[a-z0-9-]{1,64}`: other scripts in Latin letters, accents dropped, everything else a
  /// hyphen. `Ärger & Straße` becomes `arger-strasse`.
  ///
  /// - Returns: nil if no letter or digit is left. What has letters but no Latin form, or is cut, ends in a piece of its
  ///   SHA-256, so that different categories stay different.
  public static func make(_ category: String) -> String? {
    let latin = category.applyingTransform(StringTransform("Any-Latin; Latin-ASCII"), reverse: false) ?? category
    // Apostrophes join what they are in: `What's new` is `whats-new`.
    let letters = latin.lowercased().utf8.filter { $0 != UInt8(ascii: "'") }
    let words = letters.map { 48...57 ~= $0 || 97...122 ~= $0 ? $0 : UInt8(ascii: " ") }
    let slug = String(decoding: words, as: UTF8.self).split(separator: " ").joined(separator: "-")
    if !slug.isEmpty, slug.utf8.count <= maximumLength { return slug }
    guard category.contains(where: { $0.isLetter || $0.isNumber }) else { return nil }
    let hash = SHA256.hash(data: Array(category.precomposedStringWithCanonicalMapping.lowercased().utf8)).prefix(5)
    let suffix = hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    return ([String(slug.prefix(maximumLength - 11)), suffix].filter { !$0.isEmpty }).joined(separator: "-")
      .replacing("--", with: "-")
  }
}
