import Foundation
import News
import NewsAPI
import NewsStore
import TestSupport
import Testing

@Suite struct ListTests {
  /// The titles of the items in a list, in order.
  private static func titles(_ page: ConsolePage) throws -> [String] {
    let tags = try page.scan.tags
    return tags.indices.filter { tags[$0]["class"] == "title" }.map { tags[$0 + 1].text }
  }

  private static func fill(_ console: ConsoleServer) async throws {
    try await console.server.makeTopics(["harbour", "weather"])
    for fields in [
      #""title": "Draft", "state": "draft", "topics": ["harbour"], "date": "2026-01-05T12:00:00Z""#,
      #""title": "Review", "state": "review", "topics": ["weather"], "date": "2026-01-06T23:59:59Z""#,
      #""title": "Planned", "state": "scheduled", "publishAt": "2031-01-01T00:00:00Z""#,
      #""title": "Public", "state": "published", "topics": ["harbour"], "date": "2026-01-07T00:00:00Z""#,
    ] { _ = try await console.item(#""text": "Fog at the harbour.", \#(fields)"#) }
    let gone = try await console.item(#""text": "Gone.", "title": "Gone", "state": "draft""#)
    try await console.store.retract(gone.item.id, reason: nil, if: .exists)
  }

  @Test("Each state has a tab with the number of its items, and lists them, the latest write first")
  func tabs() async throws {
    try await ConsoleServer.with { console in
      try await Self.fill(console)
      let browser = try await console.signedIn()
      let page = try await browser.get("/console/items")
      #expect(try page.texts(ofClass: "count") == ["5", "1", "1", "1", "1", "0", "1"])
      #expect(try Self.titles(page) == ["Gone", "Public", "Planned", "Review", "Draft"])
      let tabs = try page.scan.all("a").compactMap { $0["href"] }.filter { $0.contains("state=") }
      #expect(tabs.count == 6)
      let expected = [["Draft"], ["Review"], ["Planned"], ["Public"], [], ["Gone"]]
      for (tab, titles) in zip(tabs, expected) {
        let page = try await browser.get(tab)
        #expect(try Self.titles(page) == titles, "\(tab)")
        #expect(try page.scan.all("a").filter { $0["aria-current"] == "page" }.count == 2)
      }
    }
  }

  private static let filters: [(String, [String])] = [
    ("q=fog+harbour", ["Public", "Planned", "Review", "Draft"]), ("q=nothing", []),
    ("topic=harbour", ["Public", "Draft"]), ("topic=harbour&state=draft", ["Draft"]),
    ("from=2026-01-06&to=2026-01-06", ["Review"]), ("from=2026-01-07&state=published", ["Public"]),
    ("q=&topic=&from=&to=&state=draft", ["Draft"]),
  ]

  @Test("The list is filtered by words, topic and days")
  func filters() async throws {
    try await ConsoleServer.with { console in
      try await Self.fill(console)
      let browser = try await console.signedIn()
      for (query, titles) in Self.filters {
        let page = try await browser.get("/console/items?\(query)")
        #expect(page.status == 200)
        #expect(try Self.titles(page) == titles, "\(query)")
        let form = try page.form("/console/items")
        for pair in query.split(separator: "&") where !pair.hasSuffix("=") {
          let parts = pair.split(separator: "=").map { String($0).replacing("+", with: " ") }
          #expect(form[parts[0]] == parts[1])
        }
      }
    }
  }

  @Test(
    "An invalid filter is refused with a page", .sharedConsole,
    arguments: [
      "state=x", "topic=UPPER", "from=yesterday", "to=2026-02-30", "cursor=x", "page=2", "state=draft&state=review",
      "topic=unknown", "q=%FF", "done=x",
    ])
  func invalidFilters(query: String) async throws {
    try await ConsoleServer.withShared { console in
      let page = try await console.signedIn().get("/console/items?\(query)")
      #expect(page.status == 400)
      #expect(try page.scan.all("h1").count == 1)
    }
  }

  @Test("A long list has pages, which keep the filter and show each item once")
  func pages() async throws {
    try await ConsoleServer.with { console in
      let entries = (1...120).map { number in
        #"{"op": "create", "item": {"state": "draft", "text": "x", "title": "Item \#(number)"}}"#
      }
      let written = try await console.server.write(
        "POST", "items/batch", #"{"entries": [\#(entries.joined(separator: ","))]}"#)
      #expect(written.status == 200)
      let browser = try await console.signedIn()
      var page = try await browser.get("/console/items?state=draft")
      var found = try Self.titles(page)
      #expect(found.count == 25)
      #expect(try page.texts(ofClass: "count").first == "120")
      while let next = try page.scan.all("a").first(where: { $0["rel"] == "next" })?["href"] {
        #expect(next.contains("state=draft"))
        page = try await browser.get(next)
        found += try Self.titles(page)
      }
      #expect(found.count == 120 && Set(found) == Set((1...120).map { "Item \($0)" }))
      #expect(try page.scan.addresses.contains("/console/items?state=draft"))
    }
  }
}
