import Foundation
import HTTPTypes
import News
import NewsStore

extension ProblemError {
  /// Creates the problem that a client receives for an error of the store.
  init(_ error: StoreError) {
    switch error {
    case .tokenExpired(let reason, let current): self = .tokenExpired(reason, current)
    case .notReachedYet: self = .notReachedYet
    case .unknownTopics(let slugs):
      self = .invalidParameters([FieldError(field: "topics", breaks: Self.rule(unknownTopics: slugs))])
    case .invalidFields(let errors): self = .invalidFields(errors)
    case .publishingNotAllowed: self = .forbidden(.itemsPublish)
    case .topicsNotAllowed(let slugs, let allowed):
      self = .topicNotAllowed(Self.consequence(ofOtherTopics: slugs), allowed: allowed)
    case .unknownMedia(let ids):
      self = .invalidFields([FieldError(field: "attachments", breaks: Self.rule(unknownMedia: ids))])
    case .mediaWithdrawn(let reason):
      self = ProblemError(.gone, "withdrawn", "The file is no longer available", detail: Self.detail(of: reason))
      problem.reason = reason.rawValue
      replacesStored = true
    case .mediaInUse(let items): self = .mediaInUse(by: items)
    case .topicInUse(let items): self = .topicInUse(by: items)
    case .notRetracted: self = .notRetracted
    case .notFound:
      self = .notFound
      replacesStored = true
    case .retracted(let reason, let detail):
      self = ProblemError(.gone, "retracted", "The item is no longer published", detail: detail)
      problem.reason = reason.rawValue
      replacesStored = true
    case .alreadyExists:
      self = ProblemError(
        .conflict, "conflict", "The id is already in use",
        detail: "A resource with this id exists and has other content. Use PUT to replace it.")
    case .requestInProgress: self = .requestInProgress
    case .idempotencyKeyReused: self = .idempotencyKeyReused
    case .answerErased: self = .answerErased
    case .revisionRemoved: self = .revisionRemoved
    case .alreadyFollowed(let id): self = .alreadyFollowed(by: id)
    case .subscriptionPaused: self = .subscriptionPaused
    case .webhookPaused: self = .webhookPaused
    case .webhookLimit(let limit): self = .webhookLimit(limit)
    case .batchTooLarge(let bytes): self = .batchTooLarge(bytes)
    case .uploadLimit: self = .uploadLimit
    case .preconditionFailed: self = .preconditionFailed
    case .preconditionRequired:
      self = ProblemError(
        .preconditionRequired, "precondition-required", "A precondition is required",
        detail:
          "Send the current revision in `If-Match` or in the field `revision`. `If-Match: *` accepts any revision; `If-None-Match: *` creates the resource."
      )
    case .outcomeUnknown: self = .outcomeUnknown
    case .searchTooBroad:
      self = ProblemError(
        .serviceUnavailable, "search-too-broad", "The search takes too long",
        detail: "Search for rarer words, or restrict the search by topics or dates.", headers: [.retryAfter: "5"])
    case .writesRefused(let obstacle): self = .writesRefused(obstacle)
    case .unavailable, .statementCancelled, .unsafeDurability: self = .unavailable
    }
  }

  private static let outcomeUnknown = ProblemError(
    .serviceUnavailable, "outcome-unknown", "It is unknown whether the write was committed",
    detail:
      "The connection to the database broke during the commit. Repeat the request with the same id or Idempotency-Key.",
    headers: [.retryAfter: "1"])

  private static let notRetracted = ProblemError(
    .conflict, "not-retracted", "The item is not retracted",
    detail: "Only a retracted item can be erased. Retract it first, with DELETE.")

