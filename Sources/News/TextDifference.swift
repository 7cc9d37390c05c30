/// The difference between two texts, as parts from which an editor sees what a write has changed.
///
///     let difference = TextDifference(from: "It ended 1:0.", to: "It ended 2:0.")
///     print(difference.parts)  // [.keep("It ended "), .remove("1"), .add("2"), .keep(":0.")]
///
/// Texts are compared by words and by their bytes, so that canonically equivalent letters differ. Two very different
/// texts are one removal and one addition, because a closer comparison takes time that grows with their difference.
public struct TextDifference: Sendable, Equatable {
  /// A part of both texts, or of one of them.
  public enum Part: Sendable, Equatable {
    /// A text that has remained.
    case keep(String)
    /// A text that has remained and is too long to be repeated: the number of its characters.
    case skip(Int)
    /// A text that only the old text contains.
    case remove(String)
    /// A text that only the new text contains.
    case add(String)
  }

  /// The parts in the order of the texts. A removal comes before the addition that replaces it.
  public var parts: [Part]

  /// The number of characters that are kept before and after a change.
  private static let context = 80
  /// The maximum number of removed and added words. Beyond, the whole of the changed range is replaced.
  private static let maximumDistance = 400

  /// Creates a difference from its parts.
  public init(parts: [Part]) {
    self.parts = parts
  }

  /// Compares two texts.
  public init(from old: String, to new: String) {
    let (old, new) = (Array(old.utf8), Array(new.utf8))
    let (head, tail) = Self.equalEnds(old, new)
    let one = TextWords(String(decoding: old[head..<old.count - tail], as: UTF8.self))
    let other = TextWords(String(decoding: new[head..<new.count - tail], as: UTF8.self))
    let edits = WordEdits(one.words, other.words, maximumDistance: Self.maximumDistance)
    let parts = edits.map { Self.part($0, one, other) }
    let first = Part.keep(String(decoding: new[..<head], as: UTF8.self))
    let last = Part.keep(String(decoding: new.suffix(tail), as: UTF8.self))
    self.init(parts: Self.abridged(Self.joined([first] + parts + [last])))
  }

  /// Returns the numbers of bytes that both texts have at their beginning and at their end. There, the texts need not be
  /// split into words, which takes most of the time of a comparison.
  private static func equalEnds(_ old: [UInt8], _ new: [UInt8]) -> (head: Int, tail: Int) {
    // No word contains a position between a space and a letter or digit of ASCII.
    func isBoundary(_ index: Int) -> Bool {
      new[index - 1] == UInt8(ascii: " ") && (new[index].isASCIILetter || new[index].isASCIIDigit)
    }
    let shorter = min(old.count, new.count)
    var head = 0
    while head < shorter, old[head] == new[head] { head += 1 }
    // Both sides of the position are in the equal range.
    head = max(head - 1, 0)
    while head > 0, !isBoundary(head) { head -= 1 }
    var tail = 0
    while tail < shorter - head, old[old.count - tail - 1] == new[new.count - tail - 1] { tail += 1 }
    tail = max(tail - 1, 0)
    while tail > 0, !isBoundary(new.count - tail) { tail -= 1 }
    return (head, tail)
  }

  /// Joins kept texts that follow each other, and drops empty ones.
  private static func joined(_ parts: [Part]) -> [Part] {
    parts.reduce(into: []) { joined, part in
      switch (joined.last, part) {
      case (_, .keep("")): break
      case (.keep(let before)?, .keep(let text)): joined[joined.count - 1] = .keep(before + text)
      default: joined.append(part)
      }
    }
  }

  private static func part(_ edit: WordEdits.Edit, _ old: TextWords, _ new: TextWords) -> Part {
    switch edit {
    case .keep(let range): .keep(new.text(of: range))
    case .remove(let range): .remove(old.text(of: range))
    case .add(let range): .add(new.text(of: range))
    }
  }

  /// Replaces the inner part of long kept texts.
  private static func abridged(_ parts: [Part]) -> [Part] {
    parts.enumerated().flatMap { index, part -> [Part] in
      guard case .keep(let text) = part else { return [part] }
      let head = index == 0 ? 0 : context
      let tail = index == parts.count - 1 ? 0 : context
      let count = text.count
      guard count > head + tail + context else { return [part] }
      let ends: (Part?, Part?) = (
        head == 0 ? nil : .keep(String(text.prefix(head))), tail == 0 ? nil : .keep(String(text.suffix(tail)))
      )
      return [ends.0, .skip(count - head - tail), ends.1].compactMap { $0 }
    }
  }
}

extension TextDifference: Codable {
  private enum CodingKeys: String, CodingKey {
    case keep, skip, remove, add
  }

  private struct CodedPart: Codable {
    var keep: String?
    var skip: Int?
    var remove: String?
    var add: String?
  }

  /// Decodes an array of objects, each of which has one field: `keep`, `skip`, `remove` or `add`. Others are left out.
  ///
  /// - Throws: `DecodingError` if it is no such array.
  public init(from decoder: any Decoder) throws {
    parts = try [CodedPart](from: decoder).compactMap { part in
      if let text = part.keep { return .keep(text) }
      if let count = part.skip { return .skip(count) }
      if let text = part.remove { return .remove(text) }
      return part.add.map { .add($0) }
    }
  }

  /// Encodes the parts as an array of objects with one field each.
  public func encode(to encoder: any Encoder) throws {
    try parts.map { part in
      switch part {
      case .keep(let text): CodedPart(keep: text)
      case .skip(let count): CodedPart(skip: count)
      case .remove(let text): CodedPart(remove: text)
      case .add(let text): CodedPart(add: text)
      }
    }.encode(to: encoder)
  }
}

/// A text as words: runs of letters and digits, runs of spaces, and other characters by themselves. Characters of scripts
/// without spaces between words are words.
private struct TextWords {
  private let characters: [Character]
  /// The bounds of the words in `characters`, one more than words.
  private let bounds: [Int]
  /// The UTF-8 of each word. `String` would also equate canonically equivalent words.
  let words: [[UInt8]]

  private enum Kind {
    case letters, spaces, single
  }

  init(_ text: String) {
    characters = Array(text)
    var bounds = [0]
    var last: Kind?
    for (index, character) in characters.enumerated() {
      let kind = Self.kind(of: character)
      if let last, last != kind || kind == .single { bounds.append(index) }
      last = kind
    }
    if !characters.isEmpty { bounds.append(characters.count) }
    self.bounds = bounds
    words = zip(bounds, bounds.dropFirst()).map { [characters] start, end in
      characters[start..<end].flatMap(\.utf8)
    }
  }

  func text(of words: Range<Int>) -> String { String(characters[bounds[words.lowerBound]..<bounds[words.upperBound]]) }

  private static func kind(of character: Character) -> Kind {
    guard let scalar = character.unicodeScalars.first else { return .single }
    if scalar.properties.isWhitespace { return .spaces }
    // Thai to Myanmar, kana and ideographs.
    let hasNoSpaces = 0x0E00...0x109F ~= scalar.value || 0x2E80...0x9FFF ~= scalar.value || scalar.value >= 0x20000
    return hasNoSpaces || !(scalar.properties.isAlphabetic || scalar.properties.numericType != nil) ? .single : .letters
  }
}
