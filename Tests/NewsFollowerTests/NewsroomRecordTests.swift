import Foundation
import News
import NewsFollower
import NewsStore
import Testing

@Suite("A record of a newsroom") struct NewsroomRecordTests {
  private static let digest = String(repeating: "0a", count: 32)

  /// Records that follow all rules.
  private static let valid = [
    "topic": #"{"slug": "sport", "titles": {"en": "Sport"}, "position": 1, "revision": 1}"#,
    "media": """
    {"id": "019a1111-0000-7000-8000-000000000001", "sha256": "\(digest)", "type": "image/png", "bytes": 1, "width": 1,
     "height": 2147483647, "name": "a.png", "created": "2026-01-01T00:00:00.000Z"}
    """,
    "item": """
    {"id": "019a1111-0000-7000-8000-000000000002", "state": "draft", "revision": 1, "text": "x", "topics": [],
     "created": "2026-01-01T00:00:00.000Z", "edited": "2026-01-01T00:00:00.000Z", "date": "2026-01-01T00:00:00.000Z",
     "breaking": false, "attachments": []}
    """,
    "withdrawnMedia": #"{"id": "019a1111-0000-7000-8000-000000000003", "reason": "removed"}"#,
    "subscription": """
    {"id": "019a1111-0000-7000-8000-000000000004", "url": "https://feeds.example/", "topics": [], "state": "draft",
     "paused": true, "revision": 1}
    """,
    "history": """
    {"item": "019a1111-0000-7000-8000-000000000002", "revision": 1, "at": "2026-01-01T00:00:00.000Z", "state": "draft",
     "fields": ["text"], "replaced": {"title": "y"}}
    """,
  ]

