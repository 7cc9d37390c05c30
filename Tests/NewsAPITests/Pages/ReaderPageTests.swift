import Foundation
import News
import NewsAPI
import NewsPages
import NewsStore
import TestKit
import TestSupport
import Testing

/// Pages for readers, through a real server.
@Suite struct ReaderPageTests {
  private static func path(_ item: EditorialItem) -> String { "/items/\(item.item.id.uuidString.lowercased())" }

  @Test("Published items are on the front page, on the pages of their topics and on their own")
  func pages() async throws {
    try await TestServer.with { server in
      _ = try await server.write("POST", "topics", #"{"slug": "city", "titles": {"en": "City & Port", "de": "Stadt"}}"#)
      let item = try await server.publish("The night ferry is back.", topics: ["city"], title: "Ferry <returns>")
      _ = try await server.publish("Elsewhere", title: "Other news")
      for (path, isListed) in [("/", true), ("/topics/city", true), (Self.path(item), false)] {
        let answer = try await server.get(path)
        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "text/html; charset=utf-8")
        #expect(answer["Access-Control-Allow-Origin"] == nil)
        let page = try PageScan(answer.text)
        #expect(page.accessibilityProblems == [])
        #expect(page.text.contains("Ferry <returns>") && page.text.contains("City & Port"), "\(path)")
        #expect(page.text.contains("Other news") == (path == "/"))
        #expect(page.addresses.contains(Self.path(item)) == isListed)
      }
    }
  }

