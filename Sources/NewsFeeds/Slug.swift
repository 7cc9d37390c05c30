internal import Crypto
internal import Foundation
internal import News

/// Topic slugs for the categories of feeds.
public enum Slug {
  private static let maximumLength = 64

  /// Returns the form in which names are compared: one spelling of accents, small letters and single spaces.
  public static func name(_ category: String) -> String {
    PlainText.line(category).precomposedStringWithCanonicalMapping.lowercased()
  }

  /// Converts a category to `[a-z0-9-]{1,64}`. Other scripts become Latin, accents are dropped, and all other
  /// characters become hyphens. `Ärger & Straße` becomes `arger-strasse`.
  ///
  /// A category without a Latin form, or one that is truncated, ends with a part of its SHA-256 digest. Different
  /// categories may have the same slug, such as "C" and "C#"; ``distinct(_:)`` keeps them apart.
  ///
  /// - Returns: The slug, or nil if the category has no letter or digit.
  public static func make(_ category: String) -> String? {
    let latin = category.applyingTransform(StringTransform("Any-Latin; Latin-ASCII"), reverse: false) ?? category
    // An apostrophe joins its neighbours: `What's new` becomes `whats-new`.
    let letters = latin.lowercased().utf8.filter { $0 != UInt8(ascii: "'") }
    let words = letters.map { $0.isASCIIDigit || $0.isASCIILowercase ? $0 : UInt8(ascii: " ") }
    let slug = String(decoding: words, as: UTF8.self).split(separator: " ").joined(separator: "-")
    if !slug.isEmpty, slug.utf8.count <= maximumLength { return slug }
    return category.contains(where: { $0.isLetter || $0.isNumber }) ? ended(slug, category) : nil
  }

  /// Returns the slug of a category with a part of its SHA-256 digest at the end, which no other category has.
  public static func distinct(_ category: String) -> String { ended(make(category) ?? "", category) }

  private static func ended(_ slug: String, _ category: String) -> String {
    let hash = SHA256.hash(data: Array(category.precomposedStringWithCanonicalMapping.lowercased().utf8)).prefix(5)
    return [String(slug.prefix(maximumLength - 11)), hash.hexadecimal].filter { !$0.isEmpty }.joined(separator: "-")
      .replacing("--", with: "-")
  }
}
