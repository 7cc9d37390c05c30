package import Foundation
package import HTTPEdge
package import HTTPTypes
import Hummingbird
package import News
package import NewsStore
import OutgoingHTTP

/// The writes of editors. The handlers of `/v1/editorial` and the console share them, so that both have the same rules
/// and errors. Reads, which have no rules besides the access of the reader, go to the store.
///
///     let (item, _) = try await editorial.create(["text": .string("The ferry is back.")], context)
package struct EditorialAPI: Sendable {
  package let store: NewsStore
  /// The library of media files; nil if the server keeps none.
  let library: MediaLibrary?
  /// The maximum size of a file, in bytes.
  package let maximumMediaBytes: Int
  /// The prefix of the addresses of files; nil for addresses without a prefix.
  let publicURL: String?
  /// The rule for the addresses that the server sends requests to.
  let addressPolicy: AddressPolicy
  /// The limits of the unfinished uploads of a key.
  let uploadLimits: MediaUploadLimits

  /// Whether the server stores files.
  package var keepsFiles: Bool { library != nil }
}

extension EditorialAPI {
  /// Creates an item.
  ///
  /// - Parameters:
  ///   - fields: The members of a JSON object, as in the body of `POST /v1/editorial/items`.
  ///   - context: The request, whose key is the author.
  /// - Returns: The item, and whether this call has created it.
  /// - Throws: `ProblemError`, `StoreError`, `AnsweredBefore`.
  package func create(
    _ fields: [String: JSONValue], _ context: APIContext
  ) async throws -> (item: EditorialItem, created: Bool) {
    let body = try await itemBody(fields, context)
    try Self.requireAlertRights(body.requestsAlert, context)
    let id = body.id ?? .version7(at: Date())
    context.record.setSubject("item", id.uuidString.lowercased())
    return try await ProblemError.refusingUnknownTopics {
      try await store.create(
        id, isNewID: body.id == nil, body.content, StateChange(state: body.state, access: context.access),
        by: context.editor, requestsAlert: body.requestsAlert,
        once: context.once { EditorialItemHandlers.answer($0.item, created: $0.created) })
    }
  }

  /// Writes an item in full.
  ///
  /// - Parameters:
  ///   - fields: The members of a JSON object, as in the body of `PUT /v1/editorial/items/{id}`.
  ///   - headers: The header fields with further preconditions.
  /// - Returns: The item, and whether this call has created it.
  /// - Throws: `ProblemError`, `StoreError`.
  package func replace(
    _ id: UUID, _ fields: [String: JSONValue], headers: HTTPFields = [:], _ context: APIContext
  ) async throws -> (item: EditorialItem, created: Bool) {
    let body = try await itemBody(fields, context)
    guard body.id == nil || body.id == id else { throw ProblemError.foreignID }
    try Self.requireAlertRights(body.requestsAlert, context)
    let precondition = try WritePrecondition(headers, revision: body.revision)
    return try await ProblemError.refusingUnknownTopics {
      try await store.write(
        id, bytes: body.content.approximateBytes, if: precondition,
        StateChange(state: body.state, access: context.access), by: context.editor, requestsAlert: body.requestsAlert
      ) { _ in body.content }
    }
  }

  /// Changes some fields of an item.
  ///
  /// - Parameters:
  ///   - patch: The members of a JSON Merge Patch, as in the body of `PATCH /v1/editorial/items/{id}`. null removes a
  ///     field. `revision` is the precondition.
  ///   - headers: The header fields with further preconditions.
  /// - Throws: `ProblemError`, `StoreError`.
  package func modify(
    _ id: UUID, _ patch: [String: JSONValue], headers: HTTPFields = [:], _ context: APIContext
  ) async throws -> EditorialItem {
    let read = try await context.compute { try ItemPatch(patch, of: id, access: context.access) }
    try Self.requireAlertRights(read.requestsAlert, context)
    let precondition = try WritePrecondition(headers, revision: read.revision)
    return try await ProblemError.refusingUnknownTopics {
      try await store.write(
        id, if: precondition, read.change, by: context.editor, requestsAlert: read.requestsAlert, read.content
      ).item
    }
  }

  /// Refuses a write that requests an alert with a key that may not.
  ///
  /// - Throws: `ProblemError`, 403.
  static func requireAlertRights(_ requestsAlert: Bool, _ context: APIContext) throws {
    guard !requestsAlert || context.record.key?.allows(.pushSend) ?? false else {
      throw ProblemError.forbidden(.pushSend)
    }
  }

