import Foundation
import News
import NewsAPI
import NewsStore
import TestSupport
import Testing

@Suite struct PreviewTests {
  @Test("The preview shows the unsaved form as readers would see it, and saves nothing")
  func unsaved() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "draft", "title": "Fog", "text": "Old text.""#)
      let browser = try await console.signedIn()
      var form = try await browser.get(ConsoleServer.path(item)).editor
      form["title"] = "Fog lifts"
      form["html"] = "<p>New <em>text</em> of /v1/media/\(UUID()).</p><script>alert(1)</script>"
      let page = try await browser.post(form, "edit", to: "\(ConsoleServer.path(item))/preview")
      #expect(page.status == 200)
      let scan = try page.scan
      #expect(scan.all("h1").map(\.text) == ["Fog lifts"])
      #expect(page.text.contains("<p>New <em>text</em> of /v1/media/") && !page.text.contains("alert(1)</script>"))
      #expect(scan.all("section").first?["aria-label"] == "Preview")
      #expect(page.text.contains("Nothing is saved yet"))
      // It is no page of its own for search engines, feed readers and social networks.
      #expect(scan.all("meta").contains { $0["name"] == "robots" && $0["content"] == "noindex" })
      #expect(!scan.all("link").contains { $0["rel"] == "canonical" })
      #expect(try await console.store.editorialItem(item.item.id) == item)
    }
  }

  @Test("The preview leads back to the editor with all that was typed", arguments: [true, false])
  func wayBack(isNew: Bool) async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["harbour"])
      let item = try await console.item(#""state": "review", "text": "Old text.""#)
      let target = isNew ? "/console/items/new" : ConsoleServer.path(item)
      let path = isNew ? "/console/items" : target
      let browser = try await console.signedIn()
      let opened = try await browser.get(target)
      var form = try opened.editor
      let preview = try #require(try opened.scan.tags.first { $0["formtarget"] == "_blank" }?["formaction"])
      for name in ["title", "summary", "text", "html", "author", "url", "language", "publishAt", "expireAt", "date"] {
        form[name] = ["url": "https://example.org/", "language": "en"][name] ?? "2026-01-02T03:04"
      }
      form["text"] = "One.\n\nTwo \"quoted\" <b>."
      form.add("topics", "harbour")
      form.add("breaking", "on")
      form.add("attachment-0-url", "/v1/media/\(UUID().uuidString.lowercased())")
      form.add("attachment-0-type", "image/png")
      let page = try await browser.post(form, "edit", to: preview)
      #expect(page.status == 200)
      let again = try await browser.submit(try page.form(path), "edit").editor
      #expect(again.action == path)
      for field in form.fields where field.name != "csrf" {
        #expect(again[field.name] == field.value, "\(field.name)")
      }
    }
  }

  @Test("The preview of a saved item has a link to the editor")
  func saved() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "draft", "title": "Fog", "text": "Old text.""#)
      let browser = try await console.signedIn()
      let scan = try PageScan(try await browser.get("\(ConsoleServer.path(item))/preview").text)
      #expect(scan.all("h1").first?.text == "Fog")
      #expect(scan.all("a").contains { $0["href"] == ConsoleServer.path(item) && $0.text == "Back to the editor" })
    }
  }

  @Test("The page for readers has no note")
  func readers() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "published", "text": "Fog lifts.""#)
      let page = try await console.browser().get("/items/\(item.item.id.uuidString.lowercased())")
      #expect(page.status == 200 && !page.text.contains("preview"))
    }
  }
}
