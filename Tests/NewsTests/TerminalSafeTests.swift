import Foundation
import News
import Testing

@Suite struct `Text for terminals and logs` {
  @Test(arguments: [
    "", "Plain text", "Zürich – 台北 – القاهرة", "👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "می\u{200C}خواهم", "\u{200F}שלום\u{200E}", "a  b\u{A0}c",
  ])
  func `Ordinary text stays as it is`(_ text: String) {
    #expect(text.terminalSafe == text)
  }

  @Test(arguments: [
    ("one\ntwo", "one two"), ("one\r\ntwo", "one two"), ("one\n\n\t two", "one  two"), ("a\u{0B}b\u{0C}c", "a b c"),
    ("a\u{85}b\u{2028}c\u{2029}d", "a b c d"), ("\n", " "), ("a\n\u{1B}\nb", "a b"),
  ])
  func `Line breaks and tabulators become one space`(_ text: String, _ line: String) {
    #expect(text.terminalSafe == line)
  }

  @Test(arguments: [
    ("\u{1B}[31mred\u{1B}[0m", "[31mred[0m"), ("\u{1B}]0;title\u{07}x", "]0;titlex"), ("a\u{9B}2Jb", "a2Jb"),
    ("nul\u{0}l", "null"), ("pass\u{8}\u{8}word", "password"), ("a\u{7F}b", "ab"), ("a\u{90}b\u{9F}c", "abc"),
  ])
  func `Control characters are removed`(_ text: String, _ line: String) {
    #expect(text.terminalSafe == line)
  }

  @Test(arguments: Array(0x202A...0x202E) + Array(0x2066...0x206F) + [0xFEFF, 0xFFF9, 0xFFFA, 0xFFFB])
  func `Bidirectional overrides and hidden characters are removed`(_ value: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(value))
    #expect("invoice\(Character(scalar))fdp.exe".terminalSafe == "invoicefdp.exe")
  }

  @Test func `JSON keeps its values, and has no character that text for terminals may not have`() throws {
    let scalars = Array((UInt32(0)..<0x3000)) + [0xFEFF, 0xFFF9, 0xFFFA, 0xFFFB, 0x1F600, 0xE0001]
    for scalar in scalars.compactMap(Unicode.Scalar.init) {
      let text = "a\\\(Character(scalar))\""
      let json = String(decoding: try JSONEncoder().encode([text]), as: UTF8.self).terminalSafeJSON
      #expect(json.terminalSafe == json, "U+\(scalar.value)")
      let read = try JSONDecoder().decode([String].self, from: Data(json.utf8))
      #expect(read.map { Array($0.unicodeScalars) } == [Array(text.unicodeScalars)], "U+\(scalar.value)")
    }
    #expect("{\n  \"é\": \"می\u{200C}خواهم\"\n}".terminalSafeJSON == "{\n  \"é\": \"می\u{200C}خواهم\"\n}")
    #expect("\"\u{7F}\u{9B}\u{202E}\"".terminalSafeJSON == #""\u007f\u009b\u202e""#)
  }

  @Test func `No control character of any kind is left, whatever surrounds it`() throws {
    for value in (UInt32(0)..<0x3000).compactMap(Unicode.Scalar.init) {
      for text in ["\(Character(value))", "e\u{301}\(Character(value))x", "\r\(Character(value))\n"] {
        let safe = text.terminalSafe
        #expect(!safe.unicodeScalars.contains { $0.properties.generalCategory == .control }, "U+\(value.value)")
        #expect(safe.terminalSafe == safe, "U+\(value.value)")
      }
    }
  }
}
