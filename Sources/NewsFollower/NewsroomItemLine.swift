import Foundation
import News
import NewsFeeds
import NewsStore
import SafeHTML

/// An item in the export of a newsroom, as it is written.
struct NewsroomItemLine: Decodable {
  var id: UUID
  var state: EditorialItem.State
  var revision: Int
  var created, edited, date: Date
  var dated: Bool?
  var publishAt, expireAt: Date?
  var title, summary, text, html: String?
  var topics: [String]
  var language, url, author: String?
  var breaking: Bool
  var attachments: [Attachment]
  var source, guid, sourceDigest: String?
  var retractionReason: String?
  var erased: Date?
  var gone: RemovalReason?

  /// The item, by the rules of written items.
  ///
  /// - Throws: `InvalidRecord`.
  var restored: RestoredItem {
    get throws {
      let rule = NewsroomRule(prefix: "item")
      try checkState(rule)
      var content = ItemContent(
        state: state, publishAt: publishAt, expireAt: expireAt, date: date, text: text ?? "",
        title: try rule.text(title, "title", maximumBytes: 1024),
        summary: try rule.text(summary, "summary", maximumBytes: 16_384),
        topics: try rule.topics(topics), language: try rule.language(language),
        url: try url.map { try rule.required(WebLink.normalised($0), "url") },
        author: try rule.text(author, "author", maximumBytes: 256), breaking: breaking)
      if erased == nil { content.text = try rule.required(rule.text(text, "text", maximumBytes: 262_144), "text") }
      if let html = try rule.text(html, "html", maximumBytes: 524_288) {
        let safe = SafeHTML(html, base: nil).html
        content.html = safe.isEmpty ? nil : safe
      }
      try rule.require(attachments.count <= 32, "attachments", "must have at most 32 elements")
      content.attachments = try attachments.map { try rule.attachment($0) }
      let isOwn = sourceDigest == nil
      try rule.require(
        (source == nil) == isOwn && (guid == nil) == isOwn || erased != nil, "source",
        "must be present together with guid and sourceDigest")
      try rule.require(
        sourceDigest.map(Attachment.isDigest) ?? true, "sourceDigest", "is missing or cannot be read")
      return RestoredItem(
        id: id, content: content, isDated: dated ?? true, revision: try rule.revision(revision), created: created,
        edited: edited, retractionReason: try rule.text(retractionReason, "retractionReason", maximumBytes: 512),
        erased: erased, goneReason: gone, source: try rule.plain(source, "source"), guid: try rule.plain(guid, "guid"),
        digest: sourceDigest)
    }
  }

  private func checkState(_ rule: NewsroomRule) throws {
    try rule.require(state != .scheduled || publishAt != nil, "publishAt", "is required for a scheduled item")
    try rule.require(state != .published || dated != false, "dated", "must not be false for a published item")
    if let publishAt, let expireAt { try rule.require(expireAt > publishAt, "expireAt", "must be after publishAt") }
    try rule.require(
      gone == nil || [.retracted, .expired].contains(gone), "gone", "must be retracted or expired")
    guard erased != nil else { return }
    try rule.require(state == .retracted || state == .expired, "erased", "requires a retracted or expired item")
    try rule.require(
      [title, summary, text, html, url, author].allSatisfy { $0 == nil } && attachments.isEmpty, "erased",
      "requires an item without texts")
  }
}

/// The rules of written texts, for the fields of a record.
struct NewsroomRule {
  /// The kind of the record.
  let prefix: String

  func require(_ condition: Bool, _ name: String, _ rule: String) throws {
    guard condition else { throw InvalidRecord("\(prefix).\(name)", rule) }
  }

  func required<Value>(_ value: Value?, _ name: String) throws -> Value {
    guard let value else { throw InvalidRecord("\(prefix).\(name)", "is missing or cannot be read") }
    return value
  }

  func text(_ text: String?, _ name: String, maximumBytes: Int) throws -> String? {
    guard let text else { return nil }
    try require(text.utf8.count <= maximumBytes, name, "must not exceed \(maximumBytes) bytes in UTF-8")
    try require(!text.allSatisfy(\.isWhitespace), name, "must not be blank")
    try require(!text.hasControlCharacters, name, "must not contain control characters")
    return text
  }

  /// A name that others have given.
  func plain(_ text: String?, _ name: String) throws -> String? {
    try require(text?.utf8.contains(0) != true, name, "must not contain NUL characters")
    return text
  }

  func revision(_ revision: Int) throws -> Int {
    try require(revision >= 1, "revision", "must be 1 or more")
    return revision
  }

  func topics(_ slugs: [String]) throws -> [String] {
    try require(
      slugs.count <= 16 && slugs.allSatisfy { TopicSlug.isValid($0) }, "topics",
      "must be at most 16 topics, each matching [a-z0-9-]{1,64}")
    return Scope(topics: slugs).topics
  }

  func language(_ tag: String?) throws -> String? {
    try require(tag.map { LanguageTag.isValid($0) } ?? true, "language", "must be a BCP 47 language tag")
    return tag
  }

  func attachment(_ attachment: Attachment) throws -> Attachment {
    do {
      return try ExportedLineReader.attachment(attachment)
    } catch {
      throw InvalidRecord("\(prefix).attachments", "breaks a rule: \(error)")
    }
  }
}
