import Foundation
import News
import NewsAPI
import NewsStore
import TestSupport
import Testing

@Suite struct AccessTests {
  @Test("A key that may not publish gets no buttons for it, and the server refuses it")
  func withoutPublishing() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn([.itemsWrite])
      var form = try await browser.get("/console/items/new").editor
      #expect(
        form.actions.isSuperset(of: ["save", "review"]) && form.actions.isDisjoint(with: ["publish", "schedule"]))
      form["text"] = "Fog lifts."
      form["publishAt"] = "2031-05-06T07:08"
      for action in ["publish", "schedule"] {
        let page = try await browser.submit(form, action)
        #expect(page.status == 403)
        #expect(try page.editor["text"] == "Fog lifts.")
      }
      #expect(try await console.store.editorialItems(EditorialQuery()).items.isEmpty)
      #expect(try await browser.submit(form, "save").status == 200)
      #expect(try await console.store.editorialItems(EditorialQuery()).items.map(\.state) == [.draft])
    }
  }

  @Test("A key that may not publish only reads what readers see")
  func publishedItems() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "published", "text": "Fog lifts.""#)
      let browser = try await console.signedIn([.itemsWrite])
      let path = ConsoleServer.path(item)
      let page = try await browser.get(path)
      #expect(page.status == 200)
      #expect(try page.scan.tags.first { $0.name == "fieldset" }?["disabled"] != nil)
      var form = try page.editor
      #expect(form.actions.isDisjoint(with: ["save", "publish", "withdraw"]))
      form["text"] = "Other."
      for action in ["save", "withdraw", "review", "publish"] {
        #expect(try await browser.submit(form, action).status == 403)
      }
      #expect(try await browser.get("\(path)/erase").status == 403)
      let retraction = try await browser.get("\(path)/retract").form("/retract")
      #expect(try await browser.post(retraction).status == 403)
      #expect(try await browser.post(retraction, to: "\(path)/erase").status == 403)
      #expect(try await console.store.editorialItem(item.item.id) == item)
    }
  }

  @Test("A key that is restricted to topics sees and writes nothing else")
  func topics() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["sport", "politics"])
      let hidden = try await console.item(#""state": "draft", "title": "Secret", "text": "s", "topics": ["politics"]"#)
      let shown = try await console.item(#""state": "draft", "title": "Match", "text": "m", "topics": ["sport"]"#)
      let browser = try await console.signedIn(topics: ["sport"])
      let list = try await browser.get("/console/items")
      #expect(list.text.contains("Match") && !list.text.contains("Secret"))
      #expect(try list.texts(ofClass: "count").first == "1")
      let path = ConsoleServer.path(hidden)
      for target in [path, "\(path)/history", "\(path)/preview", "\(path)/retract", "\(path)/erase"] {
        #expect(try await browser.get(target).status == 404, "\(target)")
      }
      var form = try await browser.get(ConsoleServer.path(shown)).editor
      #expect(try await browser.post(form, "save", to: path).status == 404)
      form["topics"] = "politics"
      #expect(try await browser.submit(form, "save").status == 403)
      form["topics"] = nil
      #expect(try await browser.submit(form, "save").status == 403)
      form = try await browser.get("/console/items/new").editor
      #expect(form["topics"] == "sport")
      form["text"] = "New."
      #expect(try await browser.submit(form, "publish").status == 200)
      #expect(try await console.store.editorialItem(hidden.item.id) == hidden)
    }
  }

  @Test("The history shows a key that is restricted to topics nothing from an item's time in other topics")
  func earlierTopics() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["sport", "politics"])
      let item = try await console.item(#""state": "draft", "text": "Secret words.", "topics": ["politics"]"#)
      let path = ConsoleServer.path(item)
      for body in [#"{"text": "Open words.", "topics": ["sport"]}"#, #"{"text": "Open words again."}"#] {
        let id = item.item.id.uuidString.lowercased()
        #expect(try await console.server.write("PATCH", "items/\(id)", body, ("If-Match", "*")).status == 200)
      }
      let browser = try await console.signedIn(topics: ["sport"])
      let history = try await browser.get("\(path)/history")
      #expect(history.text.contains("again") && !history.text.contains("Secret"))
      var form = try await console.signedIn(name: "desk").get("\(path)/history").form("/history/1/restore")
      form["csrf"] = try await browser.get(path).editor["csrf"]
      form.add("confirmed", "on")
      #expect(try await browser.post(form).status == 404)
    }
  }

  @Test("A key reaches only the parts of the console that it has a permission for")
  func sections() async throws {
    try await ConsoleServer.with { console in
      let files = try await console.signedIn([.mediaWrite], name: "files")
      #expect(try await files.open("/console").target == "/console/files")
      #expect(try await files.get("/console/items").status == 403)
      #expect(try await files.get("/console/items/new").status == 403)
      let push = try await console.signedIn([.pushSend], name: "push")
      #expect(try await push.open("/console").target == "/console/pushes")
      #expect(try await push.get("/console/files").status == 403)
      let writer = try await console.signedIn([.itemsWrite], name: "writer")
      let page = try await writer.get("/console/files")
      #expect(page.status == 200)
      #expect(try page.scan.tags.allSatisfy { $0["name"] != "upload" })
    }
  }

  @Test("A key sees and ends its own sessions, an administrator all")
  func sessions() async throws {
    try await ConsoleServer.with { console in
      let mara = try await console.signedIn(name: "mara")
      let ben = try await console.signedIn(name: "ben")
      let admin = try await console.signedIn([.admin], name: "admin")
      func names(_ page: ConsolePage) throws -> Set<String> {
        Set(try page.texts(ofClass: "title").map { $0.trimmingCharacters(in: .whitespaces) })
      }
      #expect(try names(try await mara.get("/console/sessions")) == ["mara"])
      let all = try await admin.get("/console/sessions")
      #expect(try names(all) == ["admin", "ben", "mara"])
      let token = try #require(ben.cookies["tidings_console"])
      let session = try #require(try await console.store.session(token: token))
      let end = "/console/sessions/\(session.id.uuidString.lowercased())/end"
      let own = try await mara.get("/console/items").form("/console/sign-out")
      #expect(try await mara.post(own, to: end).status == 404)
      #expect(try await ben.get("/console/items").status == 200)
      #expect(try await admin.submit(try all.form(end)).status == 200)
      #expect(try await ben.get("/console/items").status == 303)
    }
  }
}
