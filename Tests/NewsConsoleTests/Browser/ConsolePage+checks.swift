import Foundation
import TestSupport
import Testing

extension ConsolePage {
  /// Checks what every page of the console has: header fields that keep it to this site and out of caches, an outline, and a
  /// label for each control.
  func check(status expected: Int = 200, sourceLocation: SourceLocation = #_sourceLocation) throws {
    #expect(status == expected, "\(target)", sourceLocation: sourceLocation)
    #expect(self["Cache-Control"] == "no-store", sourceLocation: sourceLocation)
    #expect(self["X-Content-Type-Options"] == "nosniff", sourceLocation: sourceLocation)
    #expect(self["Content-Security-Policy"]?.contains("script-src 'self';") ?? false, sourceLocation: sourceLocation)
    let scan = try scan
    #expect(scan.accessibilityProblems == [], "\(target)", sourceLocation: sourceLocation)
    let labels = Set(scan.all("label").compactMap { $0["for"] })
    for control in scan.tags where ["input", "textarea", "select"].contains(control.name) {
      let isLabelled = control["type"] == "hidden" || labels.contains(control["id"] ?? "")
      #expect(isLabelled, "\(control["name"] ?? "") of \(target)", sourceLocation: sourceLocation)
    }
    let ids = Set(scan.tags.compactMap { $0["id"] })
    for tag in scan.tags {
      for id in (tag["aria-describedby"] ?? "").split(separator: " ") {
        #expect(ids.contains(String(id)), "\(id) of \(target)", sourceLocation: sourceLocation)
      }
    }
    // A key that the catalogue lacks is shown as it is.
    for tag in scan.tags {
      let isKey = tag.text.wholeMatch(of: /[a-z]+(-[a-z]+)+/) != nil && tag["class"]?.contains("slug") != true
      #expect(!isKey || tag.name == "option" || tag.name == "a", "\(tag.text)", sourceLocation: sourceLocation)
    }
  }

  /// The links of the list of errors above a form, each with its text. Each leads to an element of the page.
  var problemLinks: [String] {
    get throws {
      let tags = try scan.tags
      let ids = Set(tags.compactMap { $0["id"] })
      let links = tags.filter { $0.name == "a" && $0["href"]?.hasPrefix("#") ?? false && $0["class"] != "skip" }
      for link in links { #expect(ids.contains(String(link["href"]?.dropFirst() ?? "")), "\(link)") }
      return links.map { "\($0["href"] ?? "") \($0.text)" }
    }
  }

  /// The text of the error beside a field; nil if there is none, or if the field does not refer to it.
  func error(of id: String) throws -> String? {
    let tags = try scan.tags
    guard let field = tags.first(where: { $0["id"] == id }), field["aria-invalid"] == "true",
      field["aria-describedby"]?.split(separator: " ").contains("\(id)-error") ?? false
    else { return nil }
    return tags.first { $0["id"] == "\(id)-error" }?.text
  }
}

/// Texts that would run as markup in a page that does not escape them.
enum HostileText {
  static let all = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'onmouseover='alert(1)", "</option><b>x</b>",
    "{{{csrf}}}{{>head}}", "&lt;b&gt;", "\"\u{301}><b onclick=x>",
  ]
}
