import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import Logging
import News
import NewsStore

/// The handler of `POST /v1/editorial/items/batch`: writes of up to 1,000 items in one transaction.
extension EditorialItemHandlers {
  @Sendable func batch(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let fields = try await JSONBody.object(of: request, context: context, largest: largestBatchBytes, kind: .batch)
    return try await batches.run { try await batch(fields, context) }
  }

  private func batch(_ fields: [String: JSONValue], _ context: APIContext) async throws -> Response {
    let body = try await context.compute(.batch) { try BatchBody(fields) }
    let now = try await store.databaseTime()
    let prepared = try await ComputePool.shared.slices(
      .batch, for: context.computingOwner, bytes: context.record.bodyBytes, body.entries
    ) { entry in Result { try write(for: entry, at: now, context) } }
    var results: [BatchResult?] = []
    var writes: [(index: Int, write: ItemWrite)] = []
    for (index, write) in prepared.enumerated() {
      switch write {
      case .success(let write):
        writes.append((index, write))
        results.append(nil)
      case .failure(let error): results.append(Self.refusal(of: body.entries[index], error, context))
      }
    }
    let answer = {
      @Sendable [results, writes] (outcomes: [Result<WrittenItem, any Error>?]) throws -> EditorialAnswer in
      var results = results
      for ((index, write), outcome) in zip(writes, outcomes) {
        results[index] = outcome.map { Self.result(of: body.entries[index], write.id, $0, context) }
      }
      return try Self.answer(
        zip(body.entries, results).map { entry, result in
          result ?? BatchResult(status: 424, id: entry.id, problem: ProblemError.otherEntryRefused.problem)
        }, isAtomic: body.isAtomic)
    }
    guard !body.isAtomic || results.allSatisfy({ $0 == nil }) else {
      return try await context.compute(.batch) { try answer([]) }.response
    }
    let outcomes = try await store.writeBatch(
      writes.map(\.write), isAtomic: body.isAtomic, storedBytes: largestStoredBatchBytes, once: context.once(answer))
    // A small body may change large items, all of which are in the answer.
    let bytes = outcomes.reduce(context.record.bodyBytes ?? 0) { $0 + ($1?.writtenBytes ?? 0) }
    return try await context.compute(.batch, bytes: bytes) { try answer(outcomes) }.response
  }

  /// Returns the write of an entry.
  ///
  /// - Throws: `ProblemError` if a field of its item is invalid.
  private func write(for entry: BatchBody.Entry, at now: Date, _ context: APIContext) throws -> ItemWrite {
    let editor = context.editor
    switch (entry.operation, entry.id) {
    case (.create, let id):
      let body = try itemBody(entry.fields, id: id, context)
      let change = StateChange(state: body.state, access: context.access)
      return .creation(
        of: id ?? .version7(at: Date()), isNewID: id == nil, body.content, change, by: editor,
        requestsAlert: body.requestsAlert, at: now)
    case (.replace, let id?):
      let body = try itemBody(entry.fields, id: id, context)
      let precondition = try Self.precondition(entry.revision, body.revision)
      let change = StateChange(state: body.state, access: context.access)
      return .change(
        of: id, bytes: body.content.approximateBytes, if: precondition, change, by: editor,
        requestsAlert: body.requestsAlert, at: now
      ) { _ in body.content }
    case (.modify, let id?):
      let patch = try ItemPatch(entry.fields, of: id, access: context.access)
      try EditorialAPI.requireAlertRights(patch.requestsAlert, context)
      let precondition = try Self.precondition(entry.revision, patch.revision)
      return .change(
        of: id, bytes: ItemPatch.approximateBytes, if: precondition, patch.change, by: editor,
        requestsAlert: patch.requestsAlert, at: now, patch.content)
    case (.retract, let id?):
      return .retraction(
        of: id, reason: entry.reason, if: try Self.precondition(entry.revision, nil), access: context.access,
        by: editor)
    case (_, nil): throw ProblemError.internal
    }
  }

  private func itemBody(
    _ fields: [String: JSONValue], id: UUID?, _ context: APIContext
  ) throws -> ItemBody {
    let body = try ItemBody(sanitizing: fields)
    try EditorialAPI.requireAlertRights(body.requestsAlert, context)
    guard body.id == nil || body.id == id else { throw ProblemError.foreignID }
    return body
  }

  /// The precondition of the revisions in an entry and in its item. If they differ, it fails.
  private static func precondition(_ revision: Int?, _ inner: Int?) throws -> WritePrecondition {
    guard let revision = revision ?? inner else { return .none }
    guard inner == nil || inner == revision else { throw ProblemError.preconditionFailed }
    return .revisions([revision])
  }

  private static func result(
    of entry: BatchBody.Entry, _ id: UUID, _ outcome: Result<WrittenItem, any Error>, _ context: APIContext
  ) -> BatchResult {
    do {
      let written = try outcome.get()
      if entry.operation == .retract { return BatchResult(status: 204, id: id) }
      return BatchResult(status: written.created ? 201 : 200, id: id, item: written.item)
    } catch {
      return refusal(of: entry, error, context)
    }
  }

  private static func refusal(of entry: BatchBody.Entry, _ error: any Error, _ context: APIContext) -> BatchResult {
    let problem: ProblemError
    if case StoreError.unknownTopics(let slugs) = error {
      problem = .unknownTopicsField(slugs)
    } else if let expected = ProblemError(expected: error) {
      problem = expected
    } else {
      context.logger.error("an entry of a batch failed", metadata: ["error": "\(String(reflecting: error))"])
      problem = .internal
    }
    return BatchResult(status: problem.problem.status, id: entry.id, problem: problem.problem)
  }

  private static func answer(_ results: [BatchResult], isAtomic: Bool) throws -> EditorialAnswer {
    let applied = results.count { $0.status < 300 }
    guard !isAtomic || applied == results.count else {
      var error = ProblemError(
        .unprocessableContent, "batch-refused", "An entry of the atomic batch was refused",
        detail: "Nothing was written. \(results.count { $0.status != 424 }) of \(results.count) entries were refused.")
      error.problem.results = results
      throw error
    }
    let body = try NewsJSON.encode(BatchResultList(applied: applied, results: results))
    return .json(content: .batch) { $0.write(json: body) }
  }
}

extension ProblemError {
  static let foreignID = ProblemError.invalidFields([
    FieldError(field: "id", rule: "must equal the id in the path or in the entry")
  ])

  /// The status 424, Failed Dependency (RFC 4918 section 11.4).
  fileprivate static let otherEntryRefused = ProblemError(
    .init(code: 424), "failed-dependency", "Another entry of the batch was refused")
}
