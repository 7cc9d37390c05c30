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

  /// The size of both versions in one text, in bytes of HTML.
  var size: Int {
    parts.reduce(0) { size, part in
      switch part {
      case .keep(let text): size + text.utf8.count
      case .skip: size + 80
      case .remove(let text), .add(let text): size + text.utf8.count + 11
      }
    }
  }

  /// The parts of the old version, to be shown beside the new one. Words that only it has are marked.
  func old(_ texts: TextCatalogue) -> [PageValues] {
    parts.compactMap { part in if case .add = part { nil } else { Self.values(of: part, texts, isSide: true) } }
  }

  /// The parts of the new version, to be shown beside the old one. Words that only it has are marked.
  func new(_ texts: TextCatalogue) -> [PageValues] {
    parts.compactMap { part in if case .remove = part { nil } else { Self.values(of: part, texts, isSide: true) } }
  }

  /// The parts of both versions in one text, with words removed and added.
  func both(_ texts: TextCatalogue) -> [PageValues] { parts.map { Self.values(of: $0, texts) } }

  /// - Parameter isSide: Whether the versions are shown side by side, so that neither is a change of the other.
  private static func values(
    of part: TextDifference.Part, _ texts: TextCatalogue, isSide: Bool = false
  ) -> PageValues {
    var values = PageValues()
    switch part {
    case .keep(let text): values.set("kept", text)
    case .skip(let count): values.set("skipped", texts.text("skipped", ["count": "\(count)"]))
    case .remove(let text): values.set(isSide ? "differing" : "removed", text)
    case .add(let text): values.set(isSide ? "differing" : "added", text)
    }
    return values
  }
}
