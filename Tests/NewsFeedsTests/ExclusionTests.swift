import Foundation
import NewsFeeds
import Testing

@Suite("Records that are not public")
struct ExclusionTests {
  private func kinds(_ text: String) -> [String] {
    events(text).compactMap { if case .skipped(let problem) = $0 { problem.notPublic ?? "\(problem)" } else { nil } }
  }

  private func export(_ records: [String], namespace: String = "http://wordpress.org/export/1.2/") -> String {
    let items = records.enumerated().map { index, fields in
      """
      <item><guid>\(index)</guid><title>t</title><pubDate>Wed, 11 Nov 2026 11:00:00 +0000</pubDate>\
      <content:encoded><![CDATA[<p>x</p>]]></content:encoded>\(fields)</item>
      """
    }
    return """
      <rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:wp="\(namespace)"><channel>
      <link>https://example.org/</link><wp:wxr_version>1.2</wp:wxr_version>\(items.joined())</channel></rss>
      """
  }

  private static func record(_ status: String, _ type: String = "post", _ more: String = "") -> String {
    "<wp:status>\(status)</wp:status><wp:post_type><![CDATA[\(type)]]></wp:post_type>\(more)"
  }

  @Test(
    "are skipped in an export of WordPress of any version, by kind",
    arguments: [
      "http://wordpress.org/export/1.0/", "http://wordpress.org/export/1.2/", "https://wordpress.org/export/9/",
      "urn:x",
    ])
  func wordpress(namespace: String) {
    let password = "<wp:post_password>pw</wp:post_password>"
    let records = [
      Self.record("publish", "post", "<wp:post_password></wp:post_password>"), Self.record(" Publish "),
      Self.record("draft"), Self.record("private"), Self.record("publish", "post", password), Self.record("trash"),
      Self.record("pending"), Self.record("future"), Self.record("auto-draft"), Self.record("inherit", "attachment"),
      Self.record("publish", "page"), Self.record("publish", "nav_menu_item"),
      Self.record("wc-completed", "shop_order"),
      Self.record("inherit", "revision"), Self.record("publish", "flamingo_inbound"), Self.record("something-new"),
      "<wp:post_id>7</wp:post_id>", "<wp:post_type>post</wp:post_type>",
      Self.record("publish", "post", "<wp:post_password><![CDATA[ ]]></wp:post_password>"),
      "<wp:status>publish</wp:status>", "<wp:post_password></wp:post_password>",
    ]
    let text = export(records, namespace: namespace)
    #expect(events(text).entries.map(\.guid) == ["0", "1", "19"])
    #expect(
      kinds(text) == [
        "draft", "private", "password", "trash", "pending", "future", "auto-draft", "attachment", "page",
        "nav_menu_item", "shop_order", "revision", "flamingo_inbound", "something-new", "no status", "no status",
        "password", "no status",
      ])
    #expect(events(text).complaints.first == "skipped line 2: is not a public post (draft)")
    guard namespace != "urn:x" else { return }
    let renamed = text.replacing("wp:", with: "w:").replacing("xmlns:wp", with: "xmlns:w")
    #expect(events(renamed).entries.map(\.guid) == ["0", "1", "19"])
  }

  @Test("have kinds of at most 32 bytes")
  func longKinds() {
    let long = String(repeating: "x", count: 32)
    let found = kinds(export([long, long + "x"].map { Self.record("publish", $0) }))
    #expect(found.first == long && found.count == 2)
    #expect(found.last.map { $0.utf8.count <= 32 && $0.hasSuffix("\u{2026}") } == true, "\(found)")
  }

  @Test("are skipped without the declaration of the namespace")
  func undeclared() {
    let text = export([Self.record("draft"), Self.record("publish")]).replacing(
      #/ xmlns:wp="[^"]*"/#, with: "", maxReplacements: 1)
    #expect(events(text).entries.map(\.guid) == ["1"])
  }

  @Test("are the drafts of Atom (RFC 5023), with any namespace and value but `no`")
  func drafts() {
    func entry(_ id: Int, _ fields: String) -> String {
      "<entry><id>\(id)</id><title>t</title><updated>2026-01-01T00:00:00Z</updated>\(fields)</entry>"
    }
    let text = atom(
      entry(1, "<app:control><app:draft>yes</app:draft></app:control>")
        + entry(2, "<app:control><app:draft>no</app:draft></app:control>")
        + entry(3, "<p:control xmlns:p='http://purl.org/atom/app#'><p:draft>yes</p:draft></p:control>")
        + entry(4, "<app:control><app:draft/></app:control>") + entry(5, "") + entry(6, "<app:draft>yes</app:draft>")
        + entry(7, "<control><draft>yes</draft></control>")
        + entry(8, "<app:control xmlns:app='urn:x'><app:draft>yes</app:draft></app:control>"),
      attributes: "xmlns:app='http://www.w3.org/2007/app'")
    #expect(events(text).entries.map(\.guid) == ["2", "5"])
    #expect(kinds(text) == Array(repeating: "draft", count: 6))
  }

  @Test("are the comments, pages, settings and drafts of an export of Blogger")
  func blogger() {
    func entry(_ id: Int, kind: String, _ fields: String = "") -> String {
      """
      <entry><id>\(id)</id><title>t</title><updated>2026-01-01T00:00:00Z</updated>\
      <category scheme='http://schemas.google.com/g/2005#kind' term='http://schemas.google.com/blogger/2008/kind#\(kind)'/>\
      <category scheme='http://www.blogger.com/atom/ns#' term='News'/>\(fields)</entry>
      """
    }
    let draft = "<app:control><app:draft>yes</app:draft></app:control>"
    let old = atom(
      entry(1, kind: "post") + entry(2, kind: "comment") + entry(3, kind: "settings") + entry(4, kind: "page")
        + entry(5, kind: "template") + entry(6, kind: "post", draft),
      attributes: "xmlns:app='http://www.w3.org/2007/app'")
    #expect(events(old).entries.map(\.guid) == ["1"])
    #expect(events(old).entries.first?.categories.map(\.label) == ["News"])
    #expect(kinds(old) == ["comment", "settings", "page", "template", "draft"])
    func record(_ id: Int, _ type: String, _ status: String, trashed: String = "") -> String {
      """
      <entry><id>\(id)</id><title>t</title><updated>2026-01-01T00:00:00Z</updated><blogger:type>\(type)</blogger:type>\
      <blogger:status>\(status)</blogger:status><blogger:trashed>\(trashed)</blogger:trashed></entry>
      """
    }
    let new = atom(
      record(1, "POST", "LIVE") + record(2, "POST", "DRAFT") + record(3, "COMMENT", "LIVE")
        + record(4, "POST", "SOFT_TRASHED") + record(5, "POST", "LIVE", trashed: "2026-02-01T00:00:00Z"),
      attributes: "xmlns:blogger='http://schemas.google.com/blogger/2018'")
    #expect(events(new).entries.map(\.guid) == ["1"])
    #expect(kinds(new) == ["draft", "comment", "soft_trashed", "trash"])
    // A version with another URI must not publish a draft, either.
    let other = new.replacing("http://schemas.google.com/blogger/2018", with: "urn:x")
    #expect(events(other).entries.map(\.guid) == ["1"])
  }

  @Test("are not those of a kind of another service, such as videos")
  func otherKinds() {
    func entry(_ id: Int, term: String) -> String {
      """
      <entry><id>\(id)</id><title>t</title><updated>2026-01-01T00:00:00Z</updated>\
      <category scheme='http://schemas.google.com/g/2005#kind'\(term)/></entry>
      """
    }
    let service = "http://gdata.youtube.com/schemas/2007#"
    let feed = atom(
      entry(1, term: " term='\(service)video'") + entry(2, term: " term='\(service)comment'") + entry(3, term: "")
        + entry(4, term: " term='http://schemas.google.com/blogger/2008/kind#'"))
    #expect(events(feed).entries.map(\.guid) == ["1", "3"])
    #expect(kinds(feed).first == "comment" && kinds(feed).count == 2, "\(kinds(feed))")
    #expect(events(feed).entries.map(\.categories.count) == [0, 0])
  }

  private static let hidden: [(fields: String, kind: String)] = [
    (#""status":"draft""#, "draft"), (#""status":"Scheduled""#, "scheduled"), (#""visibility":"members""#, "members"),
    (#""visibility":"paid""#, "paid"), (#""status":"sent""#, "sent"), (#""email_only":true"#, "email only"),
    (#""draft":true"#, "draft"), (#""isDraft":"true""#, "draft"), (#""private":1"#, "private"),
    (#""published":false"#, "unpublished"), (#""is_public":0"#, "unpublished"), (#""type":"page""#, "page"),
    (#""post_type":"nav_menu_item""#, "nav_menu_item"), (#""post_status":"auto-draft""#, "auto-draft"),
    (#""status":"In review""#, "in review"),
    (#""password":"pw""#, "password"), (#""pubstatus":"withheld""#, "withheld"), (#""deleted":true"#, "deleted"),
  ]

  @Test("are those of JSON that say so, as posts of Ghost do", arguments: hidden)
  func json(fields: String, kind: String) {
    let line = #"{"guid":"1","text":"x","date":"2026-01-01",\#(fields)}"#
    #expect(kinds(line) == [kind])
    let feed = """
      {"version":"https://jsonfeed.org/version/1.1","items":[
      {"id":"1","content_text":"x","date_published":"2026-01-01",\(fields)}]}
      """
    #expect(kinds(feed) == [kind])
    #expect(events(line).entries.isEmpty && events(feed).entries.isEmpty)
  }

  @Test("are reported by the first of several fields in the order of their names")
  func severalFields() {
    let fields = #""visibility":"paid","status":"draft","access":"members","deleted":true"#
    #expect(kinds(#"{"guid":"1","text":"x","date":"2026-01-01",\#(fields)}"#) == ["members"])
  }

  @Test("are those of XML that say so in the same words, in any format", arguments: hidden)
  func xml(fields: String, kind: String) throws {
    let parts = fields.replacing("\"", with: "").split(separator: ":", maxSplits: 1).map { String($0) }
    let element = "<\(parts[0])>\(parts[1])</\(parts[0])>"
    let item = "<item><guid>1</guid><title>t</title><pubDate>2026-01-01</pubDate>\(element)</item>"
    let entry = "<entry><id>1</id><title>t</title><updated>2026-01-01</updated>\(element)</entry>"
    // The elements of Atom may have no namespace, or that of the feed.
    for text in [rss(item), atom(entry), "<feed><id>a</id>\(entry)</feed>"] { #expect(kinds(text) == [kind]) }
  }

  @Test(
    "are not those of XML with other words, or with words of other vocabularies",
    arguments: [
      "<status>published</status>", "<draft>no</draft>", "<draft/>", "<published>2026-01-01</published>",
      "<published>yes</published>", "<type>article</type>", "<post_password/>", "<visibility>public</visibility>",
      "<private>0</private>", "<x:status xmlns:x='urn:x'>draft</x:status>", "<state>Bavaria</state>",
      "<status><b>draft</b></status>", "<status>draft<b/></status>",
    ])
  func otherXML(element: String) {
    #expect(
      events(rss("<item><guid>1</guid><title>t</title><pubDate>2026-01-01</pubDate>\(element)</item>")).entries.count
        == 1)
  }

  @Test("are those with any word that systems have for what is not public, in any field that they have for it")
  func words() {
    func isExcluded(_ field: String) -> Bool {
      let line = #"{"guid":"1","text":"x","date":"2026-01-01",\#(field)}"#
      return events(line).entries.isEmpty && kinds(line).count == 1
    }
    let states = """
      archived auto-draft canceled cancelled deleted disabled draft embargoed expired future hidden inactive inherit
      in_review internal members members_only paid password pending private protected rejected retracted review
      scheduled sent soft_trashed spam subscribers tiers trash trashed unlisted unpublished withheld
      """
    for state in states.split(whereSeparator: \.isWhitespace) {
      #expect(isExcluded(#""status":"\#(state)""#), "\(state)")
    }
    for name in ["status", "state", "post_status", "pubStatus", "visibility", "access"] {
      #expect(isExcluded(#""\#(name)":"draft""#), "\(name)")
    }
    for type in ["attachment", "comment", "menu", "nav_menu_item", "page", "revision", "settings", "template"] {
      for name in ["type", "post_type", "kind"] { #expect(isExcluded(#""\#(name)":"\#(type)""#), "\(name) \(type)") }
    }
    for name in [
      "draft", "is_draft", "private", "isPrivate", "hidden", "is_hidden", "deleted", "is_deleted", "trashed",
      "is_trashed", "email_only", "unlisted", "is_protected",
    ] {
      #expect(isExcluded(#""\#(name)":true"#), "\(name)")
    }
    for name in ["published", "is_published", "public", "isPublic"] {
      #expect(isExcluded(#""\#(name)":false"#), "\(name)")
    }
    for name in ["password", "post_password"] { #expect(isExcluded(#""\#(name)":"pw""#), "\(name)") }
  }

  @Test(
    "are not those with other words in these fields",
    arguments: [
      #""status":"published""#, #""status":"breaking""#, #""visibility":"public""#, #""draft":false"#,
      #""published":"2026-01-01""#, #""published":true"#, #""type":"article""#, #""password":"""#, #""status":null"#,
      #""private":"no""#, #""live":false"#,
    ])
  func others(fields: String) {
    #expect(events(#"{"guid":"1","text":"x","date":"2026-01-01",\#(fields)}"#).entries.count == 1)
  }
}