  /// Reads a record with changed members, of which null removes one.
  private static func record(_ kind: String, _ changes: String = "{}") throws -> NewsroomRecord {
    func object(_ text: String) throws -> [String: Any] {
      try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }
    let fields = try object(try #require(valid[kind])).merging(object(changes)) { $1 }.filter { !($0.value is NSNull) }
    return try NewsroomRecord(line: JSONSerialization.data(withJSONObject: [kind: fields]))
  }

  private static func list(_ element: String, _ count: Int) -> String {
    "[" + Array(repeating: element, count: count).joined(separator: ", ") + "]"
  }

  @Test("is read if it follows the rules", arguments: valid.keys)
  func accepted(kind: String) throws {
    _ = try Self.record(kind)
  }

  @Test(
    "is refused with its field if it breaks a rule",
    arguments: [
      ("topic", #"{"titles": {"-": "x"}}"#, "titles"), ("topic", #"{"slug": "A b"}"#, "slug"),
      ("media", #"{"bytes": 0}"#, "bytes"), ("media", #"{"width": 0}"#, "width"),
      ("media", #"{"height": 2147483648}"#, "height"), ("media", #"{"type": "png"}"#, "type"),
      ("media", #"{"type": "text/html"}"#, "type"),
      ("media", #"{"sha256": "0a0a"}"#, "sha256"), ("topic", #"{"titles": {"en": " "}}"#, "titles"),
      ("topic", #"{"titles": {"en": "\#(String(repeating: "x", count: 257))"}}"#, "titles"),
      ("topic", #"{"revision": 0}"#, "revision"), ("withdrawnMedia", #"{"reason": "legal"}"#, "reason"),
      ("subscription", #"{"url": "ftp://feeds.example/"}"#, "url"), ("subscription", #"{"topics": ["A b"]}"#, "topics"),
      ("subscription", #"{"language": "?"}"#, "language"), ("subscription", #"{"revision": 0}"#, "revision"),
      ("subscription", #"{"state": "review"}"#, "state"),
      ("subscription", #"{"url": "https://example.org:70000/feed"}"#, "url"),
      ("history", #"{"revision": 0}"#, "revision"), ("item", #"{"revision": 0}"#, "revision"),
      ("item", #"{"language": "?"}"#, "language"), ("item", #"{"text": null}"#, "text"),
      ("item", #"{"state": "scheduled"}"#, "publishAt"),
      ("item", #"{"source": "a", "guid": "b\u0000", "sourceDigest": "\#(digest)"}"#, "guid"),
      ("item", #"{"attachments": [{"url": "https://example.org/a", "type": "?"}]}"#, "attachments"),
      ("history", #"{"fields": ["text, title"]}"#, "fields"),
      ("history", #"{"replaced": {"title": "a\u0000"}}"#, "replaced"),
      ("item", #"{"state": "published", "dated": false}"#, "dated"),
      ("item", #"{"publishAt": "2026-02-01T00:00:00Z", "expireAt": "2026-02-01T00:00:00Z"}"#, "expireAt"),
      ("item", #"{"gone": "out-of-scope"}"#, "gone"),
      ("item", #"{"erased": "2026-01-02T00:00:00Z", "text": null}"#, "erased"),
      ("item", #"{"erased": "2026-01-02T00:00:00Z", "state": "retracted"}"#, "erased"),
      ("item", #"{"erased": "2026-01-02T00:00:00Z", "state": "retracted", "text": null, "title": "x"}"#, "erased"),
      ("item", #"{"erased": "2026-01-02T00:00:00Z", "state": "retracted", "text": null, "summary": "x"}"#, "erased"),
      ("item", #"{"erased": "2026-01-02T00:00:00Z", "state": "retracted", "text": null, "html": "x"}"#, "erased"),
      ("item", #"{"erased": "2026-01-02T00:00:00Z", "state": "retracted", "text": null, "author": "x"}"#, "erased"),
      (
        "item",
        #"{"erased": "2026-01-02T00:00:00Z", "state": "retracted", "text": null, "url": "https://example.org/"}"#,
        "erased"
      ),
      (
        "item",
        """
        {"erased": "2026-01-02T00:00:00Z", "state": "retracted", "text": null,
         "attachments": [{"url": "https://example.org/a", "type": "image/png"}]}
        """, "erased"
      ),
      ("item", #"{"source": "a"}"#, "source"), ("item", #"{"source": "a", "sourceDigest": "\#(digest)"}"#, "source"),
      ("item", #"{"source": "a\u0000", "guid": "b", "sourceDigest": "\#(digest)"}"#, "source"),
      ("item", #"{"source": "a", "guid": "b", "sourceDigest": "0a"}"#, "sourceDigest"),
      ("item", #"{"source": "a", "guid": "b", "sourceDigest": "\#(digest)-"}"#, "sourceDigest"),
      ("media", #"{"sha256": "\#(digest)-"}"#, "sha256"),
      ("item", #"{"title": "\#(String(repeating: "é", count: 513))"}"#, "title"),
      ("item", #"{"author": " \u00a0"}"#, "author"), ("item", #"{"url": "javascript:alert(1)"}"#, "url"),
      ("item", #"{"topics": ["A b"]}"#, "topics"), ("item", #"{"topics": \#(list(#""a""#, 17))}"#, "topics"),
      (
        "item", #"{"attachments": \#(list(#"{"url": "https://example.org/a", "type": "image/png"}"#, 33))}"#,
        "attachments"
      ),
    ] as [(String, String, String)])
  func refused(kind: String, changes: String, field: String) {
    let error = #expect(throws: InvalidRecord.self) { try Self.record(kind, changes) }
    #expect(error?.description.hasPrefix("the field \"\(kind).\(field)\" ") == true, "\(error?.description ?? "")")
  }

  private static let limits: [(kind: String, field: String, bytes: Int)] = [
    ("item", "title", 1024), ("item", "summary", 16_384), ("item", "text", 262_144), ("item", "html", 524_288),
    ("item", "author", 256), ("item", "retractionReason", 512), ("media", "name", 255), ("subscription", "title", 1024),
    ("history", "editor", 1024),
  ]

  @Test("has texts of at most as many bytes as written ones", arguments: limits)
  func longest(kind: String, field: String, bytes: Int) throws {
    func changes(_ count: Int) -> String { #"{"\#(field)": "\#(String(repeating: "x", count: count))"}"# }
    _ = try Self.record(kind, changes(bytes))
    let error = #expect(throws: InvalidRecord.self) { try Self.record(kind, changes(bytes + 1)) }
    #expect(error?.description.hasPrefix("the field \"\(kind).\(field)\" ") == true)
  }

  @Test("of a subscription keeps what editors have chosen")
  func subscription() throws {
    let changes = #"{"url": "HTTPS://Feeds.Example:443/", "title": "Port", "topics": ["b", "a"], "language": "de"}"#
    guard case .subscription(let subscription) = try Self.record("subscription", changes) else {
      throw UnexpectedRecord()
    }
    let content = subscription.content
    #expect(content.url == "https://feeds.example/" && content.title == "Port" && content.topics == ["a", "b"])
    #expect(content.state == .draft && content.language == "de" && content.paused && subscription.revision == 1)
  }

  @Test("of a file keeps its size, its name and its time")
  func media() throws {
    guard case .media(let file) = try Self.record("media") else { throw UnexpectedRecord() }
    #expect(file.type == "image/png" && file.bytes == 1 && file.name == "a.png")
    #expect([file.width, file.height] == [1, 2_147_483_647])
    #expect(file.created == Date(timeIntervalSince1970: 1_767_225_600))
  }

  @Test("of an item is as large as the rules allow, and has no scripts")
  func item() throws {
    let attachment = #"{"url": "https://example.org/a", "type": "image/png"}"#
    let changes = """
      {"title": "\(String(repeating: "é", count: 512))", "topics": \(Self.list(#""a""#, 16)),
       "attachments": \(Self.list(attachment, 32)), "html": "<p>x</p><script>alert(1)</script>"}
      """
    guard case .item(let item) = try Self.record("item", changes) else { throw UnexpectedRecord() }
    #expect(item.content.html == "<p>x</p>")
    #expect(item.content.topics == ["a"])
    #expect(item.content.attachments.count == 32)
    guard case .item(let scripted) = try Self.record("item", #"{"html": "<script>alert(1)</script>"}"#) else {
      throw UnexpectedRecord()
    }
    #expect(scripted.content.html == nil)
  }

  @Test("of an erased item keeps the name of its source, which is all that is left of its origin")
  func erased() throws {
    let changes = """
      {"erased": "2026-01-02T00:00:00Z", "state": "expired", "gone": "expired", "text": null, "source": "rss:a"}
      """
    guard case .item(let item) = try Self.record("item", changes) else { throw UnexpectedRecord() }
    #expect(item.source == "rss:a" && item.guid == nil && item.digest == nil && item.content.text.isEmpty)
    #expect(item.goneReason == .expired && item.erased != nil)
  }

  @Test("of a topic has titles of at most 256 bytes")
  func topic() throws {
    let title = String(repeating: "x", count: 256)
    guard case .topic(let slug, let content, _) = try Self.record("topic", #"{"titles": {"en": "\#(title)"}}"#) else {
      throw UnexpectedRecord()
    }
    #expect(slug == "sport" && content.titles == ["en": title] && content.position == 1)
  }

  @Test("that is malformed is refused with the field that is missing, or as a whole")
  func malformed() {
    let missing = #expect(throws: InvalidRecord.self) { try Self.record("item", #"{"breaking": null}"#) }
    #expect(missing?.description == "the field \"item.breaking\" is missing or cannot be read")
    let cut = #expect(throws: InvalidRecord.self) { try NewsroomRecord(line: Data(#"{"item": {"#.utf8)) }
    #expect(cut?.description == "is not valid JSON")
    let empty = #expect(throws: InvalidRecord.self) { try NewsroomRecord(line: Data("{}".utf8)) }
    #expect(empty?.description == "the field \"newsroom\" is missing, as is every other record")
  }

  private struct UnexpectedRecord: Error {}
}
