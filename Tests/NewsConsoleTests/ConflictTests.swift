import Foundation
import News
import NewsAPI
import NewsStore
import TestSupport
import Testing

/// Forms of items that have changed since the form was made.
@Suite struct ConflictTests {
  private static func editor(_ item: EditorialItem, _ browser: ConsoleBrowser) async throws -> ConsoleForm {
    try await browser.get(ConsoleServer.path(item)).editor
  }

  private static func stored(_ item: EditorialItem, _ console: ConsoleServer) async throws -> EditorialItem {
    try await console.store.editorialItem(item.item.id)
  }

  /// Changes an item through the API, as the key `ben`.
  private static func change(_ item: EditorialItem, _ patch: String, _ console: ConsoleServer) async throws {
    let response = try await console.server.send(
      "PATCH", "/v1/editorial/items/\(item.item.id.uuidString.lowercased())",
      key: try await console.store.createKey(name: "ben", permissions: [.itemsPublish]),
      headers: [("If-Match", "*")], body: patch)
    try #require(response.status == 200, "\(response.text)")
  }

  @Test("A conflict shows both versions, each with its author, and mine can be saved over the other")
  func conflict() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "draft", "title": "Fog", "text": "The fog lifts slowly.""#)
      let browser = try await console.signedIn()
      var form = try await Self.editor(item, browser)
      form["text"] = "The fog lifts quickly."
      form["author"] = "Mara"
      try await Self.change(item, #"{"text": "The mist lifts slowly.", "title": "Mist"}"#, console)
      let page = try await browser.submit(form, "save")
      try page.check(status: 412)
      let scan = try page.scan
      #expect(scan.all("h2").map(\.text) == ["Title", "Text", "Author"])
      let labels = ["Stored now, by ben", "Yours, not saved"]
      #expect(scan.all("h3").map(\.text) == labels + labels + labels)
      #expect(scan.all("strong").map(\.text) == ["Stored now, by ben, "])
      #expect(scan.all("time").contains { $0["datetime"]?.isEmpty == false })
      #expect(scan.all("mark").map(\.text) == ["Mist", "Fog", "mist", "slowly", "fog", "quickly", "Mara"])
      #expect(scan.all("del").isEmpty && scan.all("ins").isEmpty)
      #expect(try page.texts(ofClass: "skipped") == ["empty"])
      #expect(try await Self.stored(item, console).item.title == "Mist")
      let editing = try await browser.submit(try page.form(ConsoleServer.path(item)), "edit").editor
      #expect(editing["text"] == "The fog lifts quickly." && editing["author"] == "Mara" && editing["revision"] == "2")
      let saved = try await browser.submit(try page.form(ConsoleServer.path(item)), "save")
      #expect(saved.status == 200)
      let stored = try await Self.stored(item, console)
      #expect(stored.item.text == "The fog lifts quickly." && stored.item.title == "Fog" && stored.revision == 3)
      #expect(stored.item.author == "Mara" && stored.state == .draft)
    }
  }

  @Test("A conflict of a publication publishes only once it is confirmed")
  func publication() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "draft", "text": "Fog lifts.""#)
      let browser = try await console.signedIn()
      let form = try await Self.editor(item, browser)
      try await Self.change(item, #"{"author": "Ben"}"#, console)
      let page = try await browser.submit(form, "publish")
      #expect(page.status == 412)
      #expect(try await Self.stored(item, console).state == .draft)
      #expect(page.text.contains("Publish mine over it"))
      let conflict = try page.form(ConsoleServer.path(item))
      #expect(conflict.actions == ["publish", "edit"])
      _ = try await browser.submit(conflict, "publish")
      let stored = try await Self.stored(item, console)
      #expect(stored.state == .published && stored.item.author == nil)
    }
  }

  @Test("A conflict with a publication says that saving keeps the item published")
  func published() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "draft", "text": "Fog lifts.""#)
      let browser = try await console.signedIn()
      var form = try await Self.editor(item, browser)
      form["title"] = "Fog"
      try await Self.change(item, #"{"state": "published"}"#, console)
      let page = try await browser.submit(form, "save")
      #expect(page.status == 412)
      #expect(page.text.contains("The item is now in the state “Published”."))
    }
  }

  @Test("A form that is sent twice is no conflict", arguments: ["save", "review", "publish", "schedule"])
  func sentTwice(action: String) async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "draft", "text": "Fog lifts.""#)
      let browser = try await console.signedIn()
      var form = try await Self.editor(item, browser)
      form["title"] = "Fog"
      if action == "schedule" { form["publishAt"] = "2131-05-06T07:08" }
      let first = try await browser.post(form, action)
      let revision = try await Self.stored(item, console).revision
      let second = try await browser.post(form, action)
      #expect(first.status == 303 && second.status == 303 && second["Location"] == first["Location"])
      #expect(try await Self.stored(item, console).revision == revision)
    }
  }

  @Test("The form of a new item that is changed and sent again changes the item that it has made")
  func backToNewItem() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      var form = try await browser.get("/console/items/new").editor
      form["text"] = "Fog lifts."
      _ = try await browser.submit(form, "save")
      let item = try #require(try await console.store.editorialItems(EditorialQuery()).items.first)
      form["text"] = "Fog lifts at last."
      let page = try await browser.submit(form, "save")
      #expect(page.status == 412)
      #expect(try await browser.submit(try page.form(ConsoleServer.path(item)), "save").status == 200)
      #expect(try await Self.stored(item, console).item.text == "Fog lifts at last.")
      #expect(try await console.store.editorialItems(EditorialQuery()).items.count == 1)
    }
  }

  @Test("A retraction and an erasure that are sent twice are done once", arguments: ["retract", "erase"])
  func endSentTwice(end: String) async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "published", "text": "Fog lifts.""#)
      let browser = try await console.signedIn()
      let form = try await browser.get("\(ConsoleServer.path(item))/\(end)").form("/\(end)")
      let first = try await browser.post(form)
      let revision = try await Self.stored(item, console).revision
      let second = try await browser.post(form)
      #expect(first.status == 303 && second.status == 303 && second["Location"] == first["Location"])
      #expect(try await Self.stored(item, console).revision == revision)
    }
  }

  @Test("A restoration of an item that has changed shows the history again")
  func outdatedRestoration() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "draft", "text": "Fog lifts.""#)
      let browser = try await console.signedIn()
      try await Self.change(item, #"{"text": "Mist lifts."}"#, console)
      let history = try await browser.get("\(ConsoleServer.path(item))/history")
      try await Self.change(item, #"{"author": "Ben"}"#, console)
      let page = try await browser.submit(try history.form("/history/1/restore"))
      try page.check(status: 412)
      #expect(
        try page.texts(ofClass: "bad") == [
          "The item has changed since you opened the page, and nothing was done. Look at it again."
        ])
      #expect(try page.form("/history/1/restore")["revision"] == "3")
    }
  }
}
