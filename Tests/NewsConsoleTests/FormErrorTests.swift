import Foundation
import News
import NewsAPI
import NewsPages
import NewsStore
import TestSupport
import Testing

/// The pages of forms of items that were not accepted.
@Suite struct FormErrorTests {
  /// Fields that break rules, and the sentences about them in German.
  private static let broken: [(field: String, value: String, sentence: String)] = [
    ("title", String(repeating: "x", count: 1025), "Darf nicht länger als 1024 Bytes sein."),
    ("summary", "a\u{1}b", "Darf keine Steuerzeichen enthalten."), ("text", " ", "Ist erforderlich."),
    ("html", String(repeating: "x", count: 524_289), "Darf nicht länger als 524288 Bytes sein."),
    ("language", "not a language", "Muss ein Sprachkürzel sein wie de oder pt-BR."),
    ("author", String(repeating: "x", count: 257), "Darf nicht länger als 256 Bytes sein."),
    ("url", "nowhere", "Muss eine Adresse sein, die mit http:// oder https:// beginnt."),
    ("publishAt", "tomorrow", "Muss ein Datum mit Uhrzeit sein."),
    ("expireAt", "tomorrow", "Muss ein Datum mit Uhrzeit sein."),
    ("date", "yesterday", "Muss ein Datum mit Uhrzeit sein."),
    ("attachment-0-alt", String(repeating: "x", count: 1025), "Darf nicht länger als 1024 Bytes sein."),
    ("attachment-2-credit", "a\u{1}b", "Darf keine Steuerzeichen enthalten."),
  ]

  /// Returns the form of a new item with three attachments, of which the second is to be removed.
  private static func form(_ browser: ConsoleBrowser) async throws -> ConsoleForm {
    var form = try await browser.get("/console/items/new").editor
    for index in 0..<3 {
      form.add("attachment-\(index)-url", "https://example.org/\(index).png")
      form.add("attachment-\(index)-type", "image/png")
    }
    form.add("attachment-1-remove", "on")
    return form
  }

  @Test("Each error is beside its field, in the language of the installation, and in a list with links to the fields")
  func errors() async throws {
    try await ConsoleServer.with(settings: { $0.language = .german }) { console in
      let browser = try await console.signedIn()
      var form = try await Self.form(browser)
      for (field, value, _) in Self.broken { form[field] = value }
      for index in 0..<17 { form.add("topics", "topic-\(index)") }
      let page = try await browser.submit(form, "save")
      try page.check(status: 422)
      for (field, value, sentence) in Self.broken {
        #expect(try page.error(of: field) == sentence, "\(field)")
        #expect(try page.editor[field] == value, "\(field)")
      }
      let scan = try page.scan
      #expect(scan.tags.first { $0["id"] == "topics-error" }?.text == "Höchstens 16 Themen sind möglich.")
      let links = scan.all("a").compactMap { $0["href"] }.filter { $0.hasPrefix("#") && $0 != "#content" }
      #expect(Set(links) == Set(Self.broken.map { "#\($0.field)" } + ["#topics"]))
      // The list has the order of the form.
      #expect(links == scan.tags.compactMap { tag in tag["id"].map { "#\($0)" } }.filter(Set(links).contains))
      let problem = try #require(scan.tags.first { $0["id"] == "problem" })
      #expect(problem["role"] == "alert" && problem["tabindex"] == "-1")
      #expect(problem.text == "Einige Felder sind nicht gültig. Nichts wurde gespeichert.")
      #expect(scan.all("title").first?.text.hasPrefix("Fehler: Neue Meldung – ") ?? false)
    }
  }

  @Test(
    "The rules about times are explained in German",
    arguments: [
      ("schedule", "publishAt", "", "Ist erforderlich, um die Meldung zu planen."),
      ("schedule", "publishAt", "2020-01-01T00:00", "Muss in der Zukunft liegen."),
      ("save", "date", "2131-01-01T00:00", "Darf nicht in der Zukunft liegen."),
      ("publish", "expireAt", "2020-01-01T00:00", "Muss in der Zukunft liegen."),
      ("publish", "date", "2131-01-01T00:00", "Darf nicht in der Zukunft liegen."),
    ])
  func times(action: String, field: String, value: String, sentence: String) async throws {
    try await ConsoleServer.with(settings: { $0.language = .german }) { console in
      let browser = try await console.signedIn()
      var form = try await browser.get("/console/items/new").editor
      form["text"] = "Nebel."
      form[field] = value
      let page = try await browser.submit(form, action)
      try page.check(status: 422)
      #expect(try page.error(of: field) == sentence)
    }
  }

