public import Foundation
public import HTTPTransfer
public import News
import Synchronization

/// A news server in memory, over which the tests of an app fetch without a network.
///
/// It answers `/v1/items` and `/v1/changes` as the API does, with valid tokens, for any address, topics and number of items.
/// Further responses and failures are queued; each is used once, before the ordinary ones.
///
///     let server = InMemoryNewsServer()
///     server.publish(NewsItem(id: UUID(), version: 0, date: Date(), text: "The ferry returns", updated: Date()))
///     let news = try NewsFetcher(configuration, application: application, transport: server)
///     print(await news.performFetch().inserted)  // 1
///     server.fail(HTTPTransportError(.offline, "there is no network"))
///     print(await news.performFetch().failure?.kind == .offline)  // true
public final class InMemoryNewsServer: HTTPTransport {
  /// A response to one request.
  ///
  ///     let server = InMemoryNewsServer()
  ///     server.respond(with: .init(status: 503, headers: [HTTPHeader("Retry-After", "60")]))
  ///     let news = try NewsFetcher(configuration, application: application, transport: server)
  ///     print(await news.performFetch().failure?.kind ?? .other)
  public struct Response: Sendable {
    /// The status, 200...599.
    public var status: Int
    /// The fields.
    public var headers: [HTTPHeader]
    /// The content.
    public var body: Data

    /// Creates a response.
    public init(status: Int = 200, headers: [HTTPHeader] = [], body: Data = Data()) {
      (self.status, self.headers, self.body) = (status, headers, body)
    }
  }

  private struct State {
    var epoch = InMemoryNewsServer.epoch(1)
    var epochs = 1
    var version = 0
    var items: [UUID: NewsItem] = [:]
    /// The version of the removal of each removed item.
    var removed: [UUID: Int] = [:]
    var queue: [Result<Response, HTTPTransportError>] = []
    var requests: [URL] = []
  }

  private let state = Mutex(State())

  /// Creates a server without items.
  public init() {}

  /// The published items, newest first.
  public var items: [NewsItem] { state.withLock { Self.sorted($0.items.values) } }

  /// The URLs of the requests so far, the failed ones included.
  public var requests: [URL] { state.withLock(\.requests) }

  /// Returns the current token of topics, or of the whole feed if there are none. It is the `token` of a push.
  public func token(topics: [String] = []) -> SyncToken {
    state.withLock { SyncToken(epoch: $0.epoch, scope: Scope(topics: topics), version: $0.version) }
  }

  /// Publishes an item, or replaces the one with the same id.
  ///
  /// - Returns: The item with its version.
  @discardableResult
  public func publish(_ item: NewsItem) -> NewsItem {
    state.withLock { state in
      state.version += 1
      var item = item
      item.version = state.version
      state.items[item.id] = item
      state.removed[item.id] = nil
      return item
    }
  }

  /// Removes an item, as an editor retracts it.
  public func remove(_ id: UUID) {
    state.withLock { state in
      guard state.items.removeValue(forKey: id) != nil else { return }
      state.version += 1
      state.removed[id] = state.version
    }
  }

  /// Begins a new history, so that clients start again: earlier tokens receive 410.
  public func expireTokens() {
    state.withLock { state in
      state.epochs += 1
      state.epoch = Self.epoch(state.epochs)
    }
  }

  /// Answers the next request with a response of the test.
  public func respond(with response: Response) { state.withLock { $0.queue.append(.success(response)) } }

  /// Lets the next requests fail.
  public func fail(_ error: HTTPTransportError, times: Int = 1) {
    state.withLock { $0.queue += Array(repeating: .failure(error), count: times) }
  }

  private static func epoch(_ number: Int) -> String {
    let digits = String(number, radix: 36)
    return "m" + String(repeating: "0", count: max(0, 5 - digits.count)) + digits.suffix(5)
  }

  private static func sorted(_ items: some Sequence<NewsItem>) -> [NewsItem] {
    items.sorted { ($0.date, $0.id.uuidString) > ($1.date, $1.id.uuidString) }
  }
}

