package import Foundation
package import HTTPEdge
package import HTTPTypes
package import News
package import NewsStore

extension EditorialAPI {
  /// Checks the properties of a subscription, without writing it.
  ///
  /// - Parameter fields: The members of a JSON object, as in the body of `POST /v1/editorial/subscriptions`.
  /// - Throws: `ProblemError`, 422, which names the invalid fields.
  package static func subscriptionContent(_ fields: [String: JSONValue]) throws -> SubscriptionContent {
    try SubscriptionBody(fields).content
  }

  /// Creates a subscription, which is polled at once.
  ///
  /// - Parameter fields: The members of a JSON object, as in the body of `POST /v1/editorial/subscriptions`.
  /// - Throws: `ProblemError`, `StoreError`, `AnsweredBefore`.
  package func createSubscription(
    _ fields: [String: JSONValue], _ context: APIContext
  ) async throws -> Subscription {
    try Self.requireAdministrator(context)
    let content = try Self.subscriptionContent(fields)
    let id = UUID.version7(at: Date())
    context.record.setSubject("subscription", id.uuidString.lowercased())
    return try await ProblemError.refusingUnknownTopics {
      try await store.createSubscription(id, content, once: context.once { try SubscriptionHandlers.creation(of: $0) })
    }
  }

  /// Changes some properties of a subscription.
  ///
  /// - Parameters:
  ///   - patch: The members of a JSON Merge Patch, as in the body of `PATCH /v1/editorial/subscriptions/{id}`. null removes
  ///     a property. `revision` is the precondition.
  ///   - headers: The header fields with further preconditions.
  /// - Throws: `ProblemError`, `StoreError`.
  package func modifySubscription(
    _ id: UUID, _ patch: [String: JSONValue], headers: HTTPFields = [:], _ context: APIContext
  ) async throws -> Subscription {
    try Self.requireAdministrator(context)
    let precondition = try WritePrecondition(headers, of: patch)
    return try await ProblemError.refusingUnknownTopics {
      try await store.modifySubscription(id, if: precondition) { subscription in
        try Self.subscriptionContent(try JSONValue.members(of: subscription, patchedWith: patch))
      }
    }
  }

  /// Deletes a subscription. Its items stay.
  ///
  /// - Throws: `ProblemError`, 403; `StoreError`.
  package func removeSubscription(_ id: UUID, if precondition: WritePrecondition, _ context: APIContext) async throws {
    try Self.requireAdministrator(context)
    try await store.removeSubscription(id, if: precondition)
  }

  /// Makes a feed due now, or as soon as its server allows a request.
  ///
  /// - Throws: `ProblemError`, 403; `StoreError`, `AnsweredBefore`.
  package func requestPoll(_ id: UUID, _ context: APIContext) async throws -> Subscription {
    try Self.requireAdministrator(context)
    return try await store.requestPoll(id, once: context.once { try SubscriptionHandlers.pollRequest(of: $0) })
  }

  /// - Throws: `ProblemError`, 403, for a key without the scope.
  static func requireAdministrator(_ context: APIContext) throws {
    guard context.record.key?.allows(.admin) ?? false else { throw ProblemError.forbidden(.admin) }
  }
}
