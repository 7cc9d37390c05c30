import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct ChangeTests {
  /// Returns the changes of a list in a short form: `+text` and `-reason`.
  private static func steps(_ list: ChangeList) -> [String] {
    list.changes.map { change in
      switch change {
      case .put(let item): "+\(item.text)"
      case .remove(_, let reason): "-\(reason.rawValue)"
      case .unknown(let op): "?\(op)"
      }
    }
  }

  private static func changes(
    _ server: TestServer, since token: SyncToken? = nil, _ query: String = ""
  ) async throws -> ChangeList {
    let since = token.map { "&since=\($0)" } ?? ""
    return try await server.get("/v1/changes?limit=100" + since + query).json(ChangeList.self)
  }

  private static func path(_ item: EditorialItem) -> String { "items/\(item.item.id.uuidString.lowercased())" }

  @Test("A client without a token receives the snapshot in order of versions, and then each change once")
  func snapshotAndDeltas() async throws {
    try await TestServer.with { server in
      let one = try await server.publish("one")
      _ = try await server.publish("two")
      let snapshot = try await Self.changes(server)
      #expect(snapshot.snapshot == true)
      #expect(!snapshot.more)
      #expect(Self.steps(snapshot) == ["+one", "+two"])

      _ = try await server.write("PATCH", Self.path(one), #"{"text": "one!"}"#, ("If-Match", "*"))
      _ = try await server.write("PATCH", Self.path(one), #"{"text": "one?"}"#, ("If-Match", "*"))
      _ = try await server.publish("three")
      let delta = try await Self.changes(server, since: snapshot.token)
      #expect(delta.snapshot == nil)
      #expect(Self.steps(delta) == ["+one?", "+three"])
      _ = try await server.write("DELETE", Self.path(one), nil, ("If-Match", "*"))
      #expect(Self.steps(try await Self.changes(server, since: delta.token)) == ["-retracted"])
      // A snapshot contains no removed item.
      #expect(Self.steps(try await Self.changes(server)) == ["+two", "+three"])
    }
  }

  @Test("Lists, changes and the state carry a poll interval; other responses do not")
  func pollInterval() async throws {
    try await TestServer.with { server in
      _ = try await server.publish("one")
      try await eventually("the hint is known") { server.store.pollInterval != nil }
      for target in ["/v1/items", "/v1/items?q=one", "/v1/changes", "/v1/state"] {
        // The second and third responses come from memory.
        for _ in 0..<3 {
          let response = try await server.get(target)
          #expect(30...3600 ~= (response["X-Poll-Interval"].flatMap { Int($0) } ?? 0))
          let unchanged = try await server.get(target, ("If-None-Match", response["ETag"] ?? ""))
          #expect(unchanged.status == 304)
          #expect(unchanged["X-Poll-Interval"] == response["X-Poll-Interval"])
        }
      }
      #expect(try await server.get("/v1/topics")["X-Poll-Interval"] == nil)
    }
  }

  @Test("Without changes, a request with the token as entity tag gets 304, and any other an empty list")
  func nothingNew() async throws {
    try await TestServer.with { server in
      _ = try await server.publish("x")
      let token = try await Self.changes(server).token
      let plain = try await server.get("/v1/changes?since=\(token)")
      #expect(try plain.json(ChangeList.self) == ChangeList(changes: [], more: false, snapshot: nil, token: token))
      #expect(plain["ETag"] == "\"\(token)\"")
      #expect(plain["Sync-Token"] == token.description)
      #expect(try await server.get("/v1/changes?since=\(token)", ("If-None-Match", "\"\(token)\"")).status == 304)
      #expect(token.description.utf8.count <= 32)
    }
  }

  @Test("Lists, changes and the state report the same current token for a scope")
  func tokensAgree() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      _ = try await server.publish("x", topics: ["a"])
      _ = try await server.publish("y")
      let state = try await server.get("/v1/state?topics=b,a").json(FeedState.self)
      #expect(try await Self.changes(server).token == state.feed)
      #expect(try await server.get("/v1/items")["Sync-Token"] == state.feed.description)
      #expect(try await Self.changes(server, since: nil, "&topics=a").token == state.topics["a"])
      #expect(try await server.get("/v1/items?topics=a")["Sync-Token"] == state.topics["a"]?.description)
      #expect(try await Self.changes(server, since: nil, "&topics=a,b").token == state.union)
      #expect(try await server.get("/v1/items?topics=b,a&limit=1")["Sync-Token"] == state.union?.description)
      // A change elsewhere does not move the token of a scope.
      _ = try await server.publish("z", topics: ["b"])
      let later = try await server.get("/v1/state?topics=a,b").json(FeedState.self)
      #expect(later.topics["a"] == state.topics["a"])
      #expect(later.topics["b"] != state.topics["b"])
      #expect(later.feed != state.feed)
      #expect(later.union != state.union)
      #expect(try await server.get("/v1/state").json(FeedState.self).topics.isEmpty)
      let five = try await server.get("/v1/state?topics=a,b")
      #expect(five.body.count < 300)
    }
  }

  @Test(
    "Leaving a topic is a removal there, a change in the feed, and a removal in a union with no other topic of the item"
  )
  func leavingTopics() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b", "c"])
      let item = try await server.publish("x", topics: ["a", "b"])
      let (feed, a, union) = (
        try await Self.changes(server).token, try await Self.changes(server, "&topics=a").token,
        try await Self.changes(server, "&topics=a,b").token
      )
      _ = try await server.write("PATCH", Self.path(item), #"{"topics": ["b"]}"#, ("If-Match", "*"))
      #expect(Self.steps(try await Self.changes(server, since: feed)) == ["+x"])
      #expect(Self.steps(try await Self.changes(server, since: a, "&topics=a")) == ["-left"])
      #expect(Self.steps(try await Self.changes(server, since: union, "&topics=a,b")) == ["+x"])
      _ = try await server.write("PATCH", Self.path(item), #"{"topics": ["c"]}"#, ("If-Match", "*"))
      #expect(Self.steps(try await Self.changes(server, since: union, "&topics=a,b")) == ["-left"])
      #expect(Self.steps(try await Self.changes(server, since: a, "&topics=a")) == ["-left"])
      // The item returns to the topic.
      _ = try await server.write("PATCH", Self.path(item), #"{"topics": ["a"]}"#, ("If-Match", "*"))
      #expect(Self.steps(try await Self.changes(server, since: a, "&topics=a")) == ["+x"])
      #expect(Self.steps(try await Self.changes(server, since: union, "&topics=a,b")) == ["+x"])
    }
  }

  @Test("A snapshot that changes between pages repeats changed items and removes items already returned")
  func changingSnapshot() async throws {
    try await TestServer.with { server in
      var items: [EditorialItem] = []
      for index in 1...4 { items.append(try await server.publish("\(index)")) }
      var list = try await server.get("/v1/changes?limit=2").json(ChangeList.self)
      #expect(Self.steps(list) == ["+1", "+2"])
      #expect(list.more && list.snapshot == true)
      _ = try await server.write("PATCH", Self.path(items[0]), #"{"text": "1!"}"#, ("If-Match", "*"))
      _ = try await server.write("DELETE", Self.path(items[1]), nil, ("If-Match", "*"))
      _ = try await server.write("DELETE", Self.path(items[3]), nil, ("If-Match", "*"))
      var steps: [String] = []
      while list.more {
        list = try await server.get("/v1/changes?limit=2&since=\(list.token)").json(ChangeList.self)
        #expect(list.snapshot == true)
        steps += Self.steps(list)
      }
      #expect(steps == ["+3", "+1!", "-retracted", "-retracted"])
      let state = try await server.get("/v1/state").json(FeedState.self)
      #expect(list.token == state.feed)
    }
  }

  @Test("Pages of a union advance the token, even if the rest of a topic is on a later page")
  func unionPages() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      let start = try await Self.changes(server, "&topics=a,b").token
      var items: [EditorialItem] = []
      for index in 0..<6 { items.append(try await server.publish("\(index)", topics: ["a"])) }
      for item in items {
        _ = try await server.write("PATCH", Self.path(item), #"{"topics": ["b"]}"#, ("If-Match", "*"))
      }
      var (token, steps, more) = (start, [String](), true)
      while more {
        let list = try await server.get("/v1/changes?limit=1&topics=a,b&since=\(token)").json(ChangeList.self)
        if list.more { #expect(list.token != token) }
        (token, more) = (list.token, list.more)
        steps += Self.steps(list)
      }
      #expect(steps == (0..<6).map { "+\($0)" })
    }
  }

  /// Reads the changes of the topics a and b in pages of one, to the end.
  private static func pagesOfOne(_ server: TestServer, since token: SyncToken) async throws -> [String] {
    var (token, steps, more) = (token, [String](), true)
    while more {
      let list = try await server.get("/v1/changes?limit=1&topics=a,b&since=\(token)").json(ChangeList.self)
      (token, more) = (list.token, list.more)
      steps += Self.steps(list)
    }
    return steps
  }

  private static func move(_ item: EditorialItem, to topic: String, _ server: TestServer) async throws {
    _ = try await server.write("PATCH", path(item), #"{"topics": ["\#(topic)"]}"#, ("If-Match", "*"))
  }

  private static func edit(_ item: EditorialItem, _ server: TestServer) async throws {
    _ = try await server.write("PATCH", path(item), #"{"text": "\#(item.item.text)!"}"#, ("If-Match", "*"))
  }

  @Test("A page of a union ends where the read of one of its topics ended, and loses none of its changes")
  func unionHorizon() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      let start = try await Self.changes(server, "&topics=a,b").token
      let moved = [try await server.publish("x", topics: ["a"]), try await server.publish("y", topics: ["a"])]
      for item in moved { try await Self.move(item, to: "b", server) }
      _ = try await server.publish("z", topics: ["a"])
      for item in moved { try await Self.edit(item, server) }
      #expect(try await Self.pagesOfOne(server, since: start) == ["+z", "+x!", "+y!"])
    }
  }

  @Test("Two pages with the same token and different changes have different entity tags")
  func tagsOfPages() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      let start = try await Self.changes(server, "&topics=a,b").token
      let first = try await server.publish("w", topics: ["b"])
      let moved = [try await server.publish("x", topics: ["a"]), try await server.publish("y", topics: ["a"])]
      for item in moved { try await Self.move(item, to: "b", server) }
      for item in moved { try await Self.edit(item, server) }
      let target = "/v1/changes?limit=1&topics=a,b&since=\(start)"
      let page = try await server.get(target)
      #expect(Self.steps(try page.json(ChangeList.self)) == ["+w"])
      try await Self.edit(first, server)
      let later = try await server.get(target, ("If-None-Match", try #require(page["ETag"])))
      let list = try later.json(ChangeList.self)
      #expect(Self.steps(list) == [])
      #expect(list.more)
      // The tags must differ although the tokens are equal.
      #expect(list.token == (try page.json(ChangeList.self)).token)
      #expect(later["ETag"] != page["ETag"])
      #expect(try await server.get(target, ("If-None-Match", try #require(later["ETag"]))).status == 304)
    }
  }

  @Test("The state of a topic includes the version of the feed after a change elsewhere")
  func stateShowsTheFeed() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      _ = try await server.publish("x", topics: ["a"])
      let before = try await server.get("/v1/state?topics=a")
      _ = try await server.publish("y", topics: ["b"])
      let after = try await server.get("/v1/state?topics=a", ("If-None-Match", try #require(before["ETag"])))
      let (old, new) = (try before.json(FeedState.self), try after.json(FeedState.self))
      #expect(new.feed.version == old.feed.version + 1)
      #expect(new.topics == old.topics)
    }
  }

  @Test("A token of another scope, another history or the future is refused with 410 and a current token")
  func foreignTokens() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a"])
      _ = try await server.publish("x", topics: ["a"])
      let token = try await Self.changes(server).token
      func problem(_ token: SyncToken, _ query: String = "") async throws -> Problem {
        let response = try await server.get("/v1/changes?since=\(token)" + query, ("If-None-Match", "*"))
        #expect(response["Cache-Control"] == "max-age=0, s-maxage=1")
        return try response.json(Problem.self, status: 410)
      }
      #expect(try await problem(token, "&topics=a").reason == "scope")
      #expect(try await problem(SyncToken(epoch: "zzzzzz", scope: .feed, version: 1)).reason == "epoch")
      let ahead = try await problem(SyncToken(epoch: token.epoch, scope: .feed, version: 99))
      #expect(ahead.reason == "ahead")
      #expect(ahead.token == token)
      for nonsense in ["x", "1aaaaaabbbbb.01", "\(token).", "4" + token.description.dropFirst()] {
        #expect(try await server.get("/v1/changes?since=\(nonsense)").status == 400)
      }
    }
  }

  @Test("A token below the purge's floor has expired, unless it is current")
  func expiredTokens() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("x")
      let old = try await Self.changes(server).token
      _ = try await server.write("DELETE", Self.path(item), nil, ("If-Match", "*"))
      let current = try await Self.changes(server).token
      _ = try await server.sql.query("UPDATE scopes SET floor = version")
      #expect(try await server.get("/v1/changes?since=\(old)").json(Problem.self, status: 410).reason == "expired")
      #expect(try await server.get("/v1/changes?since=\(current)").status == 200)
    }
  }

  @Test(
    "A read with at= is served from that state on, refused with 410 beyond this history, and with 503 for a future state"
  )
  func atToken() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a"])
      let item = try await server.publish("x", topics: ["a"])
      let token = try await Self.changes(server).token
      for target in ["/v1/items?at=", "/v1/items/\(item.item.id)?at=", "/v1/changes?topics=a&at="] {
        #expect(try await server.get(target + "\(token)").status == 200)
        let strange = SyncToken(epoch: "zzzzzz", scope: .feed, version: 1)
        #expect(try await server.get(target + "\(strange)").json(Problem.self, status: 410).reason == "epoch")
      }
      let next = SyncToken(epoch: token.epoch, scope: .feed, version: token.version + 1)
      let early = try await server.get("/v1/items?at=\(next)")
      #expect(early.status == 503)
      #expect(early["Retry-After"] == "1")
      async let waiting = server.get("/v1/items?at=\(next)")
      try await Task.sleep(for: .milliseconds(100))
      _ = try await server.publish("y")
      #expect(try await waiting.json(ItemList.self).items.count == 2)
    }
  }

  @Test(
    "After a new epoch, a token from between two pages is 410, and a complete one of the same version is accepted")
  func partialTokenOfAnEarlierEpoch() async throws {
    try await TestServer.with { server in
      let start = try await Self.changes(server).token
      for text in ["x", "y", "z"] { _ = try await server.publish(text) }
      let page = try await server.get("/v1/changes?limit=1&since=\(start)").json(ChangeList.self)
      #expect(page.more)
      #expect(try await server.get("/v1/changes?since=\(page.token)").status == 200)
      _ = try await server.sql.query("SELECT begin_epoch()")
      _ = try await server.publish("in the new epoch")
      let whole = SyncToken(epoch: page.token.epoch, scope: .feed, version: page.token.version)
      #expect(Self.steps(try await Self.changes(server, since: whole)) == ["+y", "+z", "+in the new epoch"])
      let problem = try await server.get("/v1/changes?since=\(page.token)").json(Problem.self, status: 410)
      #expect(problem.reason == "epoch")
    }
  }

  @Test("A page that contains all changes of a union says so, even if one of its topics fills it exactly")
  func exactlyFull() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      let start = try await Self.changes(server, "&topics=a,b").token
      _ = try await server.publish("x", topics: ["a"])
      let moved = try await server.publish("y", topics: ["a"])
      for edit in [#"{"topics": ["b"]}"#, #"{"text": "z"}"#] {
        _ = try await server.write("PATCH", Self.path(moved), edit, ("If-Match", "*"))
      }
      // The log of `a` now contains two rows: an item, and a removal that is superseded by a later row of `b`.
      let page = try await server.get("/v1/changes?topics=a,b&limit=2&since=\(start)").json(ChangeList.self)
      #expect(Self.steps(page) == ["+x", "+z"])
      #expect(!page.more)
    }
  }

  @Test("After a new epoch, tokens of the shared history are accepted, and later ones are refused with 410")
  func newEpoch() async throws {
    try await TestServer.with { server in
      _ = try await server.publish("x")
      let shared = try await Self.changes(server).token
      _ = try await server.sql.query("SELECT begin_epoch()")
      let lost = SyncToken(epoch: shared.epoch, scope: .feed, version: shared.version + 1)
      _ = try await server.publish("y")
      let delta = try await Self.changes(server, since: shared)
      #expect(Self.steps(delta) == ["+y"])
      #expect(delta.token.epoch != shared.epoch)
      #expect(try await server.get("/v1/changes?since=\(lost)").json(Problem.self, status: 410).reason == "epoch")
      _ = try await server.sql.query("SELECT begin_epoch(cut => true)")
      #expect(try await server.get("/v1/changes?since=\(shared)").json(Problem.self, status: 410).reason == "epoch")
    }
  }

  @Test("A version counter that has gone back starts a new epoch as soon as the server reads it")
  func rewoundCounter() async throws {
    try await TestServer.with { server in
      for text in ["x", "y", "z"] { _ = try await server.publish(text) }
      let before = try await Self.changes(server).token
      // Sets the counter back, as a restore to an earlier point does, but keeps the connection.
      _ = try await server.sql.query(
        "DELETE FROM change_log WHERE version = (SELECT version FROM scopes WHERE scope = '')")
      _ = try await server.sql.query("UPDATE scopes SET version = version - 1 WHERE scope = ''")
      // No connection was lost, so the next poll detects the restore.
      var response = try await server.get("/v1/changes?since=\(before)")
      let limit = ContinuousClock.now + .seconds(30)
      while response.status == 200, ContinuousClock.now < limit {
        try await Task.sleep(for: .milliseconds(50))
        response = try await server.get("/v1/changes?since=\(before)")
      }
      let problem = try response.json(Problem.self, status: 410)
      #expect(problem.reason == "epoch")
      let token = try #require(problem.token)
      #expect(token.epoch != before.epoch)
      #expect(token.version == before.version - 1)
    }
  }
}
