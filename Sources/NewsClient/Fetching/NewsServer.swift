import Foundation
import HTTPConditions
import HTTPTransfer
import News

/// The API of a server. Each method returns a complete response of the expected form, or throws.
struct NewsServer: Sendable {
  /// The parameters that are the same in every request.
  struct Query: Sendable, Hashable {
    var topics: [String]
    /// The maximum number of items or changes in a response, 1...200.
    var limit: Int
  }

  /// A page of a list.
  struct Page: Sendable {
    var items: [NewsItem]
    /// The token of the list; nil behind a cache that has dropped the field.
    var token: SyncToken?
    /// The validators to send back, as received.
    var conditions: HTTPRequester.Conditions
    /// Whether there are no older items.
    var isComplete: Bool
    /// The position at which the next page begins; nil for the last page.
    var cursor: String?
  }

  /// The outcome of a request.
  enum Outcome<Value: Sendable>: Sendable {
    case unchanged
    case changed(Value)
    /// The token has expired. The value is a current token, if the server has sent one.
    case expired(SyncToken?)

    func map<Other: Sendable>(_ transform: (Value) throws -> Other) rethrows -> Outcome<Other> {
      switch self {
      case .unchanged: .unchanged
      case .changed(let value): .changed(try transform(value))
      case .expired(let token): .expired(token)
      }
    }
  }

  let url: URL
  let requester: HTTPRequester

  /// Fetches the newest items, or those after a position.
  ///
  /// - Parameters:
  ///   - cursor: The position that the page before names; nil for the newest items.
  ///   - at: A token that the response must have reached.
  ///   - conditions: The validators of the stored page.
  ///   - cost: The cost, which is increased even if this throws.
  /// - Throws: `FetchError`, `CancellationError`.
  func items(
    _ query: Query, cursor: String? = nil, at: SyncToken?, conditions: HTTPRequester.Conditions, cost: inout Cost
  ) async throws -> Outcome<Page> {
    let parameters = [("cursor", cursor), ("at", at?.description)]
    return try await list(ItemList.self, "items", query, parameters, conditions, &cost) { $0.items.count }
      .map { list, response in
        let head = response.head
        let link = LinkField.links(head[all: "Link"]).first { $0.relations.contains("next") }
        return Page(
          items: list.items, token: head["Sync-Token"].flatMap { SyncToken($0) },
          conditions: .init(entityTag: head["ETag"], lastModified: head["Last-Modified"]),
          isComplete: link == nil, cursor: link.flatMap { Self.cursor(in: $0.target) })
      }
  }

  /// Returns the position that the target of a link to the next page contains.
  private static func cursor(in target: String) -> String? {
    URLComponents(string: target)?.queryItems?.first { $0.name == "cursor" }?.value
  }

  /// Fetches the changes since a token, or without a token the beginning of a snapshot.
  ///
  /// - Parameter at: A token that the response must have reached.
  /// - Throws: `FetchError`, `CancellationError`.
  func changes(
    _ query: Query, since: SyncToken?, at: SyncToken? = nil, cost: inout Cost
  ) async throws -> Outcome<ChangeList> {
    let parameters = [("since", since?.description), ("at", at?.description)]
    let conditions = HTTPRequester.Conditions(entityTag: since.map { "\"\($0)\"" })
    return try await list(ChangeList.self, "changes", query, parameters, conditions, &cost) { $0.changes.count }
      .map { list, _ in
        guard list.more, list.token == since else { return list }
        throw FetchError(.unexpectedResponse, "the response announces more changes, but repeats the token", status: 200)
      }
  }

  /// Opens the stream of events, as bytes for an ``EventParser``.
  ///
  /// - Parameter token: The token of the stored items. The stream begins with later changes.
  /// - Throws: `FetchError`, `CancellationError`.
  func events(topics: [String], after token: SyncToken?) async throws -> any AsyncSequence<Data, any Error> & Sendable {
    let type = "text/event-stream"
    var meter = HTTPRequester.Meter()
    let head = try await requester.open(
      location("events", Self.topicsParameter(topics)), fields: [HTTPHeader("Accept", type)],
      originFields: token.map { [HTTPHeader("Last-Event-ID", $0.description)] } ?? [], meter: &meter)
    guard head.status == 200 else {
      throw refusal(HTTPRequester.Response(head: head, body: try await requester.body(of: head, meter: &meter)))
    }
    guard head.mediaType == type else {
      throw FetchError(.unexpectedResponse, "the response is not an event stream", status: head.status)
    }
    return head.body
  }

