import Foundation
import NewsPages
import Testing

@Suite struct TextCatalogueTests {
  @Test("All languages have the same texts, with the same values in them, and none is empty")
  func complete() {
    let english = TextCatalogue(.english).texts
    #expect(english.count > 30)
    for language in InterfaceLanguage.allCases {
      let texts = TextCatalogue(language).texts
      #expect(Set(texts.keys) == Set(english.keys), "\(language)")
      for (key, text) in texts {
        #expect(!text.isEmpty, "\(language): \(key)")
        #expect(Self.names(in: text) == Self.names(in: english[key] ?? ""), "\(language): \(key)")
      }
    }
  }

  @Test("Braces in a value are not replaced")
  func braces() {
    let texts = TextCatalogue(.english, in: [("en.txt", "line = {topic} from {site}")])
    #expect(texts.text("line", ["topic": "{site}", "site": "{topic} {x}"]) == "{site} from {topic} {x}")
  }

  private static func names(in text: String) -> Set<String> {
    Set(text.matches(of: /\{[a-z]+\}/).map { String($0.output) })
  }

  @Test("Every text that a template or the program uses is in the catalogue, and no other one")
  func used() throws {
    let keys = Set(TextCatalogue(.english).texts.keys)
    let folder = Self.root.appending(path: "Sources/NewsPages")
    var used: Set<String> = []
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "Templates").path) {
      let text = try String(contentsOf: folder.appending(path: "Templates/\(name)"), encoding: .utf8)
      used.formUnion(text.matches(of: /\{\{t\.([a-z0-9-]+)\}\}/).map { String($0.1) })
    }
    // The keys in the program are built from numbers, or named there.
    let errors = [400, 404, 410, 500, 503].flatMap { ["error-\($0)-title", "error-\($0)-text"] }
    let months = (1...12).map { "month-\($0)" }
    let named = ["date", "latest", "original", "site-description", "topic-description"]
    used.formUnion(errors + months + named)
    #expect(used.subtracting(keys) == [])
    #expect(keys.subtracting(used) == [])
  }

  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test("Values replace names in braces once, comments are ignored, and a missing text is its key")
  func values() {
    let texts = TextCatalogue(.german, in: [("en.txt", "a = x\n"), ("de.txt", "# c = d\n\na = {b} = {c} {d\n")])
    #expect(texts.texts.count == 1)
    #expect(texts.text("a", ["b": "{c}", "c": "2"]) == "{c} = 2 {d")
    #expect(texts.text("a") == "{b} = {c} {d")
    #expect(texts.text("z") == "z")
  }
}
