import Foundation
import News
import NewsAPI
import NewsPages
import TestSupport
import Testing

@Suite struct TextTests {
  private static let folder = Project.root.appending(path: "Sources/NewsConsole")

  private static func catalogue(_ language: InterfaceLanguage) throws -> [String: String] {
    let name = "\(language.rawValue).txt"
    let text = try String(contentsOf: folder.appending(path: "Texts/\(name)"), encoding: .utf8)
    return TextCatalogue(language, in: [(name, text)]).texts
  }

  /// The texts of all files below a folder of the target that have a suffix.
  private static func files(_ suffix: String) throws -> [String] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return try paths.filter { $0.hasSuffix(suffix) }.map {
      try String(contentsOf: folder.appending(path: $0), encoding: .utf8)
    }
  }

  @Test("All languages have the same keys, and the same values within each text")
  func sameKeys() throws {
    let english = try Self.catalogue(.english)
    for language in InterfaceLanguage.allCases {
      let other = try Self.catalogue(language)
      #expect(Set(other.keys) == Set(english.keys))
      for (key, text) in english {
        let names = { (text: String) in Set(text.matches(of: /\{[a-z]+\}/).map { String($0.output) }) }
        #expect(names(other[key] ?? "") == names(text), "\(key)")
        #expect(other[key]?.isEmpty == false, "\(key)")
      }
    }
  }

  @Test("Every key that a template or the code names is in the catalogue")
  func usedKeys() throws {
    let keys = try Self.catalogue(.english)
    let templates = try Self.files(".mustache").joined()
    let code = try Self.files(".swift").joined()
    let used =
      templates.matches(of: /\bt\.([A-Za-z0-9-]+)/).map { String($0.output.1) }
      + code.matches(of: /texts\.text\("([A-Za-z0-9-]+)"/).map { String($0.output.1) }
      + code.matches(of: /"(rule-[a-z-]+)"/).map { String($0.output.1) }
      + code.matches(of: /case [A-Za-z0-9]+ = "(form-[a-z0-9-]+)"/).map { String($0.output.1) }
    #expect(used.count > 150)
    for key in used { #expect(keys[key] != nil, "\(key)") }
    for state in EditorialItem.State.allCases { #expect(keys["state-\(state.rawValue)"] != nil) }
  }

  @Test("The language is a setting of the installation, not of the browser")
  func language() async throws {
    try await ConsoleServer.with(settings: { $0.language = .german }) { console in
      let browser = try await console.signedIn()
      let page = try await browser.get("/console/items", ("Accept-Language", "en"))
      #expect(try page.scan.all("html").first?["lang"] == "de")
      #expect(page.text.contains("Neue Meldung"))
      var form = try await browser.get("/console/items/new").editor
      form["text"] = " "
      let refused = try await browser.submit(form, "save")
      #expect(try refused.scan.tags.first { $0["id"] == "text-error" }?.text == "Ist erforderlich.")
    }
  }
}
