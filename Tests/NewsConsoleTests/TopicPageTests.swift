import Foundation
import News
import NewsAPI
import NewsPages
import NewsStore
import TestSupport
import Testing

@Suite struct TopicPageTests {
  private static let list = "/console/topics"

  private static func edit(_ slug: String) -> String { "/console/topics/\(slug)/edit" }

  private static func removal(_ slug: String) -> String { "/console/topics/\(slug)/remove" }

  /// Returns the form of a new topic.
  private static func newForm(_ browser: ConsoleBrowser) async throws -> ConsoleForm {
    try await browser.get("/console/new-topic").form(list)
  }

  private static func topic(_ slug: String, _ console: ConsoleServer) async throws -> Topic? {
    try await console.store.topics().topics.first { $0.slug == slug }
  }

  private static func slugs(_ console: ConsoleServer) async throws -> [String] {
    try await console.store.topics().topics.map(\.slug)
  }

  @Test("Topics are listed in their order, with the titles of all languages and the number of items")
  func topics() async throws {
    try await ConsoleServer.with { console in
      for body in [
        #"{"slug": "weather", "position": 2, "titles": {"en": "Weather", "de": "Wetter"}}"#,
        #"{"slug": "harbour", "position": 1}"#,
      ] { _ = try await console.server.write("POST", "topics", body).json(Topic.self, status: 201) }
      _ = try await console.item(#""state": "published", "text": "Fog lifts.", "topics": ["weather"]"#)
      _ = try await console.item(#""state": "draft", "text": "Storm rises.", "topics": ["weather"]"#)
      let browser = try await console.signedIn()
      let page = try await browser.get(Self.list)
      try page.check()
      #expect(try page.texts(ofClass: "slug") == ["harbour", "weather"])
      let titles = try page.scan.tags.filter { $0.name == "span" && $0["lang"] != nil }
      #expect(titles.map { "\($0["lang"] ?? "") \($0.text)" } == ["de Wetter", "en Weather"])
      let links = try page.scan.all("a").filter { $0["href"]?.contains("topic=") ?? false }
      #expect(links.map(\.text) == ["Published items: 0", "Published items: 1"])
      let items = try await browser.get(try #require(links.last?["href"]))
      #expect(items.text.contains("Fog lifts.") && !items.text.contains("Storm rises."))
      for target in [Self.edit("weather"), Self.removal("weather"), "/console/new-topic"] {
        try await browser.get(target).check()
      }
    }
  }

  @Test("A topic is created with titles in several languages", arguments: ["harbour", "new"])
  func creation(slug: String) async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      var form = try await Self.newForm(browser)
      #expect(form["title-0-language"] == "en")
      form["slug"] = slug
      form["title-0-text"] = "Harbour"
      form["title-1-language"] = "de"
      form["title-1-text"] = "Hafen"
      form["title-2-language"] = "fr"
      form["position"] = "-7"
      let page = try await browser.submit(form, "save")
      try page.check()
      #expect(try page.texts(ofClass: "good") == ["The topic was saved."])
      let topic = try #require(try await Self.topic(slug, console))
      #expect(topic.titles == ["en": "Harbour", "de": "Hafen"] && topic.position == -7 && topic.revision == 1)
      // A form that is sent twice has no further effect.
      #expect(try await browser.post(form, "save").status == 303)
      #expect(try await Self.topic(slug, console) == topic)
      form["position"] = "1"
      let taken = try await browser.submit(form, "save")
      try taken.check(status: 409)
      #expect(try taken.error(of: "slug") == "Another topic has this name.")
      #expect(try taken.form(Self.list)["position"] == "1")
      let edit = try await browser.get(Self.edit(slug)).form(Self.edit(slug))
      #expect(edit["title-0-text"] == "Hafen" && edit["position"] == "-7")
    }
  }

  @Test("A refused form has each error beside its field, and all that was typed")
  func errors() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      var form = try await Self.newForm(browser)
      let typed = [
        "slug": "Not A Slug", "position": "first", "title-0-language": "e n", "title-0-text": "One",
        "title-1-language": "de", "title-1-text": String(repeating: "x", count: 257), "title-2-language": "",
        "title-2-text": "Three",
      ]
      for (name, value) in typed { form[name] = value }
      form.add("title-3-language", "de")
      form.add("title-3-text", "Four")
      let page = try await browser.submit(form, "save")
      try page.check(status: 422)
      let again = try page.form(Self.list)
      for (name, value) in typed { #expect((again[name] ?? "") == value, "\(name)") }
      #expect(try page.error(of: "slug")?.hasPrefix("Must have 1 to 64 small letters") ?? false)
      #expect(try page.error(of: "position") == "Must be a whole number from -1000000 to 1000000.")
      #expect(try page.error(of: "title-0-language") == "Must be a language tag such as en or pt-BR.")
      #expect(try page.error(of: "title-0-text") == nil)
      #expect(try page.error(of: "title-1-text") == "Must not be longer than 256 bytes.")
      #expect(try page.error(of: "title-2-language") == "Is required.")
      #expect(try page.error(of: "title-3-language") == "There is already a title in this language.")
      #expect(
        try page.problemLinks == [
          "#slug Name in addresses", "#title-0-language Title 1, Language", "#title-1-text Title 2",
          "#title-2-language Title 3, Language", "#title-3-language Title 4, Language", "#position Position",
        ])
      #expect(try await Self.slugs(console).isEmpty)
      form = try await Self.newForm(browser)
      form["slug"] = ""
      let untitled = try await browser.submit(form, "save")
      #expect(try untitled.error(of: "slug") != nil)
      #expect(try untitled.problemLinks == ["#slug Name in addresses"])
    }
  }

  @Test("More languages are added to the form without saving it")
  func moreTitles() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["harbour"])
      let browser = try await console.signedIn()
      for target in ["/console/new-topic", Self.edit("harbour")] {
        var form = try await browser.get(target).form(target == Self.edit("harbour") ? target : Self.list)
        form["title-0-language"] = "en"
        form["title-0-text"] = "Harbour"
        form["title-1-language"] = "de"
        form["title-1-text"] = "Hafen"
        let page = try await browser.submit(form, "more")
        try page.check()
        let again = try page.form(form.action)
        #expect(again["title-0-text"] == "Harbour" && again["title-1-text"] == "Hafen")
        #expect(again["title-3-text"] == "")
      }
      #expect(try await Self.topic("harbour", console)?.revision == 1)
      #expect(try await Self.slugs(console) == ["harbour"])
    }
  }

  @Test("Saving a form unchanged changes nothing, and a title without a text is removed")
  func changes() async throws {
    try await ConsoleServer.with { console in
      _ = try await console.server.write(
        "POST", "topics", #"{"slug": "harbour", "position": 5, "titles": {"en": "Harbour", "de": "Hafen"}}"#)
      let browser = try await console.signedIn()
      let target = Self.edit("harbour")
      var form = try await browser.get(target).form(target)
      let before = try await Self.topic("harbour", console)
      #expect(try await browser.submit(form, "save").status == 200)
      #expect(try await Self.topic("harbour", console) == before)
      form["title-0-text"] = ""
      form["title-1-text"] = "The harbour"
      form["position"] = "6"
      #expect(try await browser.submit(form, "save").status == 200)
      let topic = try #require(try await Self.topic("harbour", console))
      #expect(topic.titles == ["en": "The harbour"] && topic.position == 6 && topic.revision == 2)
    }
  }

  @Test("A topic that someone else has changed is shown beside the form, which can be saved over it")
  func conflict() async throws {
    try await ConsoleServer.with { console in
      _ = try await console.server.write("POST", "topics", #"{"slug": "harbour", "titles": {"en": "Harbour"}}"#)
      let browser = try await console.signedIn()
      let target = Self.edit("harbour")
      var form = try await browser.get(target).form(target)
      form["title-0-text"] = "Mine"
      _ = try await console.server.write(
        "PUT", "topics/harbour", #"{"titles": {"en": "Theirs"}, "position": 3, "revision": 1}"#
      ).json(Topic.self)
      let page = try await browser.submit(form, "save")
      try page.check(status: 412)
      #expect(try page.texts(ofClass: "bad").first?.hasPrefix("Someone else has changed the topic") ?? false)
      #expect(try page.texts(ofClass: "stored") == ["Theirs"])
      #expect(try await Self.topic("harbour", console)?.titles == ["en": "Theirs"])
      let again = try page.form(target)
      #expect(again["title-0-text"] == "Mine" && again["position"] == "0")
      #expect(try await browser.submit(again, "save").status == 200)
      #expect(try await Self.topic("harbour", console)?.titles == ["en": "Mine"])
      form["revision"] = nil
      #expect(try await browser.submit(form, "save").status == 412)
      #expect(try await browser.get(Self.edit("nothing")).status == 404)
      #expect(try await browser.post(form, "save", to: Self.edit("nothing")).status == 404)
    }
  }

  @Test("A topic without items is deleted, one with items is merged into another, drafts included")
  func removal() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["empty", "fog", "weather"])
      let items = [
        try await console.item(#""state": "published", "text": "a", "topics": ["fog"]"#),
        try await console.item(#""state": "draft", "text": "b", "topics": ["fog"]"#),
      ]
      let browser = try await console.signedIn()
      let empty = try await browser.get(Self.removal("empty")).form(Self.removal("empty"))
      let removed = try await browser.submit(empty)
      #expect(try removed.texts(ofClass: "good") == ["The topic was deleted."])
      #expect(try await Self.slugs(console) == ["fog", "weather"])
      var form = try await browser.get(Self.removal("fog")).form(Self.removal("fog"))
      let used = try await browser.submit(form)
      try used.check(status: 409)
      #expect(try used.error(of: "mergeInto")?.hasPrefix("Items that have this topic: 2.") ?? false)
      for other in ["fog", "nothing", "Not a slug", "<b>"] {
        form["mergeInto"] = other
        let refused = try await browser.submit(form)
        try refused.check(status: 422)
        #expect(try refused.error(of: "mergeInto") == "Must be another topic that exists.")
      }
      #expect(try await Self.slugs(console) == ["fog", "weather"])
      form["mergeInto"] = "weather"
      let merged = try await browser.submit(form)
      #expect(try merged.texts(ofClass: "good") == ["The topic was merged into the other one."])
      #expect(try await Self.slugs(console) == ["weather"])
      for item in items {
        #expect(try await console.store.editorialItem(item.item.id).item.topics == ["weather"])
      }
      #expect(try await browser.get(Self.removal("fog")).status == 404)
    }
  }

  @Test("A topic that has changed since the page was loaded is not deleted")
  func removalConflict() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["fog"])
      let browser = try await console.signedIn()
      let form = try await browser.get(Self.removal("fog")).form(Self.removal("fog"))
      _ = try await console.server.write("PUT", "topics/fog", #"{"titles": {"en": "Fog"}, "revision": 1}"#)
        .json(Topic.self)
      let page = try await browser.submit(form)
      try page.check(status: 412)
      #expect(try page.texts(ofClass: "bad").first?.contains("It was not deleted.") ?? false)
      #expect(try await Self.slugs(console) == ["fog"])
      #expect(try await browser.submit(try page.form(Self.removal("fog"))).status == 200)
      #expect(try await Self.slugs(console).isEmpty)
    }
  }

  @Test(
    "Only a key that may publish and is not restricted to topics changes topics",
    arguments: [([APIKey.Permission.itemsWrite], [String]?.none), ([.itemsPublish], ["harbour"])])
  func rights(permissions: [APIKey.Permission], topics: [String]?) async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["harbour"])
      let before = try await Self.topic("harbour", console)
      let desk = try await console.signedIn(name: "desk")
      let targets = [Self.list, Self.edit("harbour"), Self.removal("harbour")]
      var forms = [try await Self.newForm(desk)]
      for target in targets.dropFirst() { forms.append(try await desk.get(target).form(target)) }
      let browser = try await console.signedIn(permissions, topics: topics, name: "other")
      let page = try await browser.get(Self.list)
      try page.check()
      #expect(try page.scan.addresses.allSatisfy { !$0.hasSuffix("/edit") && !$0.hasSuffix("/new-topic") })
      #expect(try page.texts(ofClass: "note").count == 1)
      let token = try page.form("/console/sign-out")["csrf"]
      for target in targets.dropFirst() + ["/console/new-topic"] {
        #expect(try await browser.get(target).status == 403, "\(target)")
      }
      for var form in forms {
        form["csrf"] = token
        form["slug"] = "fog"
        form["position"] = "9"
        #expect(try await browser.post(form, "save").status == 403, "\(form.action)")
      }
      #expect(try await Self.slugs(console) == ["harbour"])
      #expect(try await Self.topic("harbour", console) == before)
    }
  }

  @Test("A form without the token of its session changes nothing")
  func forgery() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["harbour"])
      let before = try await Self.topic("harbour", console)
      let browser = try await console.signedIn()
      for (page, target) in [
        ("/console/new-topic", Self.list), (Self.edit("harbour"), Self.edit("harbour")),
        (Self.removal("harbour"), Self.removal("harbour")),
      ] {
        var form = try await browser.get(page).form(target)
        form["slug"] = "fog"
        form["position"] = "9"
        #expect(
          try await browser.post(form, "save", headers: [("Sec-Fetch-Site", "cross-site")]).status == 403, "\(target)")
        form["csrf"] = "x"
        #expect(try await browser.post(form, "save").status == 403, "\(target)")
      }
      #expect(try await Self.slugs(console) == ["harbour"])
      #expect(try await Self.topic("harbour", console) == before)
    }
  }

  @Test("Titles and typed texts are shown as they are", arguments: HostileText.all)
  func escaping(text: String) async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      var form = try await Self.newForm(browser)
      form["slug"] = "fog"
      form["title-0-text"] = text
      let list = try await browser.submit(form, "save")
      #expect(try list.scan.all("span").filter { $0["lang"] == "en" }.map(\.text) == [text])
      try await console.server.makeTopics(["other"])
      for target in [Self.edit("fog"), Self.removal("fog"), Self.removal("other"), "/console/items"] {
        let page = try await browser.get(target)
        #expect(page.status == 200)
        #expect(try page.scan.tags.contains { $0["value"] == text || $0.text.contains(text) }, "\(target)")
      }
      var edit = try await browser.get(Self.edit("fog")).form(Self.edit("fog"))
      #expect(edit["title-0-text"] == text)
      for name in ["position", "title-0-language", "title-1-text", "revision"] { edit[name] = text }
      let refused = try await browser.submit(edit, "save")
      #expect(refused.status == 422)
      #expect(try refused.form(Self.edit("fog"))["position"] == text)
      form["slug"] = text
      #expect(try await browser.submit(form, "save").form(Self.list)["slug"] == text)
      var removal = try await browser.get(Self.removal("fog")).form(Self.removal("fog"))
      removal["mergeInto"] = text
      #expect(try await browser.submit(removal).scan.tags.count > 9)
    }
  }

  @Test("The pages are in the language of the installation")
  func german() async throws {
    try await ConsoleServer.with(settings: { $0.language = .german }) { console in
      try await console.server.makeTopics(["hafen"])
      let browser = try await console.signedIn()
      for target in [Self.list, "/console/new-topic", Self.edit("hafen"), Self.removal("hafen")] {
        let page = try await browser.get(target)
        try page.check()
        #expect(page.text.contains("Themen"))
      }
      #expect(try await Self.newForm(browser)["title-0-language"] == "de")
    }
  }
}