  @Test("An item that is to expire before it is published, or has a date after that, is refused")
  func orderOfTimes() async throws {
    try await ConsoleServer.with(settings: { $0.language = .german }) { console in
      let browser = try await console.signedIn()
      var form = try await browser.get("/console/items/new").editor
      form["text"] = "Nebel."
      form["publishAt"] = "2131-01-02T00:00"
      form["expireAt"] = "2131-01-01T00:00"
      form["date"] = "2131-01-03T00:00"
      let page = try await browser.submit(form, "schedule")
      #expect(try page.error(of: "expireAt") == "Muss nach der Veröffentlichung liegen.")
      #expect(try page.error(of: "date") == "Darf nicht nach der Veröffentlichung liegen.")
    }
  }

  @Test("An address with invalid parameters is explained in German")
  func parameters() async throws {
    try await ConsoleServer.with(settings: { $0.language = .german }) { console in
      let browser = try await console.signedIn()
      let search = String(repeating: "%C3%A4", count: 129)
      for (query, sentence) in [
        ("from=x", "Ist nicht gültig."), ("topic=X", "Muss 1 bis 64 Kleinbuchstaben"),
        ("cursor=x", "Ist nicht gültig."),
        ("q=\(search)", "Darf nicht länger als 256 Bytes sein."), ("x=1", "Ist nicht gültig."),
      ] {
        let page = try await browser.get("/console/items?\(query)")
        #expect(page.status == 400)
        #expect(try page.scan.all("li").contains { $0.text.contains(sentence) }, "\(query)")
      }
    }
  }

  @Test("An item without a date of its own has none in the form, and removing the date restores that")
  func ownDate() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let item = try await console.item(#""state": "draft", "text": "Fog lifts.""#)
      let path = ConsoleServer.path(item)
      var form = try await browser.get(path).editor
      #expect(form["date"] == "")
      form["date"] = "2026-01-02T03:04"
      form = try await browser.submit(form, "save").editor
      #expect(form["date"] == "2026-01-02T03:04")
      #expect(try await console.store.editorialItem(item.item.id).hasDate)
      form["date"] = ""
      form = try await browser.submit(form, "save").editor
      #expect(form["date"] == "")
      #expect(try await !console.store.editorialItem(item.item.id).hasDate)
    }
  }

  @Test("A form of an earlier session comes back with its texts, stores nothing, and can be sent again")
  func laterSession() async throws {
    try await ConsoleServer.with { console in
      let key = try await console.store.createKey(name: "anna", permissions: [.itemsPublish, .mediaWrite])
      let browser = console.browser()
      try await browser.signIn(key)
      let item = try await console.item(#""state": "draft", "text": "Fog lifts.""#)
      for target in ["/console/items/new", ConsoleServer.path(item)] {
        var form = try await browser.get(target).editor
        form["text"] = "A long new text."
        try await browser.signIn(key)
        let before = try await console.store.editorialItems(EditorialQuery()).items
        let file = FormFile(name: "x.png", type: "image/png", content: SampleMedia.png())
        let page = try await browser.submit(form, "publish", files: [file])
        try page.check(status: 403)
        #expect(try await console.store.editorialItems(EditorialQuery()).items == before)
        #expect(try await console.store.editorialMedia(MediaQuery()).files.isEmpty)
        let again = try page.editor
        #expect(again["text"] == "A long new text.")
        #expect(try await browser.submit(again, "publish").status == 200)
        // A page of another site cannot fill in the form.
        let foreign = try await browser.post(form, "publish", headers: [])
        #expect(foreign.status == 403 && !foreign.text.contains("A long new text."))
      }
    }
  }
}
