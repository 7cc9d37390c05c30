import Foundation
import HTTPTypes
import News
import NewsStore

extension ProblemError {
  /// Creates the problem that a client receives for an error of the store.
  init(_ error: StoreError) {
    switch error {
    case .tokenExpired(let reason, let current): self = .tokenExpired(reason, current)
    case .notReachedYet:
      self = ProblemError(
        .serviceUnavailable, "not-reached-yet", "The state that `at` names has not been reached here",
        headers: [.retryAfter: "1"])
    case .unknownTopics(let slugs):
      self = .invalidParameters([FieldError(field: "topics", rule: Self.rule(unknownTopics: slugs))])
    case .unknownMedia(let ids):
      self = .invalidFields([FieldError(field: "attachments", rule: Self.rule(unknownMedia: ids))])
    case .mediaWithdrawn(let reason):
      self = ProblemError(.gone, "withdrawn", "The file is no longer available", detail: Self.detail(of: reason))
      problem.reason = reason.rawValue
      replacesStored = true
    case .mediaInUse(let items):
      self = ProblemError(
        .conflict, "media-in-use", "A published item uses the file",
        detail: """
          A file can be removed once no published item uses it. Retract these items or remove the file from them first: \
          \(items.map { $0.uuidString.lowercased() }.joined(separator: ", ")).
          """)
    case .notRetracted:
      self = ProblemError(
        .conflict, "not-retracted", "The item is not retracted",
        detail: "Only a retracted item can be erased. Retract it first, with DELETE.")
    case .notFound:
      self = .notFound
      replacesStored = true
    case .retracted(let reason, let detail):
      self = ProblemError(.gone, "retracted", "The item is no longer published", detail: detail)
      problem.reason = reason.rawValue
      replacesStored = true
    case .alreadyExists:
      self = ProblemError(
        .conflict, "conflict", "The id is taken", detail: "There is something else with it; to overwrite it, use PUT.")
    case .preconditionFailed: self = .preconditionFailed
    case .preconditionRequired:
      self = ProblemError(
        .preconditionRequired, "precondition-required", "A precondition is required",
        detail:
          "Name the revision that the write is for, in `If-Match` or the field `revision`. `If-Match: *` accepts any; `If-None-Match: *` creates."
      )
    case .outcomeUnknown:
      self = ProblemError(
        .serviceUnavailable, "outcome-unknown", "The write may or may not have happened",
        detail: "The connection to the database broke during the commit. Trying again with the same id is safe.",
        headers: [.retryAfter: "1"])
    case .searchTooBroad:
      self = ProblemError(
        .serviceUnavailable, "search-too-broad", "The search takes too long",
        detail: "Look for rarer words, or narrow it by topics or dates.", headers: [.retryAfter: "5"])
    case .unavailable, .statementCancelled, .unsafeDurability: self = .unavailable
    }
  }

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

  private static func detail(of reason: MediaWithdrawal) -> String {
    switch reason {
    case .retracted: "The item that used it was retracted."
    case .expired: "The item that used it has expired."
    case .removed: "It was removed."
    }
  }

  private static func rule(unknownMedia ids: [UUID]) -> String {
    "must be files that are here; there is no \(ids.map(Attachment.path).sorted().joined(separator: ", "))"
  }

  static func rule(unknownTopics slugs: [String]) -> String {
    "must be topics that exist; there is no \(slugs.sorted().joined(separator: ", "))"
  }

  private static func tokenExpired(_ reason: TokenExpiry, _ current: SyncToken) -> ProblemError {
    var error = ProblemError(
      .gone, "token-expired", "The token is no longer good",
      detail:
        "Take the snapshot (changes without `since`), or the items from `at` this token, in place of what you have.")
    error.problem.reason = reason.rawValue
    error.problem.token = current
    error.replacesStored = true
    return error
  }
}