  /// Retracts an item for good.
  ///
  /// - Throws: `StoreError`.
  package func retract(
    _ id: UUID, reason: String?, if precondition: WritePrecondition, _ context: APIContext
  ) async throws {
    try await store.retract(id, reason: reason, if: precondition, access: context.access, by: context.editor)
  }

  /// Erases the texts and files of a retracted item.
  ///
  /// - Throws: `ProblemError`, 403, for a key that may not publish; `StoreError`, `AnsweredBefore`.
  package func erase(
    _ id: UUID, reason: String?, if precondition: WritePrecondition, _ context: APIContext
  ) async throws {
    guard context.access.mayPublish else { throw ProblemError.forbidden(.itemsPublish) }
    let digests = try await store.erase(
      id, reason: reason, if: precondition, access: context.access, by: context.editor,
      once: context.once { _ in .noContent })
    await library?.removeContents(digests, logger: context.logger)
  }

  /// Restores the content of an earlier revision, which is a write like any other.
  ///
  /// - Throws: `ProblemError`, `StoreError`, `AnsweredBefore`.
  package func restore(
    _ id: UUID, to revision: Int, if precondition: WritePrecondition, _ context: APIContext
  ) async throws -> EditorialItem {
    try await store.requireUnanswered(context.repeatableRequest)
    let restored = try await store.restoration(of: id, to: revision, for: context.access)
    let change = StateChange(keepsState: true, access: context.access)
    return try await ProblemError.refusingUnknownTopics {
      try await store.write(
        id, if: precondition, change, by: context.editor, once: context.once { EditorialItemHandlers.answer($0.item) }
      ) { existing in
        guard let existing else { throw StoreError.notFound }
        return try restored(existing)
      }.item
    }
  }

  /// Checks the explanation of a retraction.
  ///
  /// - Returns: nil for a blank text.
  /// - Throws: `ProblemError`, 422, which names the field `reason`.
  package static func reason(_ text: String) throws -> String? {
    if text.allSatisfy(\.isWhitespace) { return nil }
    var reader = FieldReader(["reason": .string(text)])
    let reason = reader.text("reason", maximumBytes: maximumReasonBytes)
    guard reader.errors.isEmpty else { throw ProblemError.invalidFields(reader.errors.list) }
    return reason
  }

  /// The maximum size of the explanation of a retraction, in bytes of UTF-8.
  static let maximumReasonBytes = 512

  private func itemBody(_ fields: [String: JSONValue], _ context: APIContext) async throws -> ItemBody {
    try await context.compute { try ItemBody(sanitizing: fields) }
  }
}

extension EditorialAPI {
  /// Returns the item that a creation would make, without writing it.
  ///
  /// - Parameters:
  ///   - fields: The members of a JSON object, as in the body of `POST /v1/editorial/items`.
  ///   - now: The date of an item without one.
  /// - Throws: `ProblemError`, 422, which names the invalid fields; `StoreError.unavailable`.
  package func preview(_ fields: [String: JSONValue], at now: Date, _ context: APIContext) async throws -> NewsItem {
    let body = try await itemBody(fields, context)
    let content = body.content
    return NewsItem(
      id: body.id ?? .version7(at: now), version: 1, date: content.date ?? content.publishAt ?? now,
      text: content.text, title: content.title, summary: content.summary, html: content.html, topics: content.topics,
      language: content.language, url: content.url, author: content.author, breaking: content.breaking,
      attachments: content.attachments, updated: now)
  }
}

extension UUID {
  /// Creates a UUIDv7 (RFC 9562 section 5.7) with 48 bits of milliseconds and 74 random bits. Ids of one process sort
  /// by the millisecond of their creation, which keeps the index of items dense.
  package static func version7(at date: Date) -> UUID {
    let milliseconds = UInt64(max(0, RFC3339.milliseconds(of: date)))
    var generator = SystemRandomNumberGenerator()
    let (a, b) = (generator.next(), generator.next())
    let high = milliseconds << 16 | 0x7000 | a & 0x0fff
    let low = b & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
    func byte(_ value: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: value >> (56 - 8 * index)) }
    return UUID(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), byte(high, 6),
        byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5),
        byte(low, 6), byte(low, 7)
      ))
  }
}
