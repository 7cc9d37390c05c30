package import Foundation
package import HTTPEdge
package import HTTPTypes
package import News
package import NewsStore
import OutgoingHTTP

extension EditorialAPI {
  /// Creates a webhook, which receives the events from then on.
  ///
  /// The answer that is stored for repetitions has no secret, so that no copy of the secret remains besides the one
  /// that signs.
  ///
  /// - Parameter fields: The members of a JSON object, as in the body of `POST /v1/editorial/webhooks`.
  /// - Returns: The webhook with its secret, which cannot be read again.
  /// - Throws: `ProblemError`, `StoreError`, `AnsweredBefore`.
  package func createWebhook(_ fields: [String: JSONValue], _ context: APIContext) async throws -> Webhook {
    try Self.requireAdministrator(context)
    let content = try WebhookBody(fields).content
    try requireReachable(content.url)
    let id = UUID.version7(at: Date())
    context.record.setSubject("webhook", id.uuidString.lowercased())
    let secret = WebhookSecret.random()
    return try await revealing(secret, of: id) {
      try await ProblemError.refusingUnknownTopics {
        try await store.createWebhook(
          id, content, secret: secret, once: context.once { try WebhookHandlers.creation(of: $0) })
      }
    }
  }

  /// Changes some properties of a webhook.
  ///
  /// - Parameters:
  ///   - patch: The members of a JSON Merge Patch, as in the body of `PATCH /v1/editorial/webhooks/{id}`. null removes
  ///     a property. `revision` is the precondition.
  ///   - headers: The header fields with further preconditions.
  /// - Throws: `ProblemError`, `StoreError`.
  package func modifyWebhook(
    _ id: UUID, _ patch: [String: JSONValue], headers: HTTPFields = [:], _ context: APIContext
  ) async throws -> Webhook {
    try Self.requireAdministrator(context)
    let precondition = try WritePrecondition(headers, of: patch)
    return try await ProblemError.refusingUnknownTopics {
      try await store.modifyWebhook(id, if: precondition) { webhook in
        var current = webhook
        // A webhook whose topics were all deleted keeps none of them. No request may ask for that.
        let keepsNoTopics = webhook.topics == [] && patch["topics"] == nil
        if keepsNoTopics { current.topics = nil }
        var content = try WebhookBody(try JSONValue.members(of: current, patchedWith: patch)).content
        if keepsNoTopics { content.topics = [] }
        // An address from before a change of settings hinders no other change.
        if content.url != webhook.url { try requireReachable(content.url) }
        return content
      }
    }
  }

  /// Deletes a webhook with its log.
  ///
  /// - Throws: `ProblemError`, 403; `StoreError`.
  package func removeWebhook(_ id: UUID, if precondition: WritePrecondition, _ context: APIContext) async throws {
    try Self.requireAdministrator(context)
    try await store.removeWebhook(id, if: precondition)
  }

  /// Replaces the secret of a webhook. The present one signs too for 24 hours.
  ///
  /// - Returns: The webhook with its new secret, which cannot be read again.
  /// - Throws: `ProblemError`, 403; `StoreError`, `AnsweredBefore`.
  package func rotateWebhook(_ id: UUID, _ context: APIContext) async throws -> Webhook {
    try Self.requireAdministrator(context)
    let secret = WebhookSecret.random()
    return try await revealing(secret, of: id) {
      try await store.rotateWebhook(id, to: secret, once: context.once { try WebhookHandlers.answer($0) })
    }
  }

  /// Sends the event `webhook.test`.
  ///
  /// - Throws: `ProblemError`, 403; `StoreError`, `AnsweredBefore`.
  package func testWebhook(_ id: UUID, _ context: APIContext) async throws -> WebhookDelivery {
    try Self.requireAdministrator(context)
    return try await store.testWebhook(id, once: context.once { try WebhookHandlers.acceptance(of: $0) })
  }

  /// Sends an event again.
  ///
  /// - Throws: `ProblemError`, 403; `StoreError`, `AnsweredBefore`.
  package func replayDelivery(
    _ delivery: UUID, of id: UUID, _ context: APIContext
  ) async throws -> WebhookDelivery {
    try Self.requireAdministrator(context)
    return try await store.replayDelivery(
      delivery, of: id, once: context.once { try WebhookHandlers.acceptance(of: $0) })
  }

  /// Adds a secret to the result of a write. This includes a write of this request whose outcome was unknown at first.
  private func revealing(
    _ secret: WebhookSecret, of id: UUID, _ write: () async throws -> Webhook
  ) async throws -> Webhook {
    var webhook: Webhook
    do {
      webhook = try await write()
    } catch let answered as AnsweredBefore where !answered.isRepetition {
      guard let own = try await store.webhook(id, withSecret: secret) else { throw answered }
      webhook = own
    }
    webhook.secret = secret.text
    return webhook
  }

  /// Refuses an address that the server never sends a request to. A name is checked when it is resolved, for each request.
  ///
  /// - Throws: `ProblemError`, 422.
  private func requireReachable(_ url: String) throws {
    do throws(OutgoingError) {
      try addressPolicy.check(try OutgoingURL(url))
    } catch {
      throw ProblemError.invalidFields([FieldError(field: "url", breaks: .allowedAddress(reason: "\(error)"))])
    }
  }
}
