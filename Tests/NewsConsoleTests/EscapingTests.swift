import Foundation
import News
import NewsAPI
import NewsStore
import TestSupport
import Testing

/// Texts that would run as markup in a page that does not escape them. `PageScan` refuses any page with a tag or an
/// attribute that no template has.
@Suite struct EscapingTests {
  private static let hostile = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'onmouseover='alert(1)",
    "</textarea><script>x</script>",
    "</title><svg onload=alert(1)>", "{{{csrf}}}{{>head}}", "&lt;b&gt;", "\"\u{301}><b onclick=x>", "</option><b>",
    "<!--", "javascript:alert(1)//", "${x}`",
  ]

  /// The texts that a field with one line may have.
  private static func json(_ text: String) throws -> String {
    String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
  }

  @Test("Stored texts are shown as they are, on every page of the console", arguments: hostile)
  func stored(text: String) async throws {
    try await ConsoleServer.with { console in
      let value = try Self.json(text)
      _ = try await console.server.write("POST", "topics", #"{"slug": "fog", "titles": {"en": \#(value)}}"#)
        .json(Topic.self, status: 201)
      let item = try await console.item(
        """
        "state": "published", "title": \(value), "text": \(value), "summary": \(value), "author": \(value),
        "topics": ["fog"], "attachments": [{"url": "https://example.org/a.png", "type": "image/png", "alt": \(value),
        "caption": \(value), "credit": \(value)}]
        """)
      let browser = try await console.signedIn([.admin], name: text)
      let path = ConsoleServer.path(item)
      var form = try await browser.get(path).editor
      #expect(form["title"] == text && form["text"] == text && form["summary"] == text && form["author"] == text)
      #expect(form["attachment-0-alt"] == text && form["attachment-0-caption"] == text)
      form["text"] = text + " again"
      form["title"] = "x " + text
      #expect(try await browser.submit(form, "save").status == 200)
      for target in [
        "/console/items", "/console/items/new", path, "\(path)/history", "\(path)/retract", "\(path)/erase",
        "/console/files", "/console/sessions", "/console/items?topic=fog",
      ] {
        let page = try await browser.get(target)
        #expect(page.status == 200)
        #expect(try page.texts(ofClass: "key") == [text], "\(target)")
      }
      // The preview of a saved item has the tags of a page for readers, and no others.
      _ = try PageScan(try await browser.get("\(path)/preview").text)
      var retraction = try await browser.get("\(path)/retract").form("/retract")
      retraction["reason"] = text
      let retracted = try await browser.submit(retraction)
      #expect(try retracted.scan.text.contains(text))
    }
  }

  @Test("Typed texts of a refused form are shown as they are", .sharedConsole, arguments: hostile)
  func reflectedByForms(text: String) async throws {
    try await ConsoleServer.withShared { console in
      let item = try await console.item(#""state": "draft", "text": "Fog lifts.""#)
      let browser = try await console.signedIn()
      var form = try await browser.get(ConsoleServer.path(item)).editor
      let names = ["title", "summary", "text", "html", "language", "author", "url", "publishAt", "expireAt", "date"]
      for name in names { form[name] = text }
      form.add("topics", text)
      form.add("attachment-0-url", text)
      form.add("attachment-0-type", text)
      form.add("attachment-0-alt", text)
      form.add("attachment-0-bytes", text)
      let page = try await browser.submit(form, "schedule")
      #expect(page.status == 422)
      let again = try page.editor
      for name in names + ["topics"] { #expect(again[name] == text, "\(name)") }
      form["revision"] = "9"
      for name in ["language", "url", "publishAt", "expireAt", "date", "topics", "attachment-0-url"] {
        form[name] = nil
      }
      let conflict = try await browser.submit(form, "save")
      #expect(conflict.status == 412)
      #expect(try conflict.form(ConsoleServer.path(item))["title"] == text)
      let preview = try await browser.post(form, "edit", to: "/console/items/preview")
      _ = try preview.scan
    }
  }

  @Test("Texts of an address and of the form to sign in are shown as they are", .sharedConsole, arguments: hostile)
  func reflectedByAddresses(text: String) async throws {
    try await ConsoleServer.withShared { console in
      let browser = try await console.signedIn()
      let value = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      let found = try await browser.get("/console/items?q=\(value)")
      #expect(found.status == 200)
      #expect(try found.form("/console/items")["q"] == text)
      for target in [
        "/console/items?state=\(value)", "/console/items?topic=\(value)", "/console/items?from=\(value)",
        "/console/items?cursor=\(value)", "/console/items?\(value)=x", "/console/items/\(value)", "/console/\(value)",
        "/console/sign-in?next=\(value)", "/console/files?used=\(value)", "/console/files/\(value)",
        "/console/assets/\(value)", "/console/items?done=\(value)",
      ] { _ = try await browser.get(target).scan }
      var form = try await console.browser().get("/console/sign-in").form("/console/sign-in")
      form["key"] = text
      form["next"] = text
      _ = try await console.browser().post(form).scan
    }
  }

  @Test("The name of a file is shown as it is")
  func fileNames() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let form = try await browser.get("/console/files").form("/console/files")
      let name = "<b onclick=x>'%22&amp;.png"
      let page = try await browser.submit(
        form, files: [FormFile(name: name, type: "image/png", content: SampleMedia.png())])
      #expect(try page.texts(ofClass: "name") == ["<b onclick=x>'\"&amp;.png"])
      #expect(try await browser.get("/console/items/new").scan.text.contains("<b onclick=x>'\"&amp;.png"))
    }
  }
}
