import News
import NewsFeeds
import Testing

@Suite("Slugs of categories")
struct SlugTests {
  @Test(
    "are written in Latin letters, digits and hyphens",
    arguments: [
      ("Sport", "sport"), ("Developer Tools", "developer-tools"), ("Ärger & Straße", "arger-strasse"),
      ("Développement durable", "developpement-durable"), ("Политика", "politika"), ("日本", "ri-ben"),
      ("Σκέψη", "skepse"), ("Łódź", "lodz"), ("Ørsted/Æther", "orsted-aether"), ("What’s new", "whats-new"),
      ("  C++ -- 2.0  ", "c-2-0"), ("a_b.c", "a-b-c"), ("UPPER", "upper"), ("２０２６", "2026"),
    ])
  func written(category: String, slug: String) {
    #expect(Slug.make(category) == slug)
  }

  @Test("do not exist for names without a letter or digit", arguments: ["", " ", "&", "---", "😀", "\u{0}", "…!?"])
  func nothing(category: String) {
    #expect(Slug.make(category) == nil)
  }

  @Test("have at most 64 characters and differ when truncated")
  func cut() throws {
    let long = String(repeating: "word ", count: 30)
    let (first, second) = (try #require(Slug.make(long + "a")), try #require(Slug.make(long + "b")))
    #expect(first != second)
    #expect(TopicSlug.isValid(first))
    #expect(TopicSlug.isValid(second))
    #expect(Slug.make(String(repeating: "x", count: 64)) == String(repeating: "x", count: 64))
    let cut = try #require(Slug.make(String(repeating: "x", count: 65)))
    #expect(TopicSlug.isValid(cut))
    #expect(cut.hasPrefix("xxx"))
    // The hyphen between two words is the one in front of the digest.
    let words = String(repeating: "x", count: 52) + " " + String(repeating: "y", count: 30)
    let edge = try #require(Slug.make(words))
    #expect(edge.hasPrefix("xxx") && !edge.contains("--"))
  }

  @Test("are equal for both spellings of an accent, also when truncated")
  func spellings() throws {
    let composed = String(repeating: "caf\u{E9} ", count: 20)
    let decomposed = String(repeating: "cafe\u{301} ", count: 20)
    // Strings compare by canonical equivalence, byte arrays do not.
    #expect(Array(composed.utf8) != Array(decomposed.utf8))
    let slug = try #require(Slug.make(composed))
    #expect(slug.hasPrefix("cafe-cafe-"))
    #expect(Slug.make(decomposed) == slug)
  }

  @Test(
    "are valid for any script", arguments: ["हिन्दी", "العربية", "ไทย", "한국어", "עברית", "ქართული", "አማርኛ", "ᚠᚢᚦ", "𐍈𐌰"])
  func scripts(category: String) throws {
    #expect(TopicSlug.isValid(try #require(Slug.make(category))))
  }

  @Test(
    "have a form for each name", arguments: [["C", "C#", "C++", "c ++"], ["Москва", "Moskva"], ["Ärger", "Arger"]])
  func distinct(names: [String]) {
    let slugs = names.map(Slug.distinct)
    #expect(Set(slugs).count == names.count)
    #expect(slugs.allSatisfy { TopicSlug.isValid($0) })
    #expect(Slug.distinct("  Café ") != Slug.distinct("Cafe"))
    #expect(Slug.distinct("Caf\u{E9}") == Slug.distinct("cafe\u{301}"))
  }
}
