package import Foundation
package import News
import PostgresClient

/// A write of one item, which is decided by the item's current state.
package struct ItemWrite: Sendable {
  /// The effect of a write on an item.
  package enum Decision: Sendable {
    /// Nothing: the item is as wanted.
    case unchanged
    case content(ItemContent)
    /// The item is retracted, with a reason for readers.
    case retraction(reason: String?)
  }

  package let id: UUID
  /// Whether the id was made for this write, so that no item has it before.
  let isNewID: Bool
  /// The approximate size of the new content in bytes.
  let bytes: Int
  /// The author, for the history; nil if unknown.
  let editor: Editor?
  /// Whether an alert is requested, which is made once the item is published. An item has one at most.
  package let requestsAlert: Bool
  /// Returns the decision about the locked item, or about nil if there is no item. It throws to refuse the write, and
  /// may be called more than once.
  let decide: @Sendable (EditorialItem?) throws -> Decision

  package init(
    id: UUID, isNewID: Bool = false, bytes: Int, by editor: Editor? = nil, requestsAlert: Bool = false,
    decide: @escaping @Sendable (EditorialItem?) throws -> Decision
  ) {
    self.id = id
    self.isNewID = isNewID
    self.bytes = bytes
    self.editor = editor
    self.requestsAlert = requestsAlert
    self.decide = decide
  }
}

/// An item after a write.
package struct WrittenItem: Sendable {
  package let item: EditorialItem
  package let created: Bool
}

extension Result<WrittenItem, any Error> {
  /// The approximate size of the written item in bytes; 0 for a refusal.
  package var writtenBytes: Int { (try? get()).map { ItemContent($0.item).approximateBytes } ?? 0 }
}

/// A decided write, as a row of the statement that writes all of a group.
struct DecidedWrite: Sendable {
  let id: UUID
  /// The item before the write; nil if it is created.
  let existing: EditorialItem?
  /// The new content; that of `existing` for a retraction.
  let content: ItemContent
  let isRetraction: Bool
  let retractionReason: String?
  let editor: Editor?
  let requestsAlert: Bool

  init(_ write: ItemWrite, _ existing: EditorialItem?, content: ItemContent) {
    (id, editor, requestsAlert) = (write.id, write.editor, write.requestsAlert)
    self.existing = existing
    self.content = content
    (isRetraction, retractionReason) = (false, existing?.retractionReason)
  }

  init(_ write: ItemWrite, retracting existing: EditorialItem, reason: String?) {
    (id, editor, requestsAlert) = (write.id, write.editor, false)
    (self.existing, content) = (existing, ItemContent(existing))
    (isRetraction, retractionReason) = (true, reason)
  }

  /// The files whose existence the write requires.
  var requiredFiles: [UUID] { isRetraction ? [] : content.attachments.compactMap(\.mediaID) }

  /// Whether an item has the content that the write gives it.
  func hasResult(_ item: EditorialItem) -> Bool {
    isRetraction
      ? item.state == .retracted && item.retractionReason == retractionReason
      : item.state == content.state && content.isEqual(toContentOf: item)
  }

  /// The last change of an item in the feed.
  struct Publication {
    let version: Int
    let date: Date
  }

  /// The values that the database has given a written item.
  struct Row {
    let revision: Int
    let date: Date
    let created: Date
    let written: Date

    init(_ row: PostgresRow) throws {
      revision = try row.decode("revision")
      date = try row.decode("date")
      created = try row.decode("created")
      written = try row.decode("written")
    }
  }

  /// The item after the write.
  ///
  /// - Parameter published: The last change; nil for an item that was never published.
  func result(_ row: Row, _ published: Publication?) -> WrittenItem {
    let item = NewsItem(
      id: id, version: published?.version ?? 0, date: row.date, text: content.text, title: content.title,
      summary: content.summary, html: content.html, topics: content.topics, language: content.language,
      url: content.url, author: content.author, breaking: content.breaking, attachments: content.attachments,
      updated: published?.date ?? row.created)
    return WrittenItem(
      item: EditorialItem(
        item: item, hasDate: content.hasDate, state: isRetraction ? .retracted : content.state,
        publishAt: content.publishAt, expireAt: content.expireAt, revision: row.revision,
        retractionReason: retractionReason, erased: existing?.erased, edited: row.written),
      created: existing == nil)
  }
}

/// The writes of editors, with their rules. `NewsStore.create`, `write` and `retract` describe the parameters.
extension ItemWrite {
  /// A creation. A repeat with the same content has no effect.
  ///
  /// - Parameter now: The time by the database's clock.
  package static func creation(
    of id: UUID, isNewID: Bool, _ content: ItemContent, _ change: StateChange, by editor: Editor?,
    requestsAlert: Bool = false, at now: Date
  ) -> ItemWrite {
    ItemWrite(
      id: id, isNewID: isNewID, bytes: content.approximateBytes, by: editor, requestsAlert: requestsAlert
    ) { existing in
      guard let existing else { return .content(try change.applied(to: content, replacing: nil, at: now)) }
      try change.access.check(content.topics)
      guard change.hasCreated(existing, with: content, at: now) else { throw StoreError.alreadyExists }
      return .unchanged
    }
  }

  /// A write whose content is computed from the current item.
  ///
  /// - Parameter now: The time by the database's clock.
  package static func change(
    of id: UUID, bytes: Int, if precondition: WritePrecondition, _ change: StateChange?, by editor: Editor?,
    requestsAlert: Bool = false, at now: Date,
    _ content: @escaping @Sendable (EditorialItem?) throws -> ItemContent
  ) -> ItemWrite {
    ItemWrite(id: id, bytes: bytes, by: editor, requestsAlert: requestsAlert) { existing in
      if let existing {
        // Before any other answer, which would describe an item that the author does not see.
        try change?.access.check(existing.item.topics)
        try refuseRetracted(existing)
      }
      try precondition.check(revision: existing?.revision)
      let wanted = try content(existing)
      let change = change ?? StateChange(state: wanted.state)
      let content = try change.applied(to: wanted, replacing: existing, at: now)
      if let existing, ItemContent(existing) == content { return .unchanged }
      return .content(content)
    }
  }

  /// A retraction for good.
  package static func retraction(
    of id: UUID, reason: String?, if precondition: WritePrecondition, access: ItemAccess, by editor: Editor?
  ) -> ItemWrite {
    ItemWrite(id: id, bytes: 1024, by: editor) { existing in
      guard let existing else { throw StoreError.notFound }
      try access.check(existing.item.topics)
      try refuseRetracted(existing)
      try StateChange(access: access).checkPermission(existing.state)
      try precondition.check(revision: existing.revision)
      return .retraction(reason: reason)
    }
  }

  private static func refuseRetracted(_ item: EditorialItem) throws {
    if item.state == .retracted { throw StoreError.retracted(reason: .retracted, detail: item.retractionReason) }
    // An expired item can be published again as long as it has its texts.
    if item.erased != nil { throw StoreError.retracted(reason: .expired, detail: item.retractionReason) }
  }
}
