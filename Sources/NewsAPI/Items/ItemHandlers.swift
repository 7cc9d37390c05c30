import Hummingbird

/// The handlers of `/v1/items`: published items.
struct ItemHandlers: Sendable {
  let reads: PublicReads

  @Sendable func list(_ request: Request, context: APIContext) async throws -> Response {
    try await reads.response(to: request) { try .items(request.uri.query) }
  }

  @Sendable func item(_ request: Request, context: APIContext) async throws -> Response {
    let id = try context.itemID()
    return try await reads.response(to: request) { try .item(id, request.uri.query) }
  }
}
