import Foundation
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

  /// The first page of a list.
  struct Page: Sendable {
    var items: [NewsItem]
    /// The token of the list; nil behind a cache that has dropped the field.
    var token: SyncToken?
    /// The validators to send back, as received.
    var conditions: Exchange.Conditions
    /// Whether there are no older items.
    var isWhole: Bool
  }

  /// The outcome of a request.
  enum Outcome<Value: Sendable>: Sendable {
    case unchanged
    case changed(Value)
    /// The token has expired. The value is a current token, if the server has sent one.
    case expired(SyncToken?)
  }

  let url: URL
  let exchange: Exchange

  /// Fetches the newest items.
  ///
  /// - Parameters:
  ///   - at: A token that the response must have reached.
  ///   - conditions: The validators of the stored page.
  ///   - cost: The cost, which is increased even if this throws.
  /// - Throws: `FetchError`, `CancellationError`.
  func items(
    _ query: Query, at: SyncToken?, conditions: Exchange.Conditions, cost: inout Cost
  ) async throws -> Outcome<Page> {
    let answer = try await answer(
      "items", query, at.map { [URLQueryItem(name: "at", value: $0.description)] } ?? [], conditions, &cost)
    switch answer.head.status {
    case 304: return .unchanged
    case 410: return .expired(problem(answer)?.token)
    default:
      let list = try decode(ItemList.self, answer)
      guard list.items.count <= query.limit else {
        throw FetchError(.tooLarge, "\(list.items.count) items, \(query.limit) were asked for", status: 200)
      }
      return .changed(
        Page(
          items: list.items, token: answer.head["Sync-Token"].flatMap { SyncToken($0) },
          conditions: .init(entityTag: answer.head["ETag"], lastModified: answer.head["Last-Modified"]),
          isWhole: !(answer.head["Link"] ?? "").contains("rel=\"next\"")))
    }
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
    let conditions = Exchange.Conditions(entityTag: since.map { "\"\($0)\"" })
    let answer = try await answer("changes", query, parameters, conditions, &cost)
    switch answer.head.status {
    case 304: return .unchanged
    case 410: return .expired(problem(answer)?.token)
    default:
      let list = try decode(ChangeList.self, answer)
      guard list.changes.count <= query.limit else {
        throw FetchError(.tooLarge, "\(list.changes.count) changes, \(query.limit) were asked for", status: 200)
      }
      if list.more, list.token == since {
        throw FetchError(.unexpectedResponse, "there is more, but the token has not moved", status: 200)
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
    var meter = Exchange.Meter()
    let head = try await exchange.open(
      location("events", Self.topicsParameter(topics)), fields: [HTTPHeader("Accept", type)],
      originFields: token.map { [HTTPHeader("Last-Event-ID", $0.description)] } ?? [], meter: &meter)
    guard head.status == 200 else {
      throw refusal(head, problem(Exchange.Answer(head: head, body: try await exchange.body(of: head, meter: &meter))))
    }
    guard head.mediaType == type else {
      throw FetchError(.unexpectedResponse, "the answer is no stream of events", status: head.status)
    }
    return head.body
  }

  /// The cost of a fetch, and the server's proposal for the next one.
  struct Cost: Sendable, Equatable {
    var meter = Exchange.Meter()
    /// The seconds until the next wake.
    var proposal: Double?
  }

  /// Returns the same server with exchanges that report their cost.
  func noting(_ note: @escaping @Sendable (Exchange.Meter) -> Void) -> NewsServer {
    var exchange = exchange
    exchange.note = note
    return NewsServer(url: url, exchange: exchange)
  }

  /// Returns the URL of a resource with its query.
  func location(_ path: String, _ parameters: [URLQueryItem]) -> URL {
    let place = url.appending(path: "v1").appending(path: path)
    return parameters.isEmpty ? place : place.appending(queryItems: parameters)
  }

  static func topicsParameter(_ topics: [String]) -> [URLQueryItem] {
    topics.isEmpty ? [] : [URLQueryItem(name: "topics", value: topics.joined(separator: ","))]
  }

  private func answer(
    _ path: String, _ query: Query, _ parameters: [URLQueryItem], _ conditions: Exchange.Conditions,
    _ cost: inout Cost
  ) async throws -> Exchange.Answer {
    let words = Self.topicsParameter(query.topics) + [URLQueryItem(name: "limit", value: String(query.limit))]
    let answer = try await exchange.get(
      location(path, words + parameters), conditions: conditions, meter: &cost.meter)
    let head = answer.head
    switch head.status {
    case 200, 304:
      cost.proposal =
        PollInterval.proposal(pollInterval: head["X-Poll-Interval"], cacheControl: head["Cache-Control"])
        ?? cost.proposal
      return answer
    case 410 where problem(answer)?.type == "/problems/token-expired":
      return answer
    default:
      throw refusal(head, problem(answer))
    }
  }

  /// The maximum length of a server's text in a message for the user, in characters.
  private static let longestExplanation = 300

  private func refusal(_ head: HTTPAnswer, _ problem: Problem?) -> FetchError {
    let words = problem.map(Self.explanation).map { ": \($0)" } ?? ""
    let isUnavailable = head.status == 429 || head.status >= 500
    return FetchError(
      isUnavailable ? .unavailable : .rejected, "the server answered \(head.status)\(words)", status: head.status,
      retryAfter: isUnavailable ? exchange.retryAfter(of: head) : nil)
  }

  /// Returns the server's own explanation on one line: the faulty fields, or else the detail or the title.
  private static func explanation(_ problem: Problem) -> String {
    let errors = (problem.errors ?? []).prefix(3).map { "\($0.field) \($0.rule)" }
    let text = errors.isEmpty ? problem.detail ?? problem.title : errors.joined(separator: "; ")
    let line = text.prefix(longestExplanation + 1).description.terminalSafe
    return line.count > longestExplanation ? line.prefix(longestExplanation) + "…" : line
  }

  private func problem(_ answer: Exchange.Answer) -> Problem? {
    guard answer.head.mediaType == "application/problem+json" else { return nil }
    return try? NewsJSON.decode(Problem.self, from: answer.body)
  }

  private func decode<Value: Decodable>(_ type: Value.Type, _ answer: Exchange.Answer) throws -> Value {
    guard answer.head.mediaType == "application/json" else {
      let type = String(answer.head.mediaType.terminalSafe.prefix(Self.longestExplanation))
      throw FetchError(
        .unexpectedResponse, "the answer is \(type.isEmpty ? "of no type" : type), not JSON", status: answer.head.status
      )
    }
    do {
      return try NewsJSON.decode(type, from: answer.body)
    } catch {
      let words = String("\(error)".terminalSafe.prefix(Self.longestExplanation))
      throw FetchError(.unexpectedResponse, "the answer is not what it should be: \(words)", status: answer.head.status)
    }
  }
}
