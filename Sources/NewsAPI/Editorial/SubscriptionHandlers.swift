import Foundation
import Hummingbird
import News
import NewsStore

/// The handlers of `/v1/editorial/subscriptions`: the feeds that the server follows.
struct SubscriptionHandlers: Sendable {
  let editorial: EditorialAPI

  private var store: NewsStore { editorial.store }

  @Sendable func list(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let list = SubscriptionList(subscriptions: try await store.subscriptions())
    return try .json { try $0.encode(list) }
  }

  @Sendable func subscription(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let subscription = try await store.subscription(try context.resourceID("subscription"))
    return try .locked(revision: subscription.revision, to: request) { try $0.encode(subscription) }
  }

  @Sendable func create(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let fields = try await JSONBody.object(of: request, context: context)
    return try Self.creation(of: await editorial.createSubscription(fields, context)).response
  }

  @Sendable func modify(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let id = try context.resourceID("subscription")
    let patch = try await JSONBody.object(
      of: request, context: context, types: ["application/merge-patch+json", "application/json"])
    let subscription = try await editorial.modifySubscription(id, patch, headers: request.headers, context)
    return try EditorialAnswer.locked(revision: subscription.revision) { try $0.encode(subscription) }.response
  }

  /// Returns the answer to a creation.
  static func creation(of subscription: Subscription) throws -> EditorialAnswer {
    let location = "\(APIPath.subscriptions)/\(subscription.id.uuidString.lowercased())"
    return try .locked(revision: subscription.revision, createdAt: location) { try $0.encode(subscription) }
  }

  @Sendable func remove(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let precondition = try WritePrecondition(request.headers)
    try await editorial.removeSubscription(try context.resourceID("subscription"), if: precondition, context)
    return Response(status: .noContent)
  }

  @Sendable func poll(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let subscription = try await editorial.requestPoll(try context.resourceID("subscription"), context)
    return try Self.pollRequest(of: subscription).response
  }

  /// Returns the answer to a request for a poll.
  static func pollRequest(of subscription: Subscription) throws -> EditorialAnswer {
    try .locked(revision: subscription.revision, status: .accepted) { try $0.encode(subscription) }
  }
}
