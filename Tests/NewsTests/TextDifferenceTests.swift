import News
import TestKit
import Testing

@Suite struct TextDifferenceTests {
  /// Rebuilds one of the texts from the parts of a difference that skips nothing.
  private static func text(of difference: TextDifference, _ isNew: Bool) -> String {
    difference.parts.map { part in
      switch part {
      case .keep(let text): text
      case .remove(let text): isNew ? "" : text
      case .add(let text): isNew ? text : ""
      case .skip: "…"
      }
    }.joined()
  }

  @Test(
    "Changed words are removed and added, in this order, between kept texts",
    arguments: [
      ("It ended 1:0.", "It ended 2:0.", [.keep("It ended "), .remove("1"), .add("2"), .keep(":0.")]),
      ("", "News", [.add("News")]),
      ("News", "", [.remove("News")]),
      ("", "", []),
      ("Same", "Same", [.keep("Same")]),
      // Spaces between two changes are changed with them.
      ("one two three", "one 2 3", [.keep("one "), .remove("two three"), .add("2 3")]),
      ("one two", "one and two", [.keep("one "), .add("and "), .keep("two")]),
      ("東京は晴れ", "東京は雨", [.keep("東京は"), .remove("晴れ"), .add("雨")]),
    ] as [(String, String, [TextDifference.Part])])
  func words(old: String, new: String, parts: [TextDifference.Part]) {
    #expect(TextDifference(from: old, to: new).parts == parts)
  }

  @Test("Canonically equivalent letters differ")
  func equivalence() {
    let difference = TextDifference(from: "caf\u{E9} au lait", to: "cafe\u{301} au lait")
    #expect(difference.parts.count == 3)
    #expect(Self.text(of: difference, false).utf8.elementsEqual("caf\u{E9} au lait".utf8))
    #expect(Self.text(of: difference, true).utf8.elementsEqual("cafe\u{301} au lait".utf8))
  }

  @Test("Long kept texts are abridged around the changes, and the number of omitted characters is right")
  func abridged() {
    let before = String(repeating: "before ", count: 100)
    let after = String(repeating: " after", count: 100)
    let parts = TextDifference(from: before + "one" + after, to: before + "two" + after).parts
    guard parts.count == 6 else { return #expect(parts.count == 6) }
    #expect(parts[0] == .skip(700 - 80))
    #expect(parts[1] == .keep(String(before.suffix(80))))
    #expect(parts[2...3] == [.remove("one"), .add("two")])
    #expect(parts[4] == .keep(String(after.prefix(80))))
    #expect(parts[5] == .skip(600 - 80))
  }

  @Test("Both texts can be rebuilt from the difference of any texts", arguments: 1...40)
  func random(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let words = ["a", "b", " ", "  ", "\n", ".", "é", "e\u{301}", "語", "👩‍👩‍👧", "word"]
    func text() -> String {
      (0..<Int.random(in: 0...30, using: &random)).map { _ in words[Int.random(in: 0..<words.count, using: &random)] }
        .joined()
    }
    for _ in 0..<200 {
      let (old, new) = (text(), text())
      let difference = TextDifference(from: old, to: new)
      #expect(Self.text(of: difference, false).utf8.elementsEqual(old.utf8))
      #expect(Self.text(of: difference, true).utf8.elementsEqual(new.utf8))
    }
  }

  @Test("Equal words before and after a change are kept, and do not change its comparison", arguments: 1...20)
  func equalEnds(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let words = ["a", "b", "b.", "é", "語", "one"]
    func text(_ ends: String) -> String {
      let inner = (0..<6).map { _ in words[Int.random(in: 0..<words.count, using: &random)] }.joined(separator: " ")
      return "\(ends) \(inner) \(ends)"
    }
    for _ in 0..<50 {
      let (old, new) = (text("old"), text("new"))
      let parts = TextDifference(from: old, to: new).parts
      for (head, tail) in [("a b  c ", " a b c"), ("語 a ", "\n1 b"), ("a. ", ""), ("", " b"), ("e\u{301} b ", "")] {
        let longer = TextDifference(from: head + old + tail, to: head + new + tail).parts
        #expect(longer == ([.keep(head)] + parts + [.keep(tail)]).filter { $0 != .keep("") })
      }
    }
  }

  @Test("Two long texts without a common word are one removal and one addition")
  func different() {
    let old = (0..<20_000).map { "a\($0)" }.joined(separator: " ")
    let new = (0..<20_000).map { "b\($0)" }.joined(separator: "\n")
    #expect(TextDifference(from: old, to: new).parts == [.remove(old), .add(new)])
  }
}