/// The transport.
extension InMemoryNewsServer {
  /// Answers a request.
  public func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
    let response = try state.withLock { state in
      state.requests.append(url)
      if !state.queue.isEmpty { return try state.queue.removeFirst().get() }
      return try Self.respond(url, headers, state)
    }
    let body = AsyncThrowingStream<Data, any Error> { continuation in
      if !response.body.isEmpty { continuation.yield(response.body) }
      continuation.finish()
    }
    return HTTPTransportResponse(status: response.status, headers: response.headers, body: body)
  }

  /// Fails, because the server takes no files.
  public func upload(
    _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
  ) async throws -> HTTPTransportResponse {
    throw HTTPTransportError(.broken, "the server in memory takes no files")
  }

  private static func respond(_ url: URL, _ headers: [HTTPHeader], _ state: State) throws -> Response {
    let parameters = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
    func value(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
    let topics = value("topics")?.split(separator: ",").map(String.init) ?? []
    let current = SyncToken(epoch: state.epoch, scope: Scope(topics: topics), version: state.version)
    let limit = value("limit").flatMap { Int($0) } ?? 50
    if url.path().hasSuffix("/v1/items") {
      let page = sorted(state.items.values.filter { isVisible($0, topics) })
      var fields = [HTTPHeader("Sync-Token", "\(current)"), HTTPHeader("ETag", "\"\(current)-\(limit)\"")]
      if page.count > limit { fields.append(HTTPHeader("Link", "</v1/items?cursor=x>; rel=\"next\"")) }
      return try json(ItemList(items: Array(page.prefix(limit))), fields, headers)
    }
    guard url.path().hasSuffix("/v1/changes") else { return Response(status: 404) }
    let since = value("since").map { SyncToken($0) }
    if let since, since?.epoch != state.epoch { return try expired(current) }
    let list = changes(since: since ?? nil, limit, topics, current, state)
    return try json(list, [HTTPHeader("ETag", "\"\(list.token)\"")], headers)
  }

  private static func isVisible(_ item: NewsItem, _ topics: [String]) -> Bool {
    topics.isEmpty || topics.contains { item.topics.contains($0) }
  }

  /// Returns a page of the changes since a token, or of a snapshot, in the order of their versions.
  ///
  /// - Parameter since: A token, which may be within a snapshot; nil to begin one.
  private static func changes(
    since token: SyncToken?, _ limit: Int, _ topics: [String], _ current: SyncToken, _ state: State
  ) -> ChangeList {
    let isSnapshot = token == nil || token?.position != nil
    let start = (isSnapshot ? token?.position : token?.version) ?? 0
    var changes = state.items.values.filter { $0.version > start && (!isSnapshot || isVisible($0, topics)) }.map {
      item in
      let change = isVisible(item, topics) ? Change.put(item) : .remove(id: item.id, reason: .left)
      return (version: item.version, change: change)
    }
    if !isSnapshot {
      changes += state.removed.filter { $0.value > start }.map {
        (version: $0.value, change: Change.remove(id: $0.key, reason: .retracted))
      }
    }
    changes.sort { $0.version < $1.version }
    let page = changes.prefix(limit)
    let more = page.count < changes.count
    let last = page.last?.version ?? 0
    let next = SyncToken(
      epoch: current.epoch, scope: Scope(topics: topics), version: isSnapshot ? current.version : last,
      position: isSnapshot ? last : nil, isPartial: !isSnapshot)
    return ChangeList(
      changes: page.map(\.change), more: more, snapshot: isSnapshot ? true : nil, token: more ? next : current)
  }

  /// Returns 200, or 304 if the client has the current entity tag.
  private static func json(
    _ body: some Encodable, _ fields: [HTTPHeader], _ headers: [HTTPHeader]
  ) throws -> Response {
    let tag = fields.first { $0.name == "ETag" }?.value
    if let tag, headers.contains(where: { $0.name.lowercased() == "if-none-match" && $0.value == tag }) {
      return Response(status: 304, headers: fields)
    }
    return Response(
      headers: [HTTPHeader("Content-Type", "application/json")] + fields, body: try NewsJSON.encode(body))
  }

  private static func expired(_ current: SyncToken) throws -> Response {
    let problem = Problem(
      type: "/problems/token-expired", title: "The token cannot be continued", status: 410, reason: "epoch",
      token: current)
    return Response(
      status: 410, headers: [HTTPHeader("Content-Type", "application/problem+json")],
      body: try NewsJSON.encode(problem))
  }
}
