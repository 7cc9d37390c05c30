import Fleet
import Foundation
import NIOHTTP1
import News

/// The newsroom of a plan: it publishes the items at their times, and knows the token of each scope after each of them.
actor Newsdesk {
  private let plan: FleetPlan
  private let servers: [String]
  private let key: String
  private let traffic: Traffic
  private var text: ArticleText
  private var epoch = ""
  /// The versions of the publications so far.
  private var versions: [Int] = []

  /// - Parameters:
  ///   - servers: The addresses of the servers, which receive the items in turn.
  ///   - key: A key with the scope `items:publish`.
  init(_ plan: FleetPlan, servers: [String], key: String, traffic: Traffic) {
    (self.plan, self.servers, self.key, self.traffic) = (plan, servers, key, traffic)
    text = ArticleText(seed: plan.options.seed)
  }

  /// Creates the topics, and publishes the items from before the day.
  func prepare() async throws {
    for (position, slug) in FleetPlan.topics.enumerated() {
      let body = Data(#"{"slug":"\#(slug)","titles":{"en":"\#(slug.capitalized)"},"position":\#(position)}"#.utf8)
      _ = try await post("/v1/editorial/topics", body)
    }
    for number in 0..<plan.publishedBefore { try await publish(number) }
    let state = try await traffic.send(.GET, servers[0] + "/v1/state")
    epoch = try NewsJSON.decode(FeedState.self, from: state.body).feed.epoch
  }

  /// Publishes the items of the day at their times.
  ///
  /// - Parameter start: The beginning of the day.
  func play(from start: ContinuousClock.Instant) async throws {
    for number in plan.publishedBefore..<plan.publications.count {
      try await Task.sleep(until: start + .seconds(plan.publications[number].time))
      try await publish(number)
    }
  }

  /// Returns the token of a scope after a number of publications, and waits until they are published.
  func token(of topics: [String], after count: Int) async throws -> SyncToken {
    while versions.count < count { try await Task.sleep(for: .milliseconds(5)) }
    return known(topics, after: count)
  }

  /// Returns the token of a scope after a number of publications that precede the day.
  func known(_ topics: [String], after count: Int) -> SyncToken {
    let last = (0..<count).last { plan.publications[$0].belongs(to: topics) }
    return SyncToken(epoch: epoch, scope: Scope(topics: topics), version: last.map { versions[$0] } ?? 0)
  }

  private func publish(_ number: Int) async throws {
    let publication = plan.publications[number]
    let topics = publication.topics.map { "\"\($0)\"" }.joined(separator: ",")
    let body = """
      {"breaking":\(publication.isBreaking),"text":"\(text.next(bytes: publication.textBytes))","topics":[\(topics)]}
      """
    let response = try await post("/v1/editorial/items", Data(body.utf8), number)
    versions.append(try NewsJSON.decode(NewsItem.self, from: response).version)
  }

  private func post(_ path: String, _ body: Data, _ number: Int = 0) async throws -> Data {
    let url = servers[number % servers.count] + path
    let response = try await traffic.send(.POST, url, [("Authorization", "Bearer \(key)")], json: body)
    guard response.status == 201 else {
      throw Traffic.UnexpectedStatus(
        status: response.status, target: path, body: String(decoding: response.body, as: UTF8.self))
    }
    return response.body
  }
}
