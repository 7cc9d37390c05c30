import Foundation
import News
import Testing

@Suite struct `The JSON of news` {
  private static let id = UUID(
    uuid: (0x01, 0x9A, 0xBC, 0xDE, 0xF0, 0x12, 0x7A, 0xBC, 0x8D, 0xEF, 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB))
  private static let date = Date(timeIntervalSince1970: 1_795_249_800.5)
  private static let token = SyncToken(epoch: "k3x9qa", scope: .feed, version: 1295)

  private static let bare = NewsItem(id: id, version: 7, date: date, text: "Hello", updated: date)
  private static let bareJSON = """
    {"attachments":[],"breaking":false,"date":"2026-11-21T08:30:00.500Z",\
    "id":"019abcde-f012-7abc-8def-0123456789ab","text":"Hello","topics":[],\
    "updated":"2026-11-21T08:30:00.500Z","version":7}
    """

  private static let full = NewsItem(
    id: id, version: 1295, date: date, text: "Line one\nLine \"two\" \\ 🗞 </script>", title: "Größe", summary: "Short",
    html: "<p>x</p>", topics: ["politics", "sport"], language: "pt-BR", url: "https://example.com/a/b?c=d&e",
    author: "A. Writer", breaking: true,
    attachments: [
      Attachment(
        url: "https://example.com/p.jpg", type: "image/jpeg", bytes: 12_345, width: 640, height: 480, alt: "A picture",
        sha256: "00ff"),
      Attachment(url: "https://example.com/a.mp3", type: "audio/mpeg"),
    ], updated: date)
  private static let fullJSON = #"""
    {"attachments":[{"alt":"A picture","bytes":12345,"height":480,"sha256":"00ff","type":"image/jpeg",\#
    "url":"https://example.com/p.jpg","width":640},{"type":"audio/mpeg","url":"https://example.com/a.mp3"}],\#
    "author":"A. Writer","breaking":true,"date":"2026-11-21T08:30:00.500Z","html":"<p>x</p>",\#
    "id":"019abcde-f012-7abc-8def-0123456789ab","language":"pt-BR","summary":"Short",\#
    "text":"Line one\nLine \"two\" \\ 🗞 </script>","title":"Größe","topics":["politics","sport"],\#
    "updated":"2026-11-21T08:30:00.500Z","url":"https://example.com/a/b?c=d&e","version":1295}
    """#

  private func json(_ value: some Encodable) throws -> String {
    String(decoding: try NewsJSON.encode(value), as: UTF8.self)
  }

  private func read<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
    try NewsJSON.decode(type, from: Data(json.utf8))
  }

  // MARK: Writing

  @Test func `Keys are sorted, absent optionals omitted, arrays present, ids lower case`() throws {
    #expect(try json(Self.bare) == Self.bareJSON)
  }

  @Test func `Every field is written once, slashes as they are`() throws {
    #expect(try json(Self.full) == Self.fullJSON)
  }

  @Test func `An editorial item is one flat object`() throws {
    let edited = RFC3339.string(from: Self.date)
    let draft = EditorialItem(item: Self.bare, state: .draft, revision: 3, edited: Self.date)
    #expect(
      try json(draft)
        == Self.bareJSON.replacing("\"id\"", with: "\"edited\":\"\(edited)\",\"id\"")
        .replacing("\"text\"", with: "\"revision\":3,\"state\":\"draft\",\"text\""))
    var undated = draft
    undated.hasDate = false
    let json = try json(undated)
    #expect(!json.contains("\"date\""))
    #expect(try NewsJSON.decode(EditorialItem.self, from: Data(json.utf8)) == undated)
    let retracted = EditorialItem(
      item: Self.bare, state: .retracted, revision: 4, retractionReason: "wrong", edited: Self.date)
    #expect(
      try self.json(EditorialItemList(items: [retracted], counts: [.retracted: 5]))
        == "{\"counts\":{\"retracted\":5},\"items\":["
        + Self.bareJSON.replacing("\"id\"", with: "\"edited\":\"\(edited)\",\"id\"").replacing(
          "\"text\"", with: "\"retractionReason\":\"wrong\",\"revision\":4,\"state\":\"retracted\",\"text\"") + "]}")
  }

  @Test func `Lists are written in their envelopes, empty ones too`() throws {
    #expect(try json(ItemList(items: [])) == "{\"items\":[]}")
    #expect(try json(ItemList(items: [Self.bare])) == "{\"items\":[\(Self.bareJSON)]}")
    #expect(try json(EditorialItemList(items: [], counts: [:])) == "{\"counts\":{},\"items\":[]}")
    #expect(try json(TopicList(topics: [])) == "{\"topics\":[]}")
  }

  @Test func `Changes are written with their op, the token as a string`() throws {
    let changes = ChangeList(
      changes: [.put(Self.bare), .remove(id: Self.id, reason: .left)], more: false, snapshot: nil, token: Self.token)
    #expect(
      try json(changes) == """
        {"changes":[{"item":\(Self.bareJSON),"op":"put"},\
        {"id":"019abcde-f012-7abc-8def-0123456789ab","op":"remove","reason":"left"}],\
        "more":false,"token":"1k3x9qam9pkx.zz"}
        """)
    let snapshot = ChangeList(changes: [], more: true, snapshot: true, token: Self.token)
    #expect(try json(snapshot) == "{\"changes\":[],\"more\":true,\"snapshot\":true,\"token\":\"1k3x9qam9pkx.zz\"}")
  }

  @Test func `The state of the feed is short and its topics are sorted`() throws {
    let slugs = ["zoo", "art", "sport", "a-b", "ab"]
    let topics = Dictionary(
      uniqueKeysWithValues: slugs.map { slug in
        (slug, SyncToken(epoch: "k3x9qa", scope: Scope(topics: [slug]), version: 99))
      })
    let state = try json(FeedState(feed: Self.token, topics: topics, union: Self.token))
    #expect(state.utf8.count < 300)
    let positions = try ["a-b", "ab", "art", "sport", "zoo"].map {
      try #require(state.range(of: "\"\($0)\":")).lowerBound
    }
    #expect(positions == positions.sorted())
    #expect(
      try json(FeedState(feed: Self.token, topics: [:], union: nil)) == "{\"feed\":\"1k3x9qam9pkx.zz\",\"topics\":{}}")
  }

  @Test func `A topic shows its revision to editors only`() throws {
    var topic = Topic(slug: "sport", titles: ["en": "Sport", "de": "Sport"], position: 2, items: 3, changed: Self.date)
    let json = """
      {"changed":"2026-11-21T08:30:00.500Z","items":3,"position":2,"slug":"sport",\
      "titles":{"de":"Sport","en":"Sport"}}
      """
    #expect(try self.json(topic) == json)
    topic.revision = 5
    #expect(try self.json(topic) == json.replacing("\"slug\"", with: "\"revision\":5,\"slug\""))
  }

  @Test func `A problem has the members of RFC 9457 and those that are set`() throws {
    #expect(
      try json(Problem(type: "/problems/not-found", title: "Not found", status: 404))
        == "{\"status\":404,\"title\":\"Not found\",\"type\":\"/problems/not-found\"}")
    let problem = Problem(
      type: "/problems/x", title: "X", status: 410, detail: "D",
      errors: [FieldError(field: "a[0].b", rule: "must be c")],
      reason: "scope", token: Self.token)
    #expect(
      try json(problem) == """
        {"detail":"D","errors":[{"field":"a[0].b","rule":"must be c"}],"reason":"scope","status":410,\
        "title":"X","token":"1k3x9qam9pkx.zz","type":"/problems/x"}
        """)
  }

  @Test func `Equal values give equal bytes, however often they are encoded`() throws {
    let slugs = (0..<40).map { "topic-\($0)" }
    let item = try NewsJSON.encode(EditorialItem(item: Self.full, state: .published, revision: 1, edited: Self.date))
    let titles = try NewsJSON.encode(Self.topic(slugs))
    let state = try NewsJSON.encode(Self.state(slugs))
    for round in 0..<100 {
      // The order of the keys in a dictionary depends on its history.
      let order = round.isMultiple(of: 2) ? slugs.reversed() : slugs.shuffled()
      #expect(
        try NewsJSON.encode(EditorialItem(item: Self.full, state: .published, revision: 1, edited: Self.date)) == item)
      #expect(try NewsJSON.encode(Self.topic(order)) == titles)
      #expect(try NewsJSON.encode(Self.state(order)) == state)
    }
  }

  private static func topic(_ languages: [String]) -> Topic {
    var titles: [String: String] = [:]
    for language in languages { titles[language] = "Title" }
    return Topic(slug: "sport", titles: titles, position: 1, items: 1, changed: date)
  }

  private static func state(_ slugs: [String]) -> FeedState {
    var topics: [String: SyncToken] = [:]
    for slug in slugs { topics[slug] = token }
    return FeedState(feed: token, topics: topics, union: token)
  }

  // MARK: Reading

  @Test func `What is written is read back as the same`() throws {
    for item in [Self.bare, Self.full] {
      #expect(try NewsJSON.decode(NewsItem.self, from: NewsJSON.encode(item)) == item)
      let editorial = EditorialItem(
        item: item, state: .scheduled, publishAt: Self.date, expireAt: Self.date + 1, revision: 2,
        retractionReason: "r",
        edited: Self.date + 2)
      #expect(try NewsJSON.decode(EditorialItem.self, from: NewsJSON.encode(editorial)) == editorial)
      let changes = ChangeList(
        changes: [.put(item), .remove(id: item.id, reason: .expired)], more: true, snapshot: true, token: Self.token)
      #expect(try NewsJSON.decode(ChangeList.self, from: NewsJSON.encode(changes)) == changes)
    }
    let problem = Problem(type: "/p", title: "t", status: 400, errors: [FieldError(field: "f", rule: "r")])
    #expect(try NewsJSON.decode(Problem.self, from: NewsJSON.encode(problem)) == problem)
    let topics = TopicList(topics: [Self.topic(["en", "de"])])
    #expect(try NewsJSON.decode(TopicList.self, from: NewsJSON.encode(topics)) == topics)
    let state = Self.state(["a", "b"])
    #expect(try NewsJSON.decode(FeedState.self, from: NewsJSON.encode(state)) == state)
  }

  @Test func `Text of any characters comes back unchanged`() throws {
    var scalars = String.UnicodeScalarView()
    for value in UInt32(1)...0x2FFF { if let scalar = Unicode.Scalar(value) { scalars.append(scalar) } }
    for scalar in "\u{D7FF}\u{E000}\u{FEFF}\u{FFFD}\u{FFFF}\u{10000}\u{1F5DE}\u{10FFFF}".unicodeScalars {
      scalars.append(scalar)
    }
    var item = Self.bare
    item.text = String(scalars)
    let back = try NewsJSON.decode(NewsItem.self, from: NewsJSON.encode(item))
    #expect(back.text.unicodeScalars.elementsEqual(scalars))
  }

  @Test func `Unknown fields are ignored at every level`() throws {
    let item = Self.bareJSON.replacing("{\"attachments\":[]", with: "{\"new\":{\"a\":[1]},\"attachments\":[]")
    #expect(try read(NewsItem.self, item) == Self.bare)
    let list = "{\"items\":[\(item)],\"next\":null,\"count\":1}"
    #expect(try read(ItemList.self, list) == ItemList(items: [Self.bare]))
    let change = "{\"op\":\"put\",\"item\":\(item),\"why\":\"x\"}"
    #expect(try read(Change.self, change) == .put(Self.bare))
  }

  @Test func `Unknown ops and reasons are kept as such, and the rest of the list is read`() throws {
    let list = """
      {"changes":[{"op":"move","id":5},{"op":"remove","id":"019ABCDE-F012-7ABC-8DEF-0123456789AB","reason":"banned"},\
      {"op":"put","item":\(Self.bareJSON)}],"more":false,"token":"1k3x9qam9pkx.zz"}
      """
    let changes = try read(ChangeList.self, list)
    #expect(
      changes.changes == [
        .unknown(op: "move"), .remove(id: Self.id, reason: RemovalReason(rawValue: "banned")), .put(Self.bare),
      ])
    #expect(changes.snapshot == nil)
    #expect(changes.token == Self.token)
  }

  @Test func `Missing arrays and flags have their defaults, null counts as absent`() throws {
    let json = """
      {"id":"019abcde-f012-7abc-8def-0123456789ab","version":7,"date":"2026-11-21T09:30:00.5+01:00","text":"Hello",\
      "title":null,"topics":null,"updated":"2026-11-21T08:30:00.5Z"}
      """
    #expect(try read(NewsItem.self, json) == Self.bare)
  }

  @Test(arguments: ["id", "version", "date", "text", "updated"])
  func `Without a required field an item is refused`(_ field: String) throws {
    let object = try JSONSerialization.jsonObject(with: NewsJSON.encode(Self.bare))
    var fields = try #require(object as? [String: Any])
    fields[field] = nil
    let data = try JSONSerialization.data(withJSONObject: fields)
    #expect(throws: DecodingError.self) { try NewsJSON.decode(NewsItem.self, from: data) }
  }

  @Test(arguments: [
    "\"2026-11-21\"", "\"2026-11-21T08:30:00\"", "\"yesterday\"", "1795249800", "null", "\"\"",
  ])
  func `A date in any other form is refused`(_ date: String) {
    let json = Self.bareJSON.replacing("\"2026-11-21T08:30:00.500Z\"", with: date)
    #expect(throws: DecodingError.self) { try read(NewsItem.self, json) }
  }

  @Test(arguments: [
    "{\"op\":\"remove\",\"id\":\"x\",\"reason\":\"left\"}", "{\"op\":\"remove\",\"reason\":\"left\"}",
    "{\"op\":\"put\"}", "{\"op\":7}", "{}",
  ])
  func `A known change that is malformed is refused`(_ json: String) {
    #expect(throws: DecodingError.self) { try read(Change.self, json) }
  }

  @Test(arguments: ["\"\"", "\"x\"", "5", "null", "\"1K3X9QAM9PKX.ZZ\"", "\"1k3x9qam9pkx.0zz\""])
  func `A token in any other form is refused`(_ token: String) {
    #expect(throws: DecodingError.self) { try read(FeedState.self, "{\"feed\":\(token),\"topics\":{}}") }
  }
}
