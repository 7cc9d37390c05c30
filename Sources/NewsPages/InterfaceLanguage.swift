/// A language of the pages' own texts. The language of an item is a property of the item.
public enum InterfaceLanguage: String, CaseIterable, Sendable {
  case english = "en"
  case german = "de"

  /// The BCP 47 language tag.
  public var tag: String { rawValue }
}
