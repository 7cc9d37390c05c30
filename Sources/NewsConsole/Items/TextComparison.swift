import News
import NewsPages

/// Two versions of a text, with the differing words marked.
struct TextComparison {
  /// The parts of the difference, of which each version has some.
  private let parts: [TextDifference.Part]

  init(from old: String, to new: String) {
    parts = TextDifference(from: old, to: new).parts
  }

  init(_ difference: TextDifference) {
    parts = difference.parts
  }

  /// The parts of the old version. Removed words are marked.
  func old(_ texts: TextCatalogue) -> [PageValues] {
    parts.compactMap { part -> PageValues? in if case .add = part { nil } else { Self.values(of: part, texts) } }
  }

  /// The parts of the new version. Added words are marked.
  func new(_ texts: TextCatalogue) -> [PageValues] {
    parts.compactMap { part -> PageValues? in if case .remove = part { nil } else { Self.values(of: part, texts) } }
  }

  /// The parts of both versions in one text.
  func both(_ texts: TextCatalogue) -> [PageValues] { parts.map { Self.values(of: $0, texts) } }

  private static func values(of part: TextDifference.Part, _ texts: TextCatalogue) -> PageValues {
    var values = PageValues()
    switch part {
    case .keep(let text): values.set("kept", text)
    case .skip(let count): values.set("skipped", texts.text("skipped", ["count": "\(count)"]))
    case .remove(let text): values.set("removed", text)
    case .add(let text): values.set("added", text)
    }
    return values
  }
}