  /// Runs the body, and changes the problems and store errors that it throws. Other errors are thrown unchanged.
  static func adjusting<Result>(
    _ change: (inout ProblemError) -> Void, in body: () async throws -> Result
  ) async throws -> Result {
    var problem: ProblemError
    do {
      return try await body()
    } catch let error as StoreError {
      problem = ProblemError(error)
    } catch let error as ProblemError {
      problem = error
    }
    change(&problem)
    throw problem
  }

  /// Unknown topics in a body. In a query, they are an error of the parameter.
  static func unknownTopicsField(_ slugs: [String]) -> ProblemError {
    .invalidFields([FieldError(field: "topics", breaks: rule(unknownTopics: slugs))])
  }

  /// Runs a write and reports unknown topics as an error of the field `topics`.
  static func refusingUnknownTopics<Result>(_ write: () async throws -> Result) async throws -> Result {
    do {
      return try await write()
    } catch StoreError.unknownTopics(let slugs) {
      throw unknownTopicsField(slugs)
    }
  }

  private static func detail(of reason: MediaWithdrawal) -> String {
    switch reason {
    case .retracted: "The item that used it was retracted."
    case .expired: "The item that used it has expired."
    case .removed: "It was removed."
    }
  }

  private static func alreadyFollowed(by id: UUID) -> ProblemError {
    ProblemError(
      .conflict, "already-followed", "The feed is already followed",
      detail: "The subscription \(id.uuidString.lowercased()) has this address.")
  }

  private static let subscriptionPaused = ProblemError(
    .conflict, "subscription-paused", "The subscription is paused",
    detail: "Its feed is not polled. Resume it with PATCH and `paused` false, which polls it at once.")

  private static let webhookPaused = ProblemError(
    .conflict, "webhook-paused", "The webhook is paused",
    detail: "Nothing is sent to it. Resume it with PATCH and `paused` false.")

  private static func webhookLimit(_ limit: Int) -> ProblemError {
    ProblemError(
      .conflict, "webhook-limit", "There are too many webhooks",
      detail: "There may be \(limit). Delete one that is not needed any more.")
  }

  private static func batchTooLarge(_ bytes: Int) -> ProblemError {
    ProblemError(
      .contentTooLarge, "batch-too-large", "The items of the batch are too large",
      detail: """
        As they are stored, the items that a batch changes may have \(bytes) bytes together. Nothing was written. Divide \
        the batch.
        """)
  }

  private static func mediaInUse(by items: [UUID]) -> ProblemError {
    ProblemError(
      .conflict, "media-in-use", "A published item uses the file",
      detail: """
        A file can be removed once no published item uses it. Retract these items or remove the file from them first: \
        \(items.map { $0.uuidString.lowercased() }.joined(separator: ", ")).
        """)
  }

  private static func topicInUse(by items: Int) -> ProblemError {
    ProblemError(
      .conflict, "topic-in-use", "Items have the topic",
      detail: """
        \(items == 1 ? "An item has" : "\(items) items have") the topic. Remove it from them first, or name a topic for \
        them in `mergeInto`.
        """)
  }

  private static func consequence(ofOtherTopics slugs: [String]) -> String {
    switch slugs.count {
    case 0: "The item has none of them."
    case 1: "The item has the topic \(slugs[0]), before or after the write."
    default: "The item has the topics \(slugs.joined(separator: ", ")), before or after the write."
    }
  }

  private static func rule(unknownMedia ids: [UUID]) -> FieldRule {
    .existingFiles(missing: ids.map(Attachment.path).sorted())
  }

  static func rule(unknownTopics slugs: [String]) -> FieldRule { .existingTopics(missing: slugs.sorted()) }

  private static func tokenExpired(_ reason: TokenExpiry, _ current: SyncToken) -> ProblemError {
    var error = ProblemError(
      .gone, "token-expired", "The token has expired",
      detail:
        "Replace the stored data with the snapshot (changes without `since`), or with the items read with `at` set to `token`."
    )
    error.problem.reason = reason.rawValue
    error.problem.token = current
    error.replacesStored = true
    return error
  }
}
