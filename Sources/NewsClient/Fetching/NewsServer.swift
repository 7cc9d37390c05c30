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
    let parameters = [("cursor", cursor), ("at", at?.description)].compactMap { name, value in
      value.map { URLQueryItem(name: name, value: $0) }
    }
    let response = try await send("items", query, parameters, conditions, &cost)
    switch response.head.status {
    case 304: return .unchanged
    case 410: return .expired(problem(response)?.token)
    default:
      let list = try decode(ItemList.self, response)
      guard list.items.count <= query.limit else {
        throw FetchError(
          .tooLarge, "the response has \(list.items.count) items; at most \(query.limit) were requested", status: 200)
      }
      let link = LinkField.links(response.head[all: "Link"]).first { $0.relations.contains("next") }
      return .changed(
        Page(
          items: list.items, token: response.head["Sync-Token"].flatMap { SyncToken($0) },
          conditions: .init(entityTag: response.head["ETag"], lastModified: response.head["Last-Modified"]),
          isComplete: link == nil, cursor: link.flatMap { Self.cursor(in: $0.target) }))
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
    var parameters: [URLQueryItem] = []
    if let since { parameters.append(URLQueryItem(name: "since", value: since.description)) }
    if let at { parameters.append(URLQueryItem(name: "at", value: at.description)) }
    let conditions = HTTPRequester.Conditions(entityTag: since.map { "\"\($0)\"" })
    let response = try await send("changes", query, parameters, conditions, &cost)
    switch response.head.status {
    case 304: return .unchanged
    case 410: return .expired(problem(response)?.token)
    default:
      let list = try decode(ChangeList.self, response)
      guard list.changes.count <= query.limit else {
        throw FetchError(
          .tooLarge, "the response has \(list.changes.count) changes; at most \(query.limit) were requested",
          status: 200)
      }
      if list.more, list.token == since {
        throw FetchError(.unexpectedResponse, "the response announces more changes, but repeats the token", status: 200)
      }
      return .changed(list)
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

  private func send(
    _ path: String, _ query: Query, _ parameters: [URLQueryItem], _ conditions: HTTPRequester.Conditions,
    _ cost: inout Cost
  ) async throws -> HTTPRequester.Response {
    let fixed = Self.topicsParameter(query.topics) + [URLQueryItem(name: "limit", value: String(query.limit))]
    let response = try await requester.get(
      location(path, fixed + parameters), conditions: conditions, meter: &cost.meter)
    let head = response.head
    switch head.status {
    case 200, 304:
      cost.proposal =
        PollInterval.proposal(pollInterval: head["X-Poll-Interval"], cacheControl: head["Cache-Control"])
        ?? cost.proposal
      return response
    case 410 where problem(response)?.type == "/problems/token-expired":
      return response
    default:
      throw refusal(response)
    }
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
