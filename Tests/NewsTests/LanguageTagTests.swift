import News
import Testing

@Suite("Language tags (RFC 5646)") struct LanguageTagTests {
  @Test(
    "A language, a script, a region and private parts form a tag",
    arguments: ["en", "pt-BR", "zh-Hant-TW", "de-1996", "gsw", "en-x-tabloid", "abcdefgh-12345678"])
  func valid(tag: String) {
    #expect(LanguageTag.isValid(tag))
  }

  @Test(
    "A language has at least two letters, and a part at most eight characters",
    arguments: [
      "", "e", "e-US", "12", "e1", "en-", "-en", "en--US", "en_US", "english-languages", "abcdefghi", "en-abcdefghi",
      "en US", "én", "en-" + Array(repeating: "abcdefgh", count: 4).joined(separator: "-"),
    ])
  func invalid(tag: String) {
    #expect(!LanguageTag.isValid(tag))
  }
}
