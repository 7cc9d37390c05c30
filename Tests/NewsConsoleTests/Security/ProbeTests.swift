import Foundation
import HTTPTypes
import News
import NewsAPI
import NewsConsole
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// A probe in every field that pages show. It leaves an attribute and an element, and begins with the name of its field, so
/// that the test also notices a field that no page shows any more.
@Suite struct ProbeTests {
  private static func probe(_ field: String) -> String { "probe-\(field)\"><svg onload=x>'" }

  /// Checks that a document has no markup of a probe, and only that of templates.
  ///
  /// - Returns: All texts and values of attributes.
  private static func shown(_ text: String, _ target: String, as dialect: PageScan.Dialect) throws -> String {
    #expect(!text.contains("<svg onload"), "\(target)")
    #expect(!text.contains("onload=\""), "\(target)")
    let scan: PageScan
    do { scan = try PageScan(text, as: dialect) } catch {
      throw TestResponse.Unexpected(description: "\(target): \(error)")
    }
    for address in scan.addresses + scan.tags.compactMap({ $0["action"] ?? $0["formaction"] }) {
      let scheme = address.prefix { $0 != ":" && $0 != "/" && $0 != "#" && $0 != "?" }
      let isPath = scheme.count == address.count || !address.dropFirst(scheme.count).hasPrefix(":")
      #expect(isPath || ["http", "https"].contains(scheme), "\(address) of \(target)")
      #expect(!address.hasPrefix("//"), "\(address) of \(target)")
    }
    return scan.text + scan.tags.flatMap { $0.attributes.values }.joined(separator: "\n")
  }

