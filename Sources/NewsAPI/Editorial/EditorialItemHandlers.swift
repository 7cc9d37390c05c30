import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import News
import NewsStore

/// The handlers of `/v1/editorial/items`: items in every state, with their revision as an optimistic lock.
struct EditorialItemHandlers: Sendable {
  let store: NewsStore
  /// The library of media files; nil if the server keeps none.
  let library: MediaLibrary?
  let sanitizer: MarkupSanitizer
  /// The maximum size of the body of a batch, in bytes.
  let largestBatchBytes: Int
  /// Limits the batches at a time, because each of them may use much memory.
  let batches: ConcurrencyLimiter

  @Sendable func list(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["state", "topics", "from", "to", "breaking", "q", "limit", "cursor"])
    let states = EditorialItem.State.allCases.map(\.rawValue).joined(separator: ", ")
    var query = EditorialQuery(
      state: parameters.value("state", rule: "must be one of \(states)") { EditorialItem.State(text: $0) },
      scope: parameters.scope(),
      from: parameters.date("from"),
      to: parameters.date("to"),
      isBreaking: parameters.bool("breaking"),
      search: parameters.text("q", maximumBytes: 256).map(SearchQuery.init),
      limit: parameters.integer("limit", in: 1...200, default: 50),
      access: context.access)
    let cursor = PageCursor(query)
    query.after = parameters.cursor(cursor)
    try parameters.check()

    let page = try await store.editorialItems(query)
    var headers = HTTPFields()
    headers[.link] = page.next.map { request.link(toPage: cursor.text($0)) }
    return .json(headers: headers) { $0.write(EditorialItemList(items: page.items, counts: page.counts)) }
  }

  @Sendable func item(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let item = try await store.editorialItem(try context.itemID(), for: context.access)
    return try .locked(revision: item.revision, to: request) { $0.write(item) }
  }

  @Sendable func create(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let body = try await body(of: request, context)
    let id = body.id ?? .version7(at: Date())
    context.record.setSubject("item", id.uuidString.lowercased())
    let (item, created) = try await ProblemError.refusingUnknownTopics {
      try await store.create(
        id, isNewID: body.id == nil, body.content, StateChange(state: body.state, access: context.access),
        by: context.editor, once: context.once { Self.answer($0.item, created: $0.created) })
    }
    return Self.answer(item, created: created).response
  }

  @Sendable func replace(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let id = try context.itemID()
    let body = try await body(of: request, context)
    guard body.id == nil || body.id == id else { throw ProblemError.foreignID }
    let precondition = try WritePrecondition(request.headers, revision: body.revision)
    let (item, created) = try await ProblemError.refusingUnknownTopics {
      try await store.write(
        id, bytes: body.content.approximateBytes, if: precondition,
        StateChange(state: body.state, access: context.access), by: context.editor
      ) { _ in body.content }
    }
    return Self.answer(item, created: created).response
  }

  @Sendable func modify(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let id = try context.itemID()
    let patch = try await JSONBody.object(
      of: request, context: context, types: ["application/merge-patch+json", "application/json"])
    let read = try await ItemPatch(patch, of: id, access: context.access, sanitizer)
    let precondition = try WritePrecondition(request.headers, revision: read.revision)
    let (item, _) = try await ProblemError.refusingUnknownTopics {
      try await store.write(id, if: precondition, read.change, by: context.editor, read.content)
    }
    return Self.answer(item).response
  }

  @Sendable func retract(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["reason"])
    let reason = parameters.text("reason", maximumBytes: 512)
    try parameters.check()
    let precondition = try WritePrecondition(request.headers)
    try await store.retract(
      try context.itemID(), reason: reason, if: precondition, access: context.access, by: context.editor)
    return Response(status: .noContent)
  }

  @Sendable func erase(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["reason"])
    let reason = parameters.text("reason", maximumBytes: 512)
    try parameters.check()
    let precondition = try WritePrecondition(request.headers)
    let digests = try await store.erase(
      try context.itemID(), reason: reason, if: precondition, access: context.access, by: context.editor,
      once: context.once { _ in .noContent })
    await library?.removeContents(digests, logger: context.logger)
    return Response(status: .noContent)
  }
}

extension EditorialItemHandlers {
  private func body(of request: Request, _ context: APIContext) async throws -> ItemBody {
    let fields = try await JSONBody.object(of: request, context: context)
    return try ItemBody(fields, html: try await sanitizer.html(in: fields))
  }

  static func answer(_ item: EditorialItem, created: Bool = false) -> EditorialAnswer {
    let location = created ? "\(APIPath.editorialItems)/\(item.item.id.uuidString.lowercased())" : nil
    return .locked(revision: item.revision, createdAt: location, content: .item) { $0.write(item) }
  }
}

extension PageCursor {
  /// Creates the cursor of a list for editors, whatever its page.
  fileprivate init(_ query: EditorialQuery) {
    self.init(
      filters: [
        "editorial", query.state?.rawValue, query.scope.topics.joined(separator: ","),
        query.from.map(RFC3339.string), query.to.map(RFC3339.string), query.isBreaking.map { "\($0)" },
        query.search?.text,
      ])
  }
}

extension Request {
  /// Returns the link to the next page (RFC 8288): this request with another cursor. The link is relative, so it is
  /// valid under every public name of the server.
  func link(toPage cursor: String) -> String {
    let others = (uri.query ?? "").split(separator: "&").filter { !$0.hasPrefix("cursor=") }
    // Inside a link, these two characters would end it. Percent-encoding them is always allowed.
    let query = (others.map { $0.replacing(">", with: "%3E").replacing("<", with: "%3C") } + ["cursor=\(cursor)"])
      .joined(separator: "&")
    return "<\(uri.path)?\(query)>; rel=\"next\""
  }
}
