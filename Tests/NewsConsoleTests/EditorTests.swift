import Foundation
import News
import NewsAPI
import NewsStore
import TestSupport
import Testing

@Suite struct EditorTests {
  /// Opens the editor of an item.
  private static func editor(_ item: EditorialItem, _ browser: ConsoleBrowser) async throws -> ConsoleForm {
    try await browser.get(ConsoleServer.path(item)).editor
  }

  private static func stored(_ item: EditorialItem, _ console: ConsoleServer) async throws -> EditorialItem {
    try await console.store.editorialItem(item.item.id)
  }

  @Test("A new item is saved as a draft with all its fields")
  func draft() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["harbour", "weather"])
      let browser = try await console.signedIn()
      var form = try await browser.get("/console/items/new").editor
      #expect(form.actions.isSuperset(of: ["save", "review", "publish", "schedule", "attach"]))
      form["title"] = "Fog lifts"
      form["summary"] = "Ships sail again."
      form["text"] = "First line.\n\nSecond paragraph."
      form["html"] = "<p onclick=\"x()\">First <b>line</b>.</p><script>alert(1)</script>"
      form["language"] = "en"
      form["author"] = "Mara"
      form["url"] = "https://example.org/fog"
      form["publishAt"] = "2031-05-06T07:08"
      form["expireAt"] = "2031-05-07T07:08:09.010"
      form["date"] = "2026-01-02T03:04"
      form.add("topics", "weather")
      form.add("topics", "harbour")
      form.add("breaking", "on")
      let page = try await browser.submit(form, "save")
      #expect(page.status == 200)
      #expect(try page.texts(ofClass: "good").count == 1)
      let items = try await console.store.editorialItems(EditorialQuery()).items
      #expect(items.count == 1)
      let item = try #require(items.first)
      #expect(item.state == .draft && item.revision == 1 && item.item.breaking)
      #expect(item.item.title == "Fog lifts" && item.item.summary == "Ships sail again.")
      #expect(item.item.text == "First line.\n\nSecond paragraph.")
      #expect(item.item.html == "<p>First <b>line</b>.</p>")
      #expect(item.item.topics == ["harbour", "weather"] && item.item.language == "en" && item.item.author == "Mara")
      #expect(item.item.url == "https://example.org/fog")
      #expect(item.publishAt.map(RFC3339.string) == "2031-05-06T07:08:00.000Z")
      #expect(item.expireAt.map(RFC3339.string) == "2031-05-07T07:08:09.010Z")
      #expect(item.hasDate && RFC3339.string(from: item.item.date) == "2026-01-02T03:04:00.000Z")
      #expect(try await console.store.history(of: item.item.id, limit: 9).entries.first?.editor == .key("mara"))
    }
  }

  @Test("Saving a form unchanged changes nothing")
  func unchanged() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["harbour"])
      let item = try await console.item(
        #"""
        "state": "draft", "title": "<b>&amp; \"x\"", "text": "\n a\n\n b ", "summary": "s", "topics": ["harbour"],
        "publishAt": "2031-05-06T07:08:09.123Z", "html": "<p>x &lt; y</p>", "breaking": true, "language": "de",
        "author": "M", "url": "https://example.org/", "date": "2026-01-01T00:00:00Z",
        "attachments": [{"url": "https://example.org/a.png", "type": "image/png", "bytes": 7, "width": 3, "height": 4,
          "alt": "a", "caption": "c", "credit": "d"}]
        """#)
      let browser = try await console.signedIn()
      let page = try await browser.submit(try await Self.editor(item, browser), "save")
      #expect(page.status == 200)
      #expect(try await Self.stored(item, console) == item)
    }
  }

  @Test("Sending the form of a new item twice creates one item")
  func doubleSubmission() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      var form = try await browser.get("/console/items/new").editor
      form["text"] = "Fog lifts."
      let first = try await browser.post(form, "save")
      let second = try await browser.post(form, "save")
      #expect(first.status == 303 && second["Location"] == first["Location"])
      #expect(try await console.store.editorialItems(EditorialQuery()).items.count == 1)
    }
  }

  @Test("An item goes from draft to review, is scheduled, published, withdrawn, and published again")
  func states() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      var form = try await browser.get("/console/items/new").editor
      form["text"] = "Fog lifts."
      var page = try await browser.submit(form, "review")
      let item = try #require(try await console.store.editorialItems(EditorialQuery()).items.first)
      #expect(try await Self.stored(item, console).state == .review)
      form = try page.editor
      form["publishAt"] = "2031-05-06T07:08"
      page = try await browser.submit(form, "save")
      #expect(try await Self.stored(item, console).state == .review)
      page = try await browser.submit(try page.editor, "schedule")
      #expect(try await Self.stored(item, console).state == .scheduled)
      form = try page.editor
      form["title"] = "Fog"
      page = try await browser.submit(form, "save")
      #expect(try await Self.stored(item, console).state == .scheduled)
      page = try await browser.submit(try page.editor, "publish")
      let published = try await Self.stored(item, console)
      #expect(published.state == .published && published.publishAt == nil && published.item.title == "Fog")
      #expect(try await console.server.get("/v1/items/\(item.item.id.uuidString.lowercased())").status == 200)
      form = try page.editor
      #expect(!form.actions.contains("publish") && form.actions.contains("withdraw"))
      form["title"] = "Fog is gone"
      page = try await browser.submit(form, "save")
      #expect(try await Self.stored(item, console).state == .published)
      form = try page.editor
      form["title"] = "Fog is back"
      page = try await browser.submit(form, "withdraw")
      #expect(page.status == 200)
      #expect(try await Self.stored(item, console).state == .published)
      let again = try await browser.submit(try page.form(ConsoleServer.path(item)), "edit").editor
      #expect(again["title"] == "Fog is back" && again["state"] == "published")
      page = try await browser.submit(try page.form(ConsoleServer.path(item)), "withdraw")
      let withdrawn = try await Self.stored(item, console)
      #expect(withdrawn.state == .draft && withdrawn.item.title == "Fog is back")
      page = try await browser.submit(try page.editor, "publish")
      #expect(try await Self.stored(item, console).state == .published)
    }
  }

  @Test("A refused form comes back with each error beside its field, and with all that was typed")
  func fieldErrors() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["harbour"])
      let item = try await console.item(#""state": "draft", "text": "old""#)
      let browser = try await console.signedIn()
      for target in ["/console/items/new", ConsoleServer.path(item)] {
        var form = try await browser.get(target).editor
        form["title"] = "Typed title"
        form["summary"] = "Typed summary"
        form["text"] = " "
        form["html"] = "<p>Typed</p>"
        form["language"] = "not a language"
        form["url"] = "javascript:alert(1)"
        form["publishAt"] = "tomorrow"
        form.add("topics", "harbour")
        let page = try await browser.submit(form, "schedule")
        #expect(page.status == 422)
        let again = try page.editor
        for name in ["title", "summary", "html", "language", "url", "publishAt", "topics"] {
          #expect(again[name] == form[name], "\(name)")
        }
        let tags = try page.scan.tags
        for name in ["text", "language", "url", "publishAt"] {
          let field = try #require(tags.first { $0["id"] == name })
          #expect(field["aria-invalid"] == "true", "\(name)")
          #expect(field["aria-describedby"]?.contains("\(name)-error") ?? false, "\(name)")
          #expect(tags.first { $0["id"] == "\(name)-error" }?.text.isEmpty == false, "\(name)")
        }
        #expect(tags.first { $0["id"] == "title" }?["aria-invalid"] == nil)
      }
      #expect(try await Self.stored(item, console).revision == 1)
    }
  }

  @Test("Scheduling without a time, and into the past, is refused beside the field")
  func scheduleErrors() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      for (time, text) in [("", "Is required to schedule the item."), ("2020-01-01T00:00", "Must be in the future.")] {
        var form = try await browser.get("/console/items/new").editor
        form["text"] = "Fog lifts."
        form["publishAt"] = time
        let page = try await browser.submit(form, "schedule")
        #expect(page.status == 422)
        #expect(try page.scan.tags.first { $0["id"] == "publishAt-error" }?.text == text)
      }
    }
  }

  @Test("A text that cannot be saved any more, because the item was retracted, is shown again")
  func retractedMeanwhile() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "published", "text": "Fog lifts.""#)
      let browser = try await console.signedIn()
      var form = try await Self.editor(item, browser)
      form["text"] = "A long new text."
      try await console.store.retract(item.item.id, reason: nil, if: .exists)
      let page = try await browser.submit(form, "save")
      #expect(page.status == 410)
      #expect(try page.editor["text"] == "A long new text.")
    }
  }

  @Test("An earlier version is restored from the history, which shows the differences")
  func restore() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "draft", "title": "Fog", "text": "The fog lifts.""#)
      let browser = try await console.signedIn()
      var form = try await Self.editor(item, browser)
      form["title"] = "Mist"
      form["text"] = "The mist lifts."
      _ = try await browser.submit(form, "save")
      let history = try await browser.get("\(ConsoleServer.path(item))/history")
      #expect(try Set(history.scan.all("del").map(\.text)) == ["fog", "Fog"])
      #expect(try Set(history.scan.all("ins").map(\.text)) == ["mist", "Mist"])
      let question = try await browser.submit(try history.form("/history/1/restore"))
      #expect(question.status == 200)
      #expect(try await Self.stored(item, console).revision == 2)
      let page = try await browser.submit(try question.form("/history/1/restore"))
      #expect(page.status == 200)
      let stored = try await Self.stored(item, console)
      #expect(stored.item.title == "Fog" && stored.item.text == "The fog lifts." && stored.revision == 3)
      // The form belongs to the revision that the page has shown.
      #expect(try await browser.post(try history.form("/history/1/restore")).status == 412)
      #expect(try await browser.post(try question.form("/history/1/restore")).status == 412)
    }
  }

  @Test("The history says that older revisions were removed, and that one of them cannot be restored any more")
  func removedRevisions() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "draft", "text": "One""#)
      let browser = try await console.signedIn()
      for text in ["Two", "Three"] {
        var form = try await Self.editor(item, browser)
        form["text"] = text
        _ = try await browser.submit(form, "save")
      }
      let path = "\(ConsoleServer.path(item))/history"
      let notice = "Older revisions are no longer stored."
      let history = try await browser.get(path)
      #expect(!history.text.contains(notice))
      let question = try await browser.submit(try history.form("/history/1/restore"))
      #expect(try await console.store.sweepHistory(keeping: HistoryRetention()) == 2)
      #expect(try await browser.get(path).text.contains(notice))
      let gone = try await browser.submit(try question.form("/history/1/restore"))
      try gone.check(status: 410)
      #expect(gone.text.contains("This revision was removed from the history of the item."))
      #expect(!gone.text.contains("The history of the item begins later"))
      #expect(try await Self.stored(item, console).revision == 3)
    }
  }

  @Test("A text that changes beside unchanged HTML is saved once the editor has chosen what becomes of the HTML")
  func htmlChoice() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(
        #""state": "published", "text": "The mayer said yes.", "html": "<p>The mayer said <b>yes</b>.</p>""#)
      let browser = try await console.signedIn()
      var form = try await Self.editor(item, browser)
      form["text"] = "The mayor said yes."
      form["title"] = "A title"
      let refused = try await browser.submit(form, "save")
      #expect(refused.status == 422)
      #expect(
        try refused.scan.tags.first { $0["id"] == "text-error" }?.text
          == "Readers see the formatted text, which has not changed. Choose what becomes of it, or change it too.")
      #expect(try await Self.stored(item, console).revision == 1)
      form = try refused.editor
      #expect(form["text"] == "The mayor said yes." && form["title"] == "A title")
      form.add("htmlChoice", "keep")
      _ = try await browser.submit(form, "save")
      var stored = try await Self.stored(item, console).item
      #expect(stored.text == "The mayor said yes." && stored.html == "<p>The mayer said <b>yes</b>.</p>")
      form = try await Self.editor(item, browser)
      form["text"] = "The mayor said yes!"
      form.add("htmlChoice", "remove")
      _ = try await browser.submit(form, "save")
      stored = try await Self.stored(item, console).item
      #expect(stored.text == "The mayor said yes!" && stored.html == nil)
      form = try await Self.editor(item, browser)
      form["html"] = "<p>Yes!</p>"
      form["text"] = "Yes!"
      _ = try await browser.submit(form, "save")
      #expect(try await Self.stored(item, console).item.html == "<p>Yes!</p>")
    }
  }

  @Test("An item is retracted with a reason, on a page of its own")
  func retract() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "published", "text": "Fog lifts.""#)
      let browser = try await console.signedIn()
      var form = try await browser.get("\(ConsoleServer.path(item))/retract").form("/retract")
      form["reason"] = String(repeating: "x", count: 513)
      let refused = try await browser.submit(form)
      #expect(refused.status == 422)
      #expect(try refused.form("/retract")["reason"] == form["reason"])
      form["reason"] = "It was wrong."
      let page = try await browser.submit(form)
      #expect(page.status == 200 && page.text.contains("It was wrong."))
      let stored = try await Self.stored(item, console)
      #expect(stored.state == .retracted && stored.retractionReason == "It was wrong.")
      #expect(try page.editor.actions.isDisjoint(with: ["save", "publish", "review", "withdraw"]))
    }
  }

  @Test("An item is taken down with its texts, whether or not it was retracted before", arguments: [true, false])
  func takeDown(isRetracted: Bool) async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "published", "text": "Fog lifts.""#)
      if isRetracted { try await console.store.retract(item.item.id, reason: "old", if: .exists) }
      let browser = try await console.signedIn()
      var form = try await browser.get("\(ConsoleServer.path(item))/erase").form("/erase")
      form["reason"] = "By court order."
      let page = try await browser.submit(form)
      #expect(page.status == 200 && page.target.hasPrefix("/console/items?"))
      let stored = try await Self.stored(item, console)
      #expect(stored.state == .retracted && stored.erased != nil && !stored.item.text.contains("Fog"))
      #expect(stored.retractionReason == "By court order.")
    }
  }

  @Test("A retraction of a revision that is not the present one is asked for again")
  func outdatedRetraction() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "published", "text": "Fog lifts.""#)
      let browser = try await console.signedIn()
      for end in ["retract", "erase"] {
        let form = try await browser.get("\(ConsoleServer.path(item))/\(end)").form("/\(end)")
        let current = try await Self.stored(item, console)
        _ = try await console.server.write(
          "PATCH", "items/\(item.item.id.uuidString.lowercased())", #"{"author": "\#(end)"}"#,
          ("If-Match", "\"r\(current.revision)\""))
        let page = try await browser.submit(form)
        #expect(page.status == 412)
        #expect(try page.form("/\(end)")["revision"] == "\(current.revision + 1)")
        #expect(try await Self.stored(item, console).state == .published)
      }
    }
  }
}