  @Test("A text of any field is shown as it is, on every page of the console and for readers, and in the events")
  func stored() async throws {
    try await ConsoleServer.with(
      settings: { $0.push.offer = PushOffer(providers: [.apns]) }, console: { $0.liveInterval = .milliseconds(50) }
    ) { console in
      let newsroom = try await FullNewsroom(console, text: Self.probe)
      var shown = ""
      for path in newsroom.pages where path != "/console/items/{id}/preview" {
        let page = try await newsroom.browser.get(try newsroom.target(path))
        #expect(page.status == 200, "\(path)")
        shown += try Self.shown(page.text, path, as: .console)
      }
      for path in ["", "/history"] {
        let page = try await newsroom.browser.get(ConsoleServer.path(newsroom.retracted) + path)
        shown += try Self.shown(page.text, page.target, as: .console)
      }
      for field in FullNewsroom.fields { #expect(shown.contains(Self.probe(field)), "\(field)") }
      #expect(shown.contains("probe-html"))
      let preview = try await newsroom.browser.get("\(ConsoleServer.path(newsroom.item))/preview")
      let previewed = try Self.shown(preview.text, preview.target, as: .console)
      for field in ["title", "text", "summary", "author", "alt", "caption", "credit"] {
        #expect(previewed.contains(Self.probe(field)) || field == "text", "\(field)")
      }

      let cookie = newsroom.browser.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
      var source = try await EventSource(console.server.url, path: FullNewsroom.events, cookie: cookie)
      let event = try #require(try await source.next()).data
      let events = try Self.shown("<!doctype html>\(event)", "the events", as: .console)
      #expect(events.contains(Self.probe("title")) && events.contains(Self.probe("schema")))
    }
  }

  @Test("Pages for readers show the texts as they are, and feeds have them as text or sanitised HTML")
  func readers() async throws {
    try await ConsoleServer.with { console in
      let newsroom = try await FullNewsroom(console, text: Self.probe)
      let item = newsroom.item.item.id.uuidString.lowercased()
      try await console.server.beside({ $0.publicURL = "http://127.0.0.1" }) { server in
        var shown = ""
        for target in ["/", "/topics/\(newsroom.topic)", "/items/\(item)"] {
          let page = try await server.get(target)
          #expect(page.status == 200, "\(target)")
          shown += try Self.shown(page.text, target, as: .reader)
          let scan = try PageScan(page.text)
          for name in ["description", "og:title", "og:description"] {
            if let content = scan.meta(name) { #expect(!content.isEmpty, "\(name) of \(target)") }
          }
        }
        for field in ["title", "summary", "author", "alt", "caption", "credit", "topic", "html"] {
          let isWhole = field == "html" || shown.contains(Self.probe(field))
          #expect(isWhole && shown.contains("probe-\(field)"), "\(field)")
        }
        let gone = try await server.get("/items/\(newsroom.retracted.item.id.uuidString.lowercased())")
        #expect(gone.status == 410)
        #expect(try Self.shown(gone.text, "/items/{id}", as: .reader).contains(Self.probe("reason")))
        for feed in ["/feed.atom", "/feed.rss", "/feed.json", "/topics/\(newsroom.topic)/feed.atom"] {
          let answer = try await server.get(feed)
          #expect(answer.status == 200 && answer.text.contains("probe-title"), "\(feed)")
          // In JSON and in XML, markup is text.
          #expect(!answer.text.contains("<svg") || feed.hasSuffix("json"), "\(feed)")
          #expect(!answer.text.contains("<script") && !answer.text.contains("javascript:"), "\(feed)")
          #expect(answer["Content-Type"]?.hasPrefix("text/html") != true, "\(feed)")
        }
      }
    }
  }

  @Test("A text of any query parameter or part of a path is shown as it is")
  func addresses() async throws {
    try await ConsoleServer.with { console in
      let newsroom = try await FullNewsroom(console)
      let probe = Self.probe("address")
      let value = probe.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      let names = ["q", "state", "topic", "from", "to", "cursor", "used", "done", "next", "language", value]
      for path in newsroom.paths(.get) {
        let target = try newsroom.target(path)
        let others = path.matches(of: /\{[a-z]+\}/).map {
          String(path[..<$0.range.lowerBound] + value + path[$0.range.upperBound...])
        }.filter { !$0.contains("{") }
        for target in names.map({ "\(target)?\($0)=\(value)" }) + others {
          if target.hasPrefix(FullNewsroom.events), !target.contains("?") { continue }
          for browser in [newsroom.browser, console.browser()] {
            let page = try await browser.get(target)
            #expect(page.status < 500, "\(target)")
            guard page["Content-Type"]?.hasPrefix("text/html") == true else { continue }
            _ = try Self.shown(page.text, target, as: .console)
          }
        }
      }
      let found = try await newsroom.browser.get("/console/items?q=\(value)")
      #expect(try found.form("/console/items")["q"] == probe)
    }
  }

  @Test("A text of any field of any form is shown as it is, beside the error and in the field")
  func forms() async throws {
    try await ConsoleServer.with { console in
      let newsroom = try await FullNewsroom(console)
      let forms = try await newsroom.forms()
      var answered: Set<Int> = []
      func send(_ form: ConsoleForm, _ target: String, _ button: String?) async throws -> ConsolePage {
        let page = try await newsroom.browser.post(form, button, to: target)
        answered.insert(page.status)
        #expect(page.status < 500, "\(target)")
        if page["Content-Type"]?.hasPrefix("text/html") == true {
          _ = try Self.shown(page.text, target, as: .console)
        }
        return page
      }
      for path in newsroom.paths(.post) where path != "/console/sign-out" {
        let target = try newsroom.target(path)
        let form = try newsroom.form(path, in: forms)
        let names = Set(form.fields.map(\.name)).subtracting(["csrf"]).sorted()
        var all = form
        for name in names { all[name] = Self.probe(name) }
        for button in [nil, "save", Self.probe("action")] { _ = try await send(all, target, button) }
        // These forms end what the others need.
        guard path.firstMatch(of: /\/(erase|retract|remove|revoke|rotate|end|restore)$/) == nil else { continue }
        for name in names + ["attachment-0-url", "topics", "scopes", "choose", "title-0-language"] {
          var one = form
          one[name] = Self.probe(name)
          _ = try await send(one, target, "save")
        }
      }
      #expect(answered.isSuperset(of: [303, 412, 422]), "\(answered)")
      var item = try newsroom.form("/console/items", in: forms)
      (item["title"], item["language"]) = (Self.probe("title"), Self.probe("language"))
      let refused = try await send(item, "/console/items", "save")
      #expect(refused.status == 422)
      #expect(try refused.editor["title"] == Self.probe("title"))
      #expect(try refused.editor["language"] == Self.probe("language"))
    }
  }
}
