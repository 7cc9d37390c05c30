import Foundation
import News
import PostgresClient
import TestSupport
import Testing

@Suite struct ItemTests {
  @Test("A list is sorted from newest to oldest, and items with the same date by id")
  func listOrder() async throws {
    try await TestServer.with { server in
      for (text, date) in [("b", 2), ("d", 4), ("a", 1), ("c", 2), ("e", 4)] {
        _ = try await server.publish(text, date: "2026-01-0\(date)T00:00:00Z")
      }
      let items = try await server.get("/v1/items").json(ItemList.self).items
      #expect(items.map(\.date) == items.map(\.date).sorted(by: >))
      let keys = items.map { RFC3339.string(from: $0.date) + $0.id.uuidString }
      #expect(keys == keys.sorted(by: >))
      #expect(items.count == 5)
    }
  }

  @Test(
    "Pages linked by next contain each item once, for any page size", arguments: [1, 2, 3, 7])
  func paging(limit: Int) async throws {
    try await TestServer.with { server in
      // Pairs of equal dates make pages end between equal dates.
      for index in 0..<7 { _ = try await server.publish("\(index)", date: "2026-01-0\(1 + index / 2)T00:00:00Z") }
      let all = try await server.get("/v1/items").json(ItemList.self).items.map(\.id)
      var found: [UUID] = []
      var target: String? = "/v1/items?limit=\(limit)"
      while let next = target {
        let response = try await server.get(next)
        let page = try response.json(ItemList.self).items.map(\.id)
        #expect(page.count <= limit)
        found += page
        target = response.next
      }
      #expect(found == all)
    }
  }

