internal import Crypto
internal import Foundation
internal import News

/// Topic slugs for the categories of feeds.
public enum Slug {
  private static let maximumLength = 64

  /// Converts a category to `[a-z0-9-]{1,64}`. Other scripts become Latin, accents are dropped, and all other
  /// characters become hyphens. `Ärger & Straße` becomes `arger-strasse`.
  ///
  /// A category without a Latin form, or one that is truncated, ends with a part of its SHA-256 digest. Different
  /// categories thus have different slugs.
  ///
  /// - Returns: The slug, or nil if the category has no letter or digit.
  public static func make(_ category: String) -> String? {
    let latin = category.applyingTransform(StringTransform("Any-Latin; Latin-ASCII"), reverse: false) ?? category
    // An apostrophe joins its neighbours: `What's new` becomes `whats-new`.
    let letters = latin.lowercased().utf8.filter { $0 != UInt8(ascii: "'") }
    let words = letters.map { $0.isASCIIDigit || $0.isASCIILowercase ? $0 : UInt8(ascii: " ") }
    let slug = String(decoding: words, as: UTF8.self).split(separator: " ").joined(separator: "-")
    if !slug.isEmpty, slug.utf8.count <= maximumLength { return slug }
    guard category.contains(where: { $0.isLetter || $0.isNumber }) else { return nil }
    let hash = SHA256.hash(data: Array(category.precomposedStringWithCanonicalMapping.lowercased().utf8)).prefix(5)
    let suffix = hash.hexadecimal
    return ([String(slug.prefix(maximumLength - 11)), suffix].filter { !$0.isEmpty }).joined(separator: "-")
      .replacing("--", with: "-")
  }
}
