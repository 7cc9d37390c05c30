import Foundation
import HTTPEdge
import TestKit
import Testing

@Suite("Texts with combining marks") struct StreamSafeTests {
  private static func marks(_ count: Int, _ mark: String = "\u{301}") -> String {
    String(repeating: mark, count: count)
  }

  @Test(
    "30 marks in a row are accepted, also many times, and 31 are not",
    arguments: [
      ("", true), ("Fähre 漢字 🗞 한국어 tiếng Việt हिन्दी", true), (String(repeating: "e\u{301}", count: 10_000), true),
      ("e\(marks(30))", true), ("e\(marks(31))", false), ("\(marks(31))", false),
      (String(repeating: "e\(marks(30))", count: 100), true), ("a\(marks(30))b\(marks(31))c", false),
      ("e\(marks(16, "\u{316}\u{301}"))", false), ("e\(marks(20))\u{34F}\(marks(20))", true),
    ])
  func runs(text: String, isSafe: Bool) {
    #expect(text.isStreamSafe == isSafe)
    #expect(text[...].isStreamSafe == isSafe)
  }

  @Test("Every scalar that decomposes to marks counts as one")
  func scalars() {
    for value in (0x300...0x1FFFF as ClosedRange<UInt32>) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let first = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars.first
      let isMark = first.map { $0.properties.canonicalCombiningClass != .notReordered } ?? false
      #expect(Self.marks(31, String(scalar)).isStreamSafe != isMark, "U+\(String(value, radix: 16))")
    }
  }

  @Test("Accepted texts are hashed and compared in linear time")
  func cost() {
    let text = { (size: Int) in String(repeating: "e" + Self.marks(15, "\u{301}\u{316}"), count: size / 61) }
    #expect(growth(from: 60_000, of: text) { _ = Set([$0]) } < linearGrowth)
    #expect(growth(from: 60_000, of: { (text($0), text($0) + "x") }) { _ = $0.0 == $0.1 } < linearGrowth)
  }

  @Test("A name that is longer than any of a closed list is not compared with them")
  func closedLists() {
    enum Choice: String { case keep, remove }
    #expect(Choice(text: "keep") == .keep && Choice(text: "kept") == nil)
    let text = { (size: Int) in "e" + Self.marks(size / 4, "\u{316}\u{301}") }
    #expect(growth(from: 60_000, of: text) { _ = Choice(text: $0) } < linearGrowth)
  }
}