  @Test("An insertion between two pages neither repeats nor hides an item of the later one")
  func pagingIsStable() async throws {
    try await TestServer.with { server in
      for index in 1...4 { _ = try await server.publish("\(index)", date: "2026-01-0\(index)T00:00:00Z") }
      let first = try await server.get("/v1/items?limit=2")
      _ = try await server.publish("new", date: "2026-02-01T00:00:00Z")
      let second = try await server.get(try #require(first.next))
      #expect(try second.json(ItemList.self).items.map(\.text) == ["2", "1"])
    }
  }

  @Test("A list can be filtered by topics, language, author, dates and breaking news")
  func filters() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["city", "sport"])
      for (text, rest) in [
        ("1", #""topics": ["city"], "language": "en-GB", "author": "Ada""#),
        ("2", #""topics": ["sport"], "language": "en", "author": "Bo, & Co""#),
        ("3", #""topics": ["city", "sport"], "language": "de", "breaking": true"#),
        ("4", #""language": "eng""#),
      ] {
        let body = #"{"date": "2026-01-0\#(text)T00:00:00Z", "text": "\#(text)", \#(rest)}"#
        _ = try await server.write("POST", "items", body).json(EditorialItem.self, status: 201)
      }
      func texts(_ query: String) async throws -> [String] {
        try await server.get("/v1/items?" + query).json(ItemList.self).items.map(\.text)
      }
      #expect(try await texts("topics=city") == ["3", "1"])
      #expect(try await texts("topics=sport,city") == ["3", "2", "1"])
      #expect(try await texts("language=en") == ["2", "1"])
      #expect(try await texts("language=EN-gb") == ["1"])
      #expect(try await texts("author=Ada") == ["1"])
      #expect(try await texts("author=Bo,%20%26%20Co") == ["2"])
      #expect(try await texts("from=2026-01-02T00:00:00Z") == ["4", "3", "2"])
      #expect(try await texts("to=2026-01-02T00:00:00Z") == ["1"])
      #expect(try await texts("from=2026-01-02T01:00:00%2B01:00&to=2026-01-03T00:00:00Z") == ["2"])
      #expect(try await texts("topics=city&language=de&limit=1") == ["3"])
      #expect(try await texts("breaking=true") == ["3"])
      #expect(try await texts("breaking=false&topics=city") == ["1"])
      #expect(try await texts("breaking=true&q=3") == ["3"])
      #expect(try await texts("q=2") == ["2"])
      #expect(try await texts("q=-2+-%224%22&topics=city,sport") == ["3", "1"])
    }
  }

  @Test("The field html is sent only on request")
  func includeHTML() async throws {
    try await TestServer.with { server in
      let body = #"{"date": "2026-01-01T00:00:00Z", "text": "x", "html": "<p onclick='f()'>x<script>y</script></p>"}"#
      let id = try await server.write("POST", "items", body).json(EditorialItem.self, status: 201).item.id
      let path = "/v1/items/\(id.uuidString.lowercased())"
      for target in ["/v1/items", path, "/v1/changes"] {
        #expect(try await !server.get(target).text.contains("html"))
        #expect(try await server.get(target + "?include=html").text.contains(#""html":"<p>x</p>""#))
      }
    }
  }

  @Test("A page stays within 1 MiB: it ends early and links to the next")
  func pageBudget() async throws {
    try await TestServer.with { server in
      let long = String(repeating: "ü\\\"", count: 65_000)
      let escaped = String(repeating: #"ü\\\""#, count: 65_000)
      for day in 1...5 {
        let body = #"{"date": "2026-01-0\#(day)T00:00:00Z", "text": "\#(escaped)"}"#
        let item = try await server.write("POST", "items", body).json(EditorialItem.self, status: 201)
        #expect(item.item.text == long)
      }
      var target: String? = "/v1/items"
      var count = 0
      while let next = target {
        let response = try await server.get(next)
        #expect(response.body.count <= 1 << 20)
        count += try response.json(ItemList.self).items.count
        target = response.next
      }
      #expect(count == 5)

      var since = ""
      var puts = 0
      var more = true
      while more {
        let response = try await server.get("/v1/changes" + since)
        #expect(response.body.count <= 1 << 20)
        let list = try response.json(ChangeList.self)
        puts += list.changes.count
        more = list.more
        since = "?since=\(list.token)"
      }
      #expect(puts == 5)
    }
  }

  @Test("An item that was never published gets 404, and one that is no longer published gets 410 with the reason")
  func goneItems() async throws {
    try await TestServer.with { server in
      let never = try await server.get("/v1/items/019a0000-0000-7000-8000-000000000000")
      #expect(never.status == 404)
      #expect(never["Cache-Control"] == "max-age=0, s-maxage=1")
      #expect(try await server.get("/v1/items/nonsense").status == 404)

      let draft = try await server.write(
        "POST", "items", #"{"date": "2026-01-01T00:00:00Z", "text": "x", "state": "draft"}"#
      ).json(EditorialItem.self, status: 201)
      #expect(try await server.get("/v1/items/\(draft.item.id)").status == 404)

      let item = try await server.publish("x").item
      let path = "/v1/items/\(item.id.uuidString.lowercased())"
      #expect(try await server.get(path).json(NewsItem.self) == item)
      _ = try await server.write("DELETE", "items/\(item.id)?reason=It+was+wrong", nil, ("If-Match", "*"))
      let gone = try await server.get(path, ("If-None-Match", "*"))
      let problem = try gone.json(Problem.self, status: 410)
      #expect(problem.reason == "retracted")
      #expect(problem.detail == "It was wrong")
      #expect(gone["Cache-Control"] == "max-age=0, s-maxage=1")
      #expect(try await server.get("/v1/items").json(ItemList.self).items.isEmpty)
    }
  }

  @Test("Topics list their titles and their numbers of published items, in order of their positions")
  func topics() async throws {
    try await TestServer.with { server in
      _ = try await server.write("POST", "topics", #"{"slug": "b", "titles": {"en": "B", "de": "Be"}, "position": 1}"#)
      _ = try await server.write("POST", "topics", #"{"slug": "a", "position": 2}"#)
      _ = try await server.publish("x", topics: ["a", "b"])
      _ = try await server.publish("y", topics: ["b"])
      let list = try await server.get("/v1/topics")
      #expect(try list.json(TopicList.self).topics.map(\.slug) == ["b", "a"])
      #expect(try list.json(TopicList.self).topics.map(\.items) == [2, 1])
      #expect(try await server.get("/v1/topics", ("If-None-Match", try #require(list["ETag"]))).status == 304)
      let topic = try await server.get("/v1/topics/b").json(Topic.self)
      #expect(topic.titles == ["en": "B", "de": "Be"])
      #expect(topic.revision == nil)
      #expect(try await server.get("/v1/topics/c").status == 404)
      #expect(try await server.get("/v1/topics/C%20").status == 404)
    }
  }
}
