import FaultServer
import Foundation
import News
import Testing

/// Tests that a feed without faults behaves correctly.
@Suite struct FeedTests {
  // The clock stands still, because responses that are compared name its second.
  let feed = FaultFeed(now: { Date(timeIntervalSince1970: 1_790_000_000) })

  private func get(_ target: String, _ headers: (name: String, value: String)...) -> FaultResponse {
    feed.respond(FaultRequest(target: target, headers: headers))
  }

  private func changes(_ target: String) throws -> ChangeList {
    let response = get(target)
    try #require(response.status == 200, "\(response.status)")
    #expect(response["ETag"] == "\"\(response["Sync-Token"] ?? "")\"")
    return try NewsJSON.decode(ChangeList.self, from: response.body)
  }

  private func problem(_ target: String) throws -> Problem {
    try NewsJSON.decode(Problem.self, from: get(target).body)
  }

  @Test func `items are listed newest first, and unchanged lists are 304`() throws {
    let items = (0..<3).map { feed.publish("\($0)") }
    let response = get("/v1/items?limit=2")
    #expect(try NewsJSON.decode(ItemList.self, from: response.body).items == [items[2], items[1]])
    #expect(response["Sync-Token"] == "\(feed.token())")
    #expect(response["Cache-Control"]?.hasPrefix("max-age=0, s-maxage=1") == true)
    let tag = try #require(response["ETag"])
    let held = get("/v1/items?limit=2", ("If-None-Match", "W/\"a\", \(tag)"))
    #expect(held.status == 304)
    #expect(held.body.isEmpty)
    for name in ["ETag", "Cache-Control", "Vary", "Sync-Token", "Date"] { #expect(held[name] == response[name]) }
    feed.publish("new")
    #expect(get("/v1/items?limit=2", ("If-None-Match", tag)).status == 200)
  }

  @Test func `changes follow from a token, page by page`() throws {
    let first = feed.publish("1", topics: ["a"])
    let token = feed.token()
    #expect(get("/v1/changes?since=\(token)", ("If-None-Match", "\"\(token)\"")).status == 304)
    let nothing = ChangeList(changes: [], more: false, snapshot: nil, token: token)
    #expect(try changes("/v1/changes?since=\(token)") == nothing)
    let second = feed.publish("2")
    feed.retract(first.id)
    let page = try changes("/v1/changes?since=\(token)&limit=1")
    #expect(page.changes == [.put(second)])
    #expect(page.more)
    let rest = try changes("/v1/changes?since=\(page.token)&limit=1")
    #expect(rest.changes == [.remove(id: first.id, reason: .retracted)])
    #expect(!rest.more)
    #expect(rest.token == feed.token())
  }

  @Test func `a snapshot goes on though its items change meanwhile`() throws {
    let items = (0..<3).map { feed.publish("\($0)") }
    let page = try changes("/v1/changes?limit=2")
    #expect(page.changes == [.put(items[0]), .put(items[1])])
    #expect(page.snapshot == true && page.more && page.token.position == 2)
    feed.retract(items[0].id)
    let rest = try changes("/v1/changes?limit=2&since=\(page.token)")
    #expect(rest.changes == [.put(items[2]), .remove(id: items[0].id, reason: .retracted)])
    #expect(rest.snapshot == true && !rest.more && rest.token == feed.token())
  }

  @Test func `topics have tokens of their own`() throws {
    var item = feed.publish("1", topics: ["a", "b"])
    feed.publish("2", topics: ["b"])
    let state = try NewsJSON.decode(FeedState.self, from: get("/v1/state?topics=a,b").body)
    #expect(state.topics == ["a": feed.token(topics: ["a"]), "b": feed.token(topics: ["b"])])
    #expect(state.feed.version == 2 && state.topics["a"]?.version == 1 && state.union?.version == 2)
    let (inA, inBoth) = (feed.token(topics: ["a"]), feed.token(topics: ["a", "b"]))
    item.topics = ["b"]
    item = feed.publish([item])[0]
    #expect(try changes("/v1/changes?topics=a&since=\(inA)").changes == [.remove(id: item.id, reason: .left)])
    #expect(try changes("/v1/changes?topics=a,b&since=\(inBoth)").changes == [.put(item)])
  }

  @Test func `tokens expire, and an epoch can keep its history or not`() throws {
    feed.publish("1")
    let old = feed.token()
    feed.publish("2")
    let held = feed.token()
    feed.expireTokens()
    #expect(try problem("/v1/changes?since=\(old)").reason == "expired")
    #expect(try problem("/v1/changes?since=\(old)").token == held)
    #expect(get("/v1/changes?since=\(held)").status == 200)
    #expect(try problem("/v1/changes?topics=a&since=\(held)").reason == "scope")
    feed.moveEpoch(keepingHistory: true)
    #expect(try changes("/v1/changes?since=\(held)").changes == [])
    #expect(feed.token().epoch != held.epoch)
    feed.moveEpoch(keepingHistory: false)
    #expect(try problem("/v1/changes?since=\(held)").reason == "epoch")
    #expect(get("/v1/items?at=\(held)").status == 410)
  }

  @Test func `after a restore only lost tokens are refused`() throws {
    feed.publish("1")
    let (kept, then) = (feed.token(), feed.snapshot)
    feed.publish("lost")
    let lost = feed.token()
    feed.restore(then)
    #expect(try changes("/v1/changes?since=\(kept)").changes == [])
    #expect(try problem("/v1/changes?since=\(lost)").reason == "epoch")
  }

  @Test func `invalid and unknown requests are refused`() throws {
    let ahead = SyncToken(epoch: feed.token().epoch, scope: .feed, version: 99)
    #expect(get("/v1/items?at=\(ahead)").status == 503)
    #expect(get("/v1/items?at=\(ahead)")["Retry-After"] == "1")
    #expect(try problem("/v1/changes?since=\(ahead)").reason == "ahead")
    for target in ["/v1/items?limit=0", "/v1/items?q=a", "/v1/changes?since=x", "/v1/state?topics=A", "/v1/items?at="] {
      #expect(get(target).status == 400, "\(target)")
    }
    #expect(get("/v1/other").status == 404)
    #expect(feed.respond(FaultRequest(method: "POST", target: "/v1/items")).status == 405)
  }

  @Test func `long responses are compressed if the client accepts it, with another tag`() throws {
    feed.publish(String(repeating: "long ", count: 400))
    let response = get("/v1/items", ("Accept-Encoding", "gzip"))
    #expect(response["Content-Encoding"] == "gzip")
    let tag = try #require(response["ETag"])
    #expect(tag.hasSuffix("-gz\""))
    #expect(get("/v1/items", ("If-None-Match", tag)).status == 304)
    feed.compresses = false
    #expect(get("/v1/items", ("Accept-Encoding", "gzip"))["Content-Encoding"] == nil)
  }

  @Test func `HEAD has the headers of GET`() {
    feed.publish("1")
    let head = feed.respond(FaultRequest(method: "HEAD", target: "/v1/items"))
    #expect(head.body.isEmpty)
    #expect(head.framing == .length(get("/v1/items").body.count))
    #expect(head["ETag"] == get("/v1/items")["ETag"])
  }

  @Test func `Last-Modified is sent once its second is over`() {
    let start = Date(timeIntervalSince1970: 784_111_777)
    let feed = FaultFeed(now: { start })
    feed.publish("1")
    #expect(feed.respond(FaultRequest(target: "/v1/items"))["Last-Modified"] == nil)
    feed.pollInterval = 90
    #expect(feed.respond(FaultRequest(target: "/v1/items"))["X-Poll-Interval"] == "90")
    self.feed.publish("1")
    #expect(self.feed.respond(FaultRequest(target: "/v1/items"))["Date"] != nil)
  }
}
