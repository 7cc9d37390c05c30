import Foundation
import Hummingbird
import News
import NewsStore

/// The handlers of `/v1/editorial/webhooks`: the programs that the server notifies of changes.
struct WebhookHandlers: Sendable {
  let editorial: EditorialAPI

  private var store: NewsStore { editorial.store }

  @Sendable func list(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let list = WebhookList(webhooks: try await store.webhooks())
    return try .json { try $0.encode(list) }
  }

  @Sendable func webhook(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let webhook = try await store.webhook(try context.resourceID("webhook"))
    return try .locked(revision: webhook.revision, to: request) { try $0.encode(webhook) }
  }

  @Sendable func create(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let fields = try await JSONBody.object(of: request, context: context)
    return try Self.creation(of: await editorial.createWebhook(fields, context)).response
  }

  @Sendable func modify(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let id = try context.resourceID("webhook")
    let patch = try await JSONBody.object(
      of: request, context: context, types: ["application/merge-patch+json", "application/json"])
    return try Self.answer(await editorial.modifyWebhook(id, patch, headers: request.headers, context)).response
  }

  @Sendable func remove(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let precondition = try WritePrecondition(request.headers)
    try await editorial.removeWebhook(try context.resourceID("webhook"), if: precondition, context)
    return Response(status: .noContent)
  }

  @Sendable func rotate(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    return try Self.answer(await editorial.rotateWebhook(context.resourceID("webhook"), context)).response
  }

  @Sendable func deliveries(_ request: Request, context: APIContext) async throws -> Response {
    let id = try context.resourceID("webhook")
    var parameters = request.parameters(["limit", "cursor"])
    let limit = parameters.integer("limit", in: 1...200, default: 50)
    let cursor = PageCursor(filters: ["webhook", id.uuidString])
    let position = parameters.cursor(cursor)
    try parameters.check()
    let page = try await store.webhookDeliveries(of: id, after: position, limit: limit)
    var headers = HTTPFields()
    headers[.link] = page.next.map { request.link(toPage: cursor.text($0)) }
    let list = WebhookDeliveryList(deliveries: page.deliveries)
    return try .json(headers: headers) { try $0.encode(list) }
  }

  @Sendable func replay(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let id = try context.resourceID("webhook")
    guard let delivery = context.parameters.get("delivery").flatMap({ UUID(uuidString: $0) }) else {
      throw ProblemError.notFound
    }
    return try Self.acceptance(of: await editorial.replayDelivery(delivery, of: id, context)).response
  }

  @Sendable func test(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    return try Self.acceptance(of: await editorial.testWebhook(context.resourceID("webhook"), context)).response
  }

  /// Returns the answer with a webhook.
  static func answer(_ webhook: Webhook) throws -> EditorialAnswer {
    try .locked(revision: webhook.revision) { try $0.encode(webhook) }
  }

  /// Returns the answer to a creation.
  static func creation(of webhook: Webhook) throws -> EditorialAnswer {
    let location = "\(APIPath.webhooks)/\(webhook.id.uuidString.lowercased())"
    return try .locked(revision: webhook.revision, createdAt: location) { try $0.encode(webhook) }
  }

  /// Returns the answer to a request to send an event.
  static func acceptance(of delivery: WebhookDelivery) throws -> EditorialAnswer {
    try .json(status: .accepted) { try $0.encode(delivery) }
  }
}
