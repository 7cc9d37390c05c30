package import Foundation
package import News

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
