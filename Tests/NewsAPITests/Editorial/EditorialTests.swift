import Foundation
import News
import NewsStore
import TestSupport
import Testing

@Suite struct EditorialTests {
  private static let body = #"{"date": "2026-01-01T00:00:00Z", "text": "x"}"#

  private static func path(_ item: EditorialItem) -> String { "items/\(item.item.id.uuidString.lowercased())" }

  @Test("A created item has an id assigned by the server, revision 1, and a working Location")
  func create() async throws {
    try await TestServer.with { server in
      let response = try await server.write("POST", "items", Self.body)
      let item = try response.json(EditorialItem.self, status: 201)
      #expect(item.revision == 1)
      #expect(item.state == .published)
      #expect(item.item.version == 1)
      #expect(
        item.item.id.uuidString[item.item.id.uuidString.index(item.item.id.uuidString.startIndex, offsetBy: 14)] == "7")
      #expect(response["ETag"] == "\"r1\"")
      #expect(response["Cache-Control"] == "private, no-store")
      let location = try #require(response["Location"])
      #expect(location == "/v1/editorial/items/\(item.item.id.uuidString.lowercased())")
      let found = try await server.send("GET", location, key: server.key)
      #expect(try found.json(EditorialItem.self) == item)
      #expect(
        try await server.send(
          "GET", location, key: server.key, headers: [("If-None-Match", "\"r1\"")]
        ).status == 304)
    }
  }

  @Test("A create with a chosen id can be repeated and never overwrites an item")
  func createAgain() async throws {
    try await TestServer.with { server in
      let id = "019a1111-0000-7000-8000-000000000000"
      let body = #"{"id": "\#(id)", "date": "2026-01-01T00:00:00Z", "text": "x"}"#
      #expect(try await server.write("POST", "items", body).status == 201)
      let again = try await server.write("POST", "items", body)
      #expect(try again.json(EditorialItem.self, status: 200).item.version == 1)
      for other in [#""text": "y""#, #""text": "x", "title": "t""#, #""text": "x", "author": "A""#] {
        let body = #"{"id": "\#(id)", "date": "2026-01-01T00:00:00Z", \#(other)}"#
        #expect(try await server.write("POST", "items", body).status == 409, "\(other)")
      }
      #expect(try await server.get("/v1/items/\(id)").json(NewsItem.self).text == "x")
    }
  }

  @Test("A patch that changes the text of an item with HTML names the HTML too")
  func textBesideHTML() async throws {
    try await TestServer.with { server in
      let body = #"{"text": "The mayer.", "html": "<p>The mayer.</p>"}"#
      let item = try await server.write("POST", "items", body).json(EditorialItem.self, status: 201)
      let path = Self.path(item)
      let problem = try await server.write("PATCH", path, #"{"text": "The mayor."}"#, ("If-Match", "*"))
      let errors = try problem.json(Problem.self, status: 422).errors
      #expect(errors?.map(\.field) == ["text"] && errors?.first?.rule.contains(#""html": null"#) == true)
      let entry = #"{"op": "modify", "id": "\#(item.item.id)", "revision": 1, "patch": {"text": "The mayor."}}"#
      let batch = try await server.write("POST", "items/batch", #"{"entries": [\#(entry)]}"#)
      #expect(try batch.json(BatchResultList.self).results.map(\.status) == [422])
      // The same text, and other fields, change nothing that readers see.
      let author = try await server.write("PATCH", path, #"{"text": "The mayer.", "author": "M"}"#, ("If-Match", "*"))
      #expect(try author.json(EditorialItem.self).revision == 2)
      let patches = [
        (#"{"text": "The mayor.", "html": "<p>The mayor.</p>"}"#, "<p>The mayor.</p>"),
        (#"{"text": "The mayor!", "html": null}"#, nil), (#"{"text": "The mayor"}"#, nil),
      ]
      for (patch, html) in patches {
        let patched = try await server.write("PATCH", path, patch, ("If-Match", "*"))
        #expect(try patched.json(EditorialItem.self).item.html == html, "\(patch)")
      }
    }
  }

  @Test(
    "Each change of any part of the content, in either direction, is a new revision, and a repeated write is not"
  )
  func revisions() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("x", date: "2026-01-01T00:00:00Z")
      func attachment(_ name: String) -> String {
        #"{"attachments": [{"url": "https://example.org/\#(name)", "type": "image/png"}]}"#
      }
      let edits = [
        #"{"date": "2026-01-02T00:00:00Z"}"#, #"{"date": "2026-01-01T00:00:00Z"}"#, attachment("a.png"),
        attachment("b.png"), #"{"breaking": true}"#, #"{"url": "https://example.org/"}"#, #"{"language": "de"}"#,
      ]
      for (index, edit) in edits.enumerated() {
        for _ in 0..<2 {
          let edited = try await server.write("PATCH", Self.path(item), edit, ("If-Match", "*"))
          #expect(try edited.json(EditorialItem.self).revision == index + 2, "\(edit)")
        }
      }
    }
  }

  @Test(
    "An overwrite requires the revision that it replaces, in If-Match or in the body",
    arguments: [
      ("PUT", #"{"date": "2026-01-01T00:00:00Z", "text": "y"}"#), ("PATCH", #"{"text": "y"}"#),
    ])
  func locks(method: String, body: String) async throws {
    try await TestServer.with { server in
      let item = try await server.publish("x")
      let path = Self.path(item)
      func locked(_ revision: Int) -> String { body.dropLast() + #", "revision": \#(revision)}"# }
      #expect(try await server.write(method, path, body).status == 428)
      #expect(try await server.write(method, path, body, ("If-Match", "\"r2\"")).status == 412)
      #expect(try await server.write(method, path, body, ("If-Match", "W/\"r1\"")).status == 412)
      // The public representation has its own tag, which does not contain the revision.
      let publicTag = try #require(try await server.get("/v1/" + path)["ETag"])
      #expect(try await server.write(method, path, body, ("If-Match", publicTag)).status == 412)
      #expect(try await server.write(method, path, locked(2)).status == 412)
      #expect(try await server.write(method, path, locked(1), ("If-Match", "\"r2\"")).status == 412)
      #expect(try await server.write(method, path, locked(1)).json(EditorialItem.self).revision == 2)
      let other = body.replacing("\"y\"", with: "\"z\"")
      #expect(
        try await server.write(method, path, other, ("If-Match", "\"r7\", \"r2\"")).json(EditorialItem.self).revision
          == 3)
      // Writing the same content again changes nothing.
      let same = try await server.write(method, path, other, ("If-Match", "\"r3\""))
      #expect(same["ETag"] == "\"r3\"")
      #expect(try same.json(EditorialItem.self).item.version == 3)
      #expect(
        try await server.write(method, "items/019a0000-0000-7000-8000-000000000000", body, ("If-Match", "*")).status
          == 412)
      #expect(try await server.write(method, path, other, ("If-None-Match", "\"r3\"")).status == 400)
    }
  }

  @Test("If several writers send the same revision, exactly one succeeds")
  func lostUpdate() async throws {
    try await TestServer.with { server in
      let path = Self.path(try await server.publish("x"))
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for index in 0..<8 {
          group.addTask {
            try await server.write("PATCH", path, #"{"text": "\#(index)"}"#, ("If-Match", "\"r1\"")).status
          }
        }
        return try await group.reduce(into: [Int]()) { $0.append($1) }
      }
      #expect(statuses.filter { $0 == 200 }.count == 1)
      #expect(statuses.filter { $0 == 412 }.count == 7)
    }
  }

  @Test("PUT with If-None-Match: * creates an item once")
  func putCreates() async throws {
    try await TestServer.with { server in
      let path = "items/019a2222-0000-7000-8000-000000000000"
      let first = try await server.write("PUT", path, Self.body, ("If-None-Match", "*"))
      #expect(first.status == 201)
      #expect(first["Location"] == "/v1/editorial/\(path)")
      #expect(try await server.write("PUT", path, Self.body, ("If-None-Match", "*")).status == 412)
      #expect(try await server.write("PUT", "items/019a3333-0000-7000-8000-000000000000", Self.body).status == 428)
    }
  }

  @Test("The HTML of an editor keeps its words, its embeds as links, and its footnotes")
  func keptParts() async throws {
    try await TestServer.with { server in
      let body = #"""
        {"date": "2026-01-01T00:00:00Z", "text": "x", "url": "https://example.org/a",
         "html": "<form>Vote <a href='https://example.org/a#n'>1</a></form><iframe src='https://v.example/1'></iframe><p id=n>x</p>"}
        """#
      let item = try await server.write("POST", "items", body).json(EditorialItem.self, status: 201)
      #expect(
        item.item.html
          == ##"<div>Vote <a href="#user-content-n">1</a></div><a href="https://v.example/1">v.example/1</a>"##
          + #"<p id="user-content-n">x</p>"#)
    }
  }

  @Test("PATCH merges: omitted fields stay, null removes a field, arrays are replaced")
  func mergePatch() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      let body = #"""
        {"date": "2026-01-01T00:00:00.123Z", "text": "x", "title": "t", "author": "A", "topics": ["a"],
         "html": "<p>x</p>", "attachments": [{"url": "https://example.org/a.png", "type": "image/png", "width": 3}]}
        """#
      let item = try await server.write("POST", "items", body).json(EditorialItem.self, status: 201)
      let patch = #"{"title": null, "author": "B", "topics": ["b"], "version": 99}"#
      let patched = try await server.send(
        "PATCH", "/v1/editorial/" + Self.path(item), key: server.key,
        headers: [("Content-Type", "application/merge-patch+json"), ("If-Match", "*")], body: patch
      ).json(EditorialItem.self)
      #expect(patched.item.title == nil)
      #expect(patched.item.author == "B")
      #expect(patched.item.topics == ["b"])
      #expect(patched.item.text == "x")
      #expect(patched.item.html == "<p>x</p>")
      #expect(patched.item.date == item.item.date)
      #expect(patched.item.attachments == item.item.attachments)
      #expect(patched.item.version == 2)
      let required = try await server.write("PATCH", Self.path(item), #"{"text": null}"#, ("If-Match", "*"))
      #expect(try required.json(Problem.self, status: 422).errors?.map(\.field) == ["text"])
    }
  }

  @Test("A draft is visible to editors only until it is published")
  func drafts() async throws {
    try await TestServer.with { server in
      let draft = try await server.write(
        "POST", "items", #"{"date": "2026-01-01T00:00:00Z", "text": "x", "state": "draft"}"#
      ).json(EditorialItem.self, status: 201)
      #expect(draft.item.version == 0)
      #expect(try await server.get("/v1/items").json(ItemList.self).items.isEmpty)
      let drafts = try await server.write("GET", "items?state=draft").json(EditorialItemList.self)
      #expect(drafts.items.map(\.item.id) == [draft.item.id])
      let edited = try await server.write("PATCH", Self.path(draft), #"{"text": "y"}"#, ("If-Match", "*"))
      #expect(try edited.json(EditorialItem.self).state == .draft)
      let published = try await server.write("PATCH", Self.path(draft), #"{"state": "published"}"#, ("If-Match", "*"))
      #expect(try published.json(EditorialItem.self).item.version == 1)
      #expect(try await server.get("/v1/items").json(ItemList.self).items.map(\.text) == ["y"])
    }
  }

  @Test("A write that is canonically equivalent in Unicode is an edit, and URL schemes are converted to lower case")
  func bytesCount() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("caf\u{e9}")
      let patch = #"{"text": "cafe\u0301", "url": "HTTPS://Example.org/a"}"#
      let edited = try await server.write("PATCH", Self.path(item), patch, ("If-Match", "*")).json(EditorialItem.self)
      #expect(Array(edited.item.text.utf8) == Array("cafe\u{301}".utf8))
      #expect(edited.item.url == "https://Example.org/a")
      #expect(edited.revision == 2)
      let again = try await server.write("PATCH", Self.path(item), #"{"text": "caf\u00e9"}"#, ("If-Match", "*"))
      #expect(try again.json(EditorialItem.self).item.version == 3)
    }
  }

  @Test("A retraction requires a revision and is final; editors can still read the item")
  func retraction() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("x")
      let unlocked = try await server.write("DELETE", Self.path(item))
      #expect(try unlocked.json(Problem.self, status: 428).type == "/problems/precondition-required")
      #expect(try await server.get("/v1/" + Self.path(item)).status == 200)
      #expect(try await server.write("DELETE", Self.path(item), nil, ("If-Match", "\"r2\"")).status == 412)
      #expect(try await server.write("DELETE", Self.path(item), nil, ("If-Match", "\"r1\"")).status == 204)
      #expect(try await server.write("DELETE", Self.path(item)).status == 410)
      #expect(try await server.write("PATCH", Self.path(item), #"{"text": "y"}"#, ("If-Match", "*")).status == 410)
      #expect(try await server.write("PUT", Self.path(item), Self.body, ("If-None-Match", "*")).status == 410)
      #expect(try await server.write("GET", Self.path(item)).json(EditorialItem.self).state == .retracted)
      #expect(try await server.write("DELETE", "items/019a0000-0000-7000-8000-000000000000").status == 404)
      #expect(
        try await server.write("DELETE", Self.path(item) + "?reason=" + String(repeating: "x", count: 513)).status
          == 400)
    }
  }

  @Test("Editors page through items of every state")
  func editorialPages() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a"])
      for index in 1...5 {
        _ = try await server.publish("\(index)", date: "2026-01-0\(index)T00:00:00Z", topics: ["a"])
      }
      let first = try await server.write("GET", "items?limit=2&topics=a")
      #expect(try first.json(EditorialItemList.self).items.map(\.item.text) == ["5", "4"])
      let second = try await server.send("GET", try #require(first.next), key: server.key)
      #expect(try second.json(EditorialItemList.self).items.map(\.item.text) == ["3", "2"])
      #expect(try await server.write("GET", "items?state=retracted").json(EditorialItemList.self).items.isEmpty)
    }
  }

  @Test("Lists of editors begin with the last write, have filters, and count all items by state")
  func editorialFilters() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      let first = try await server.publish("rain", date: "2026-01-01T00:00:00Z", topics: ["a"])
      for body in [
        #"{"text": "sun", "date": "2026-01-02T00:00:00Z", "topics": ["b"], "breaking": true}"#,
        #"{"text": "rain and sun", "date": "2026-01-03T00:00:00Z", "state": "draft"}"#,
        #"{"text": "fog", "state": "review", "topics": ["a"]}"#,
      ] { #expect(try await server.write("POST", "items", body).status == 201) }
      _ = try await server.write("PATCH", Self.path(first), #"{"title": "t"}"#, ("If-Match", "*"))
      for (query, texts) in [
        ("", ["rain", "fog", "rain and sun", "sun"]), ("?state=published", ["rain", "sun"]),
        ("?topics=a", ["rain", "fog"]), ("?topics=a,b&state=published", ["rain", "sun"]),
        ("?q=rain", ["rain", "rain and sun"]), ("?q=-rain", ["fog", "sun"]), ("?breaking=true", ["sun"]),
        ("?breaking=false&state=published", ["rain"]), ("?to=2026-01-02T00:00:00Z", ["rain"]),
        ("?from=2026-01-02T00:00:00Z&to=2026-01-04T00:00:00Z", ["rain and sun", "sun"]),
      ] {
        let list = try await server.write("GET", "items" + query).json(EditorialItemList.self)
        #expect(list.items.map(\.item.text) == texts, "\(query)")
        #expect(list.counts == [.published: 2, .draft: 1, .review: 1], "\(query)")
        // Pages of one item have the same items in the same order.
        var (target, found): (String?, [String]) = ("/v1/editorial/items?limit=1" + query.replacing("?", with: "&"), [])
        while let page = target, found.count < 10 {
          let response = try await server.send("GET", page, key: server.key)
          found += try response.json(EditorialItemList.self).items.map(\.item.text)
          target = response.next
        }
        #expect(found == texts, "\(query)")
      }
      #expect(try await server.write("GET", "items?topics=nowhere").json(Problem.self, status: 400).errors?.count == 1)
      #expect(try await server.write("GET", "items?breaking=yes").status == 400)
    }
  }

  @Test("Topics are created once, protected by their revision, and checked when an item names them")
  func topics() async throws {
    try await TestServer.with { server in
      let body = #"{"slug": "city", "titles": {"en": "City"}, "position": 3}"#
      let created = try await server.write("POST", "topics", body)
      #expect(created.status == 201)
      #expect(created["Location"] == "/v1/editorial/topics/city")
      #expect(try await server.write("POST", "topics", body).status == 200)
      #expect(try await server.write("POST", "topics", #"{"slug": "city"}"#).status == 409)
      let change = #"{"titles": {"en": "Town"}}"#
      #expect(try await server.write("PUT", "topics/city", change).status == 428)
      #expect(try await server.write("PUT", "topics/city", change, ("If-Match", "\"r2\"")).status == 412)
      let topic = try await server.write("PUT", "topics/city", change, ("If-Match", "\"r1\"")).json(Topic.self)
      #expect(topic.titles == ["en": "Town"])
      #expect(topic.revision == 2)
      #expect(try await server.write("GET", "topics/city").json(Topic.self) == topic)
      #expect(try await server.write("GET", "topics").json(TopicList.self).topics == [topic])
      #expect(try await server.write("PUT", "topics/town", change, ("If-Match", "*")).status == 404)
      let unknown = try await server.write(
        "POST", "items", #"{"date": "2026-01-01T00:00:00Z", "text": "x", "topics": ["nowhere"]}"#)
      let error = try unknown.json(Problem.self, status: 422).errors?.first
      #expect(error?.field == "topics")
      #expect(error?.rule.contains("nowhere") == true)
      // The revision may be in the body.
      for (revision, status) in [(1, 412), (2, 200)] {
        let body = #"{"titles": {"en": "Port"}, "revision": \#(revision)}"#
        #expect(try await server.write("PUT", "topics/city", body).status == status)
      }
    }
  }
}