  /// The cost of a fetch, and the server's proposal for the next one.
  struct Cost: Sendable, Equatable {
    var meter = HTTPRequester.Meter()
    /// The seconds until the next wake.
    var proposal: Double?
  }

  /// Returns the same server whose requests report their cost.
  func reportingMeter(_ report: @escaping @Sendable (HTTPRequester.Meter) -> Void) -> NewsServer {
    var requester = requester
    requester.reportMeter = report
    return NewsServer(url: url, requester: requester)
  }

  /// Returns the URL of a resource with its query.
  func location(_ path: String, _ parameters: [URLQueryItem]) -> URL {
    let location = url.appending(path: "v1").appending(path: path)
    return parameters.isEmpty ? location : location.appending(queryItems: parameters)
  }

  static func topicsParameter(_ topics: [String]) -> [URLQueryItem] {
    topics.isEmpty ? [] : [URLQueryItem(name: "topics", value: topics.joined(separator: ","))]
  }

  /// Requests a list of at most as many elements as the query allows.
  ///
  /// - Parameters:
  ///   - name: The name of the resource and of the elements.
  ///   - count: Returns the number of elements.
  private func list<List: Decodable & Sendable>(
    _ type: List.Type, _ name: String, _ query: Query, _ parameters: [(String, String?)],
    _ conditions: HTTPRequester.Conditions, _ cost: inout Cost, count: (List) -> Int
  ) async throws -> Outcome<(List, HTTPRequester.Response)> {
    let fixed = Self.topicsParameter(query.topics) + [URLQueryItem(name: "limit", value: String(query.limit))]
    let others = parameters.compactMap { name, value in value.map { URLQueryItem(name: name, value: $0) } }
    let response = try await requester.get(location(name, fixed + others), conditions: conditions, meter: &cost.meter)
    let head = response.head
    if head.status == 410, let problem = problem(response), problem.type == "/problems/token-expired" {
      return .expired(problem.token)
    }
    guard [200, 304].contains(head.status) else { throw refusal(response) }
    cost.proposal =
      PollInterval.proposal(pollInterval: head["X-Poll-Interval"], cacheControl: head["Cache-Control"])
      ?? cost.proposal
    if head.status == 304 { return .unchanged }
    let list = try decode(type, response)
    guard count(list) <= query.limit else {
      throw FetchError(
        .tooLarge, "the response has \(count(list)) \(name); at most \(query.limit) were requested", status: 200)
    }
    return .changed((list, response))
  }

  /// The maximum length of a server's text in a message for the user, in characters.
  private static let maximumExplanationLength = 300

  func refusal(_ response: HTTPRequester.Response) -> FetchError {
    var refusal = requester.refusal(response.head, content: response.body)
    // Any other status may be that of a captive portal.
    if response.head.status < 400 { refusal.code = .unexpectedResponse }
    if refusal.code != .unavailable { refusal.retryAfter = nil }
    return refusal
  }

  /// Returns the reason why a response cannot be decoded.
  private static func explanation(_ error: any Error) -> String {
    func name(_ path: [any CodingKey]) -> String {
      "the field \(path.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }.joined(separator: "."))"
    }
    switch error as? DecodingError {
    case .keyNotFound(let key, let context): return "\(name(context.codingPath + [key])) is missing"
    case .typeMismatch(_, let context) where !context.codingPath.isEmpty:
      return "\(name(context.codingPath)) has another type"
    case .valueNotFound(_, let context) where !context.codingPath.isEmpty: return "\(name(context.codingPath)) is null"
    case .dataCorrupted(let context) where !context.codingPath.isEmpty:
      return "\(name(context.codingPath)) has a value that is not valid"
    default: return "it is not the expected JSON"
    }
  }

  func problem(_ response: HTTPRequester.Response) -> Problem? {
    guard response.head.mediaType == "application/problem+json" else { return nil }
    return try? NewsJSON.decode(Problem.self, from: response.body)
  }

  func decode<Value: Decodable>(_ type: Value.Type, _ response: HTTPRequester.Response) throws -> Value {
    guard response.head.mediaType == "application/json" else {
      let type = String(response.head.mediaType.terminalSafe.prefix(Self.maximumExplanationLength))
      throw FetchError(
        .unexpectedResponse, "the response has \(type.isEmpty ? "no media type" : "the media type \(type)"), not JSON",
        status: response.head.status
      )
    }
    do {
      return try NewsJSON.decode(type, from: response.body)
    } catch {
      let reason = String(Self.explanation(error).terminalSafe.prefix(Self.maximumExplanationLength))
      throw FetchError(
        .unexpectedResponse, "the response has an unexpected form: \(reason)", status: response.head.status)
    }
  }
}
