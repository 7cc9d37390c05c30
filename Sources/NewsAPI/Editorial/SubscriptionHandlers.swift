import Foundation
import HTTPEdge
import Hummingbird
import News
import NewsStore

/// The handlers of `/v1/editorial/subscriptions`: the feeds that the server follows.
struct SubscriptionHandlers: Sendable {
  let store: NewsStore

  @Sendable func list(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let list = SubscriptionList(subscriptions: try await store.subscriptions())
    return .json { $0.write(list) }
  }

  @Sendable func subscription(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let subscription = try await store.subscription(try context.resourceID("subscription"))
    return try .locked(revision: subscription.revision, to: request) { $0.write(subscription) }
  }

  @Sendable func create(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let body = try SubscriptionBody(try await JSONBody.object(of: request, context: context))
    let id = UUID.version7(at: Date())
    context.record.setSubject("subscription", id.uuidString.lowercased())
    let subscription = try await ProblemError.refusingUnknownTopics {
      try await store.createSubscription(id, body.content, once: context.once { Self.creation(of: $0) })
    }
    return Self.creation(of: subscription).response
  }

  @Sendable func modify(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let id = try context.resourceID("subscription")
    let patch = try await JSONBody.object(
      of: request, context: context, types: ["application/merge-patch+json", "application/json"])
    var reader = FieldReader(patch)
    let revision = reader.integer("revision", in: 1...Int.max)
    guard reader.errors.isEmpty else { throw ProblemError.invalidFields(reader.errors.list) }
    let precondition = try WritePrecondition(request.headers, revision: revision)
    let subscription = try await ProblemError.refusingUnknownTopics {
      try await store.modifySubscription(id, if: precondition) { subscription in
        try SubscriptionBody(try JSONValue.members(of: subscription, patchedWith: patch)).content
      }
    }
    return EditorialAnswer.locked(revision: subscription.revision) { $0.write(subscription) }.response
  }

  private static func creation(of subscription: Subscription) -> EditorialAnswer {
    let location = "\(APIPath.subscriptions)/\(subscription.id.uuidString.lowercased())"
    return .locked(revision: subscription.revision, createdAt: location) { $0.write(subscription) }
  }

  @Sendable func remove(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let precondition = try WritePrecondition(request.headers)
    try await store.removeSubscription(try context.resourceID("subscription"), if: precondition)
    return Response(status: .noContent)
  }

  @Sendable func poll(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let subscription = try await store.requestPoll(
      try context.resourceID("subscription"), once: context.once { Self.pollRequest(of: $0) })
    return Self.pollRequest(of: subscription).response
  }

  private static func pollRequest(of subscription: Subscription) -> EditorialAnswer {
    .locked(revision: subscription.revision, status: .accepted) { $0.write(subscription) }
  }
}