  @Test("An unchanged page is a 304 with the fields that caches need, also for HEAD and by its date")
  func notModified() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["city"])
      let item = try await server.publish("x", topics: ["city"])
      try await eventually("there is a date") { try await server.get("/")["Last-Modified"] != nil }
      for path in ["/", "/topics/city", Self.path(item)] {
        let first = try await server.get(path)
        #expect(first.status == 200)
        let (tag, date) = (try #require(first["ETag"]), try #require(first["Last-Modified"]))
        for (method, condition) in [
          ("GET", ("If-None-Match", tag)), ("HEAD", ("If-None-Match", tag)), ("GET", ("If-Modified-Since", date)),
        ] {
          let answer = try await server.send(method, path, headers: [condition])
          #expect(answer.status == 304 && answer.body.isEmpty, "\(method) \(path) \(condition)")
          for name in ["ETag", "Cache-Control", "Last-Modified", "Vary", "Content-Security-Policy"] {
            #expect(answer[name] == first[name], "\(name)")
          }
          #expect(answer["X-Request-Id"] == nil)
        }
        let head = try await server.send("HEAD", path)
        #expect((head.status, head["Content-Length"], head["ETag"]) == (200, "\(first.body.count)", tag))
        #expect(head.body.isEmpty)
        let zipped = try await server.get(path, ("Accept-Encoding", "gzip"))
        #expect(zipped["Content-Encoding"] == "gzip" && zipped["ETag"] != tag)
        #expect(try zipped.body.gunzipped() == first.body)
      }
    }
  }

  @Test("A page changes with its items and with the titles of topics, and with nothing else")
  func tags() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["city", "sport"])
      let item = try await server.publish("x", topics: ["city"])
      let paths = ["/", "/topics/city", "/topics/sport", Self.path(item)]
      func tags() async throws -> [String?] {
        var tags: [String?] = []
        for path in paths {
          // The second response is from memory.
          let first = try await server.get(path)
          #expect(try await server.get(path)["ETag"] == first["ETag"])
          tags.append(first["ETag"])
        }
        return tags
      }
      func changes(_ before: [String?], _ after: [String?]) -> [Bool] { zip(before, after).map { $0 != $1 } }
      let start = try await tags()
      _ = try await server.publish("elsewhere", topics: ["sport"])
      let published = try await tags()
      #expect(changes(start, published) == [true, false, true, false])
      _ = try await server.write("PUT", "topics/sport", #"{"titles": {"en": "Sports"}}"#, ("If-Match", "*"))
      let renamed = try await tags()
      #expect(changes(published, renamed) == [true, true, true, true])
      #expect(try await server.get(Self.path(item)).text.contains("Sports"))
      _ = try await server.write("PUT", "topics/sport", #"{"titles": {"en": "Games"}}"#, ("If-Match", "*"))
      #expect(changes(renamed, try await tags()) == [true, true, true, true])
      _ = try await server.write("PUT", "topics/sport", #"{"titles": {"en": "Sports"}}"#, ("If-Match", "*"))
      try await server.makeTopics(["weather"])
      let added = try await tags()
      #expect(changes(renamed, added) == [true, true, true, true])
      _ = try await server.write("DELETE", "topics/weather", nil, ("If-Match", "*"))
      #expect(try await tags() == renamed)
    }
  }

  @Test("The date of a page is not older than the last change of a topic's title, or the deletion of a topic")
  func dates() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["city"])
      let path = Self.path(try await server.publish("x"))
      func date() async throws -> String {
        var date: String?
        try await eventually("there is a date") {
          date = try await server.get(path)["Last-Modified"]
          return date != nil
        }
        return try #require(date)
      }
      var known = try await date()
      for (method, body) in [("PUT", #"{"titles": {"en": "City"}}"#), ("DELETE", nil)] as [(String, String?)] {
        #expect(try await server.write(method, "topics/city", body, ("If-Match", "*")).status < 300)
        let changed = try await server.get(path, ("If-Modified-Since", known))
        #expect(changed.status == 200, "\(method)")
        let next = try await date()
        #expect(next != known)
        known = next
      }
    }
  }

  @Test("A repeated request for a page needs no query, and is answered before the router")
  func fromMemory() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["city"])
      var paths = ["/", "/topics/city"]
      for number in 0..<60 {
        let item = try await server.publish(
          "\(number)", date: "2026-01-01T00:00:\(10 + number % 50)Z", topics: ["city"])
        if number == 0 { paths.append(Self.path(item)) }
      }
      let older = try #require(try PageScan(try await server.get("/").text).links("next").first)
      paths += [older, "/items/\(UUID().uuidString.lowercased())"]
      for path in paths + paths { _ = try await server.get(path) }
      let before = try await server.scrape()
      let (name, early) = ("tidings_reads_total", "tidings_http_hot_requests_total")
      for path in paths.dropLast() + paths.dropLast() { #expect(try await server.get(path).status == 200) }
      let after = try await server.scrape()
      #expect(after.value(name, ["source": "database"]) == before.value(name, ["source": "database"]))
      #expect(after.value(early) - before.value(early) == Double(2 * (paths.count - 1)))
      let labels = ["route": "/items/{id}", "method": "GET", "status": "200"]
      #expect(after.value("tidings_http_requests_total", labels) >= 4)
    }
  }

  @Test("The links to older and newer items lead through all of them and back")
  func paging() async throws {
    try await TestServer.with { server in
      let count = 2 * ListPageView.limit + 5
      for number in 0..<count {
        _ = try await server.publish("x", date: "2026-01-01T00:00:\(10 + number / 2)Z", title: "Number \(number).")
      }
      func numbers(_ page: PageScan) -> [Int] {
        page.text.matches(of: /Number (\d+)\./).compactMap { Int($0.1) }
      }
      var (pages, target) = ([PageScan](), Optional("/"))
      while let next = target {
        let page = try PageScan(try await server.get(next).text)
        #expect(page.accessibilityProblems == [])
        pages.append(page)
        target = page.links("next").first
      }
      #expect(pages.count == 3)
      #expect(Set(pages.flatMap(numbers)) == Set(0..<count) && pages.flatMap(numbers).count == count)
      #expect(pages[0].links("prev") == [])
      let middle = try PageScan(try await server.get(try #require(pages[2].links("prev").first)).text)
      #expect(numbers(middle) == numbers(pages[1]))
      let first = try PageScan(try await server.get(try #require(middle.links("prev").first)).text)
      #expect(numbers(first) == numbers(pages[0]) && first.links("prev") == [])
      #expect(first.links("next") == pages[0].links("next"))
    }
  }

  @Test("Other query parameters are ignored, and an invalid cursor has a page that explains it")
  func parameters() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["city"])
      let item = try await server.publish("x", topics: ["city"])
      for path in ["/", "/topics/city", Self.path(item)] {
        let tag = try await server.get(path)["ETag"]
        for query in ["utm_source=x&fbclid=%", "=", "&", "a=1&a=2", "beforehand=x"] {
          let answer = try await server.get("\(path)?\(query)")
          #expect(answer.status == 200 && answer["ETag"] == tag, "\(path)?\(query)")
        }
      }
      for query in ["before=x", "after=", "before=a&before=b", "before=%ff"] {
        let answer = try await server.get("/?" + query)
        #expect((answer.status, answer["Cache-Control"]) == (400, "no-store"), "\(query)")
        #expect(try PageScan(answer.text).accessibilityProblems == [])
        #expect(answer["X-Request-Id"] != nil)
      }
    }
  }

  @Test("A page that does not exist, or no longer, is a page that replaces a stored one, with the editor's words")
  func gone() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["old"])
      let item = try await server.publish("x")
      let path = Self.path(item)
      for _ in 0..<2 { for path in [path, "/topics/old"] { #expect(try await server.get(path).status == 200) } }
      _ = try await server.write(
        "DELETE", "items/\(item.item.id)?reason=It%20was%20%3Cwrong%3E.", nil, ("If-Match", "*"))
      _ = try await server.write("DELETE", "topics/old", nil, ("If-Match", "*"))
      for (path, status) in [
        (path, 410), ("/topics/old", 404), ("/topics/never", 404), ("/items/\(UUID())", 404), ("/items/x", 404),
        ("/topics/A", 404),
      ] {
        for method in ["GET", "GET", "HEAD"] {
          let answer = try await server.send(method, path)
          #expect(answer.status == status, "\(method) \(path)")
          #expect(answer["Content-Type"] == "text/html; charset=utf-8")
          if !["/items/x", "/topics/A"].contains(path) { #expect(answer["Cache-Control"] == "max-age=0, s-maxage=1") }
          if method == "HEAD" { continue }
          let page = try PageScan(answer.text)
          #expect(page.meta("robots") == "noindex" && page.accessibilityProblems == [])
          #expect(page.text.contains("It was <wrong>.") == (status == 410))
        }
      }
      #expect(!(try await server.get("/").text.contains(path)))
      #expect(try await server.send("POST", "/").status == 405)
    }
  }

  @Test("Drafts and items that wait for their publication are on no page")
  func drafts() async throws {
    try await TestServer.with { server in
      for body in [
        #"{"text": "secret", "state": "draft"}"#,
        #"{"text": "secret", "state": "scheduled", "publishAt": "2100-01-01T00:00:00Z"}"#,
      ] {
        let item = try await server.write("POST", "items", body).json(EditorialItem.self, status: 201)
        #expect(try await server.get(Self.path(item)).status == 404)
      }
      #expect(!(try await server.get("/").text.contains("secret")))
    }
  }

  @Test("Pages depend on no header")
  func headers() async throws {
    try await TestServer.with(settings: { $0.publicURL = "https://news.example" }) { server in
      let path = Self.path(try await server.publish("x"))
      for path in ["/", path] {
        let plain = try await server.get(path)
        let other = try await server.get(
          path, ("Host", "evil.example"), ("Cookie", "a=b"), ("Accept-Language", "de"), ("X-Forwarded-Proto", "http"),
          ("X-Forwarded-Host", "evil.example"), ("Authorization", "Bearer x"), ("Accept", "application/json"))
        #expect(other.body == plain.body && other["ETag"] == plain["ETag"])
        #expect(other["Set-Cookie"] == nil)
        #expect(try PageScan(plain.text).links("canonical") == ["https://news.example\(path)"])
      }
    }
  }

  @Test("Stylesheet and icon are kept for a year, and found under the hash of another version")
  func assets() async throws {
    try await TestServer.with { server in
      let page = try PageScan(try await server.get("/").text)
      for (relation, type) in [("stylesheet", "text/css; charset=utf-8"), ("icon", "image/svg+xml")] {
        let link = try #require(page.links(relation).first)
        let answer = try await server.get(link)
        #expect((answer.status, answer["Content-Type"]) == (200, type))
        #expect(answer["Cache-Control"] == "max-age=31536000, immutable")
        #expect(answer["X-Content-Type-Options"] == "nosniff")
        #expect(try await server.get(link, ("If-None-Match", try #require(answer["ETag"]))).status == 304)
        let hash = try #require(link.firstMatch(of: /[0-9a-f]{16}/))
        let other = try await server.get(link.replacing(hash.output, with: "0123456789abcdef"))
        #expect((other.status, other["Cache-Control"]) == (200, "max-age=0, s-maxage=1"))
        #expect(other.body == answer.body)
      }
      for name in ["reader.css", "x", "..%2F..%2Fetc%2Fpasswd"] {
        #expect(try await server.get("/assets/\(name)").status == 404, "\(name)")
      }
    }
  }

  @Test("Without pages, their paths do not exist")
  func turnedOff() async throws {
    try await TestServer.with(settings: { $0.servesReaderPages = false }) { server in
      let item = try await server.publish("x")
      for path in ["/", "/topics/x", Self.path(item), "/assets/reader-0123456789abcdef.css", "/worker.js"] {
        for _ in 0..<2 {
          let answer = try await server.get(path)
          #expect((answer.status, answer["Content-Type"]) == (404, "application/problem+json"), "\(path)")
          // It replaces the pages that caches have from before.
          #expect(answer["Cache-Control"] == "max-age=0, s-maxage=1", "\(path)")
        }
        #expect(try await server.send("POST", path).status == 405, "\(path)")
      }
      #expect(try await server.get("/v1/items").status == 200)
    }
  }

  @Test("Pages are in the language of the settings")
  func language() async throws {
    try await TestServer.with(settings: { $0.language = .german }) { server in
      let page = try PageScan(try await server.get("/").text)
      #expect(page.all("html").first?["lang"] == "de" && page.text.contains("Hier ist noch nichts erschienen."))
      #expect(try await server.get("/items/\(UUID())").text.contains("Seite nicht gefunden"))
    }
  }

  @Test("Pages come from memory while the database does not respond, except those not read before, which are a 503")
  func withoutDatabase() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["city"])
      let path = Self.path(try await server.publish("x", topics: ["city"]))
      let paths = ["/", "/topics/city", path]
      for path in paths + paths { _ = try await server.get(path) }
      await server.store.shutdown()
      for path in paths { #expect(try await server.get(path).status == 200, "\(path)") }
      let other = try await server.get("/items/\(UUID())")
      #expect((other.status, other["Retry-After"], other["Cache-Control"]) == (503, "5", "no-store"))
      #expect(try PageScan(other.text).accessibilityProblems == [])
    }
  }

  @Test("Markup in any field of an item or a topic is shown as text")
  func hostile() async throws {
    try await TestServer.with { server in
      let text = #"<script>alert(1)</script>\" onmouseover=\"alert(1)\"́ onclick=alert(1) x=\""#
      _ = try await server.write("POST", "topics", #"{"slug": "city", "titles": {"en": "\#(text)"}}"#)
      let attachment = #""type": "image/png", "alt": "\#(text)", "caption": "\#(text)", "credit": "\#(text)""#
      let body = """
        {"date": "2026-01-01T00:00:00Z", "text": "\(text)", "title": "\(text)", "summary": "\(text)", "topics": ["city"],
        "author": "\(text)", "url": "https://a.example/?<script>'", "html": "<p onclick=x>\(text)<script>x</script></p>",
        "attachments": [{"url": "https://a.example/b.png?<script>'", \(attachment)}]}
        """
      let item = try await server.write("POST", "items", body).json(EditorialItem.self, status: 201)
      for path in ["/", "/topics/city", Self.path(item)] {
        let page = try PageScan(try await server.get(path).text)
        #expect(page.text.contains("<script>alert(1)</script>\" onmouseover"), "\(path)")
      }
      for body in [#""url": "javascript:alert(1)""#, #""attachments": [{"url": "javascript:x", "type": "image/png"}]"#]
      {
        let refused = try await server.write(
          "POST", "items", #"{"date": "2026-01-01T00:00:00Z", "text": "x", \#(body)}"#)
        #expect(refused.status == 422)
      }
    }
  }
}
