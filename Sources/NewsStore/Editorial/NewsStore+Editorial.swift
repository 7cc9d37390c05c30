public import Foundation
public import News
import PostgresClient

extension NewsStore {
  /// Reads an item in any state.
  ///
  /// - Parameter access: The access of the reader.
  /// - Throws: `StoreError.notFound`, also for an item that the reader does not see.
  public func editorialItem(_ id: UUID, for access: ItemAccess = .full) async throws -> EditorialItem {
    let rows = try await database.query(
      "SELECT \(query: EditorialItem.columns) FROM \(query: EditorialItem.tables) WHERE i.id = \(id)")
    guard let item = try rows.first.map(EditorialItem.init(row:)), access.includes(item.item.topics) else {
      throw StoreError.notFound
    }
    return item
  }

  /// Creates an item. The call is idempotent: a repeat with the same content has no effect, so that a retry with the
  /// same id is safe after an unknown outcome.
  ///
  /// - Parameters:
  ///   - isNewID: Whether the id was made for this call, so that no item has it. This saves a round trip.
  ///   - change: What the write says about the state, in place of the state in `content`; nil to use that one.
  ///   - editor: The author, for the history.
  ///   - requestsAlert: Whether an alert is requested, which is made once the item is published. A repeat may request it too.
  ///   - once: The request, if it may be repeated.
  /// - Throws: `StoreError.alreadyExists` if the id is taken by other content; `invalidFields`; `topicsNotAllowed`;
  ///   `publishingNotAllowed`; `unknownTopics`; `unknownMedia`; `outcomeUnknown`; with `once` also `AnsweredBefore`,
  ///   `requestInProgress`, `idempotencyKeyReused`, `answerErased`.
  public func create(
    _ id: UUID, isNewID: Bool = false, _ content: ItemContent, _ change: StateChange? = nil, by editor: Editor? = nil,
    requestsAlert: Bool = false,
    once: RepeatableWrite<(item: EditorialItem, created: Bool)>? = nil
  ) async throws -> (item: EditorialItem, created: Bool) {
    let change = change ?? StateChange(state: content.state)
    return try await run(
      .creation(
        of: id, isNewID: isNewID, content, change, by: editor, requestsAlert: requestsAlert,
        at: try await databaseTime()), once)
  }

  /// Writes an item whose new content is computed from the current one. Equal content is not written.
  ///
  /// - Parameters:
  ///   - bytes: The approximate size of the new content in bytes.
  ///   - precondition: The condition on the current item. With `.absent` the item is created.
  ///   - change: What the write says about the state, in place of the state in the new content; nil to use that one.
  ///   - editor: The author, for the history.
  ///   - requestsAlert: Whether an alert is requested, which is made once the item is published. It also takes effect if the
  ///     content is equal.
  ///   - content: Returns the new content for the current item, or for nil if there is none. It may be called more than
  ///     once. If it throws, nothing is written.
  ///   - once: The request, if it may be repeated.
  /// - Throws: `StoreError.topicsNotAllowed`, `retracted`, `preconditionFailed`, `preconditionRequired`, `invalidFields`,
  ///   `publishingNotAllowed`, `unknownTopics`, `unknownMedia`, `outcomeUnknown`, and the errors of `content`; with `once`
  ///   also `AnsweredBefore`, `requestInProgress`, `idempotencyKeyReused`, `answerErased`.
  public func write(
    _ id: UUID, bytes: Int = 16_384, if precondition: WritePrecondition, _ change: StateChange? = nil,
    by editor: Editor? = nil, requestsAlert: Bool = false,
    once: RepeatableWrite<(item: EditorialItem, created: Bool)>? = nil,
    _ content: @escaping @Sendable (EditorialItem?) throws -> ItemContent
  ) async throws -> (item: EditorialItem, created: Bool) {
    try await run(
      .change(
        of: id, bytes: bytes, if: precondition, change, by: editor, requestsAlert: requestsAlert,
        at: try await databaseTime(), content), once)
  }

  /// Retracts an item for good. Its row is kept.
  ///
  /// - Parameters:
  ///   - reason: The editor's explanation, which readers receive at the item's address.
  ///   - precondition: The condition on the current item; `.exists` retracts any revision.
  ///   - access: The rights of the author, who needs `mayPublish` for more than drafts.
  ///   - editor: The author, for the history.
  /// - Throws: `StoreError.notFound`, `topicsNotAllowed`, `retracted`, `publishingNotAllowed`, `preconditionFailed`,
  ///   `preconditionRequired`, `outcomeUnknown`.
  public func retract(
    _ id: UUID, reason: String?, if precondition: WritePrecondition, access: ItemAccess = .full,
    by editor: Editor? = nil
  ) async throws {
    _ = try await run(.retraction(of: id, reason: reason, if: precondition, access: access, by: editor))
  }

  /// Runs a write in a group, and waits until this process responds from its result. A write with a request that may be
  /// repeated has a group of its own.
  private func run(
    _ write: ItemWrite, _ once: RepeatableWrite<(item: EditorialItem, created: Bool)>? = nil
  ) async throws -> (item: EditorialItem, created: Bool) {
    let written = try await DatabaseTime.measuring {
      guard let once else { return try await itemWrites.run(write, id: write.id, bytes: write.bytes) }
      let group = RepeatableWrite<[WriteGroup.Outcome]>(once.request) { outcomes in
        guard case let outcome?? = outcomes.first else { throw StoreFault("a write has no outcome") }
        let written = try outcome.get()
        return try once.answer((written.item, written.created))
      }
      guard case let outcome?? = try await writeOnce([write], isAtomic: false, group).first else {
        throw StoreError.unavailable
      }
      return try outcome.get()
    }
    try await waitForState(written.item.item.version)
    return (written.item, written.created)
  }
}
