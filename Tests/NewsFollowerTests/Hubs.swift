import FaultServer
import Foundation
import NetworkAddresses
import News
import NewsFollower
import NewsStore
import OutgoingHTTP
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// An installation whose callbacks are served, and a server that is the feeds and their hubs.
///
/// The test plays the hub: it receives requests under paths that begin with `/hub`, and calls the callbacks.
struct Hubs: Sendable {
  /// A request that a hub has received.
  struct Request: Sendable {
    let path: String
    let form: [String: String]

    init(_ request: FaultRequest) {
      path = request.path
      // A form has the syntax of a query.
      form = FaultRequest(target: "/?" + String(decoding: request.body, as: UTF8.self)).query
    }

    var mode: String { form["hub.mode"] ?? "" }
    var topic: String { form["hub.topic"] ?? "" }
    var secret: String { form["hub.secret"] ?? "" }
    /// The path of the callback.
    var callback: String { URL(string: form["hub.callback"] ?? "")?.path ?? "" }
    var token: String { String(callback.split(separator: "/").last ?? "") }
  }

  private final class Site: Sendable {
    let feed = Mutex(Hubs.feed(["a"], hubs: ["/hub"]))
    let statuses = Mutex<[String: Int]>([:])
    let offset = Mutex(0.0)
  }

  let server: TestServer
  let web: FaultServer
  let follower: FeedFollower
  let subscriber: HubSubscriber
  /// A second process.
  let otherSubscriber: HubSubscriber
  let client: OutgoingClient
  private let site: Site

  var store: NewsStore { server.store }
  var sql: PostgresPool { server.sql }
  /// The time of the clock, which runs and which the test moves.
  var now: Date { Date() + site.offset.withLock { $0 } }

  static func with(_ body: @Sendable (Hubs) async throws -> Void) async throws {
    try await TestServer.with { server in
      try await FaultServer.with { web in
        let site = Site()
        web.respond { request in
          request.path.hasPrefix("/hub")
            ? FaultResponse(status: site.statuses.withLock { $0[request.path] } ?? 202) : site.feed.withLock { $0 }
        }
        var policy = AddressPolicy()
        policy.allowedNetworks = [try #require(IPNetwork("127.0.0.1"))]
        let client = OutgoingClient(policy: policy, userAgent: "Tidings")
        let clock: @Sendable () -> Date? = { Date() + site.offset.withLock { $0 } }
        func subscriber() -> HubSubscriber {
          HubSubscriber(
            store: server.store, client: client, publicURL: server.url, logger: NewsDatabase.logger, clock: clock)
        }
        let follower = FeedFollower(store: server.store, client: client, logger: NewsDatabase.logger, clock: clock)
        let hubs = Hubs(
          server: server, web: web, follower: follower, subscriber: subscriber(), otherSubscriber: subscriber(),
          client: client, site: site)
        try await withResource(client, release: { await $0.shutdown() }) { _ in try await body(hubs) }
      }
    }
  }

  func advance(_ seconds: Double) { site.offset.withLock { $0 += seconds } }

  func respond(_ status: Int, at path: String) { site.statuses.withLock { $0[path] = status } }

  func serve(_ feed: FaultResponse) { site.feed.withLock { $0 = feed } }

  /// A feed of entries with the given titles, which names hubs in its `Link` field.
  static func feed(_ titles: [String], hubs: [String]) -> FaultResponse {
    let links = hubs.map { "<\($0)>; rel=\"hub\"" } + ["</topic>; rel=self"]
    return Followed.feed(titles, headers: [("Link", links.joined(separator: ", "))])
  }

  /// Follows `/feed`, polls it, and sends the requests that follow from it.
  func follow(_ path: String = "/feed") async throws -> UUID {
    let id = UUID()
    _ = try await store.createSubscription(id, SubscriptionContent(url: "\(web.url)\(path)"))
    _ = try await follower.poll(id)
    return id
  }

  /// Sends the requests that are due.
  ///
  /// - Returns: The requests that hubs have received since the last call.
  func send() async throws -> [Request] {
    try await subscriber.sendDue()
    return web.takeRequests().filter { $0.path.hasPrefix("/hub") }.map(Request.init)
  }

  /// Calls a callback as a hub does.
  func verify(
    _ request: Request, mode: String? = nil, topic: String? = nil, seconds: Int? = 864_000
  ) async throws -> TestResponse {
    let lease = seconds.map { "&hub.lease_seconds=\($0)" } ?? ""
    return try await server.get(
      "\(request.callback)?hub.mode=\(mode ?? request.mode)&hub.topic=\(topic ?? request.topic)"
        + "&hub.challenge=c%2B1&other=x\(lease)")
  }

  /// Sends a notice.
  ///
  /// - Parameter secret: The key of its signature; nil for none.
  func notify(_ request: Request, secret: String?) async throws -> TestResponse {
    let body = "<feed/>"
    let signature = secret.map { ("X-Hub-Signature", hubSignature(of: body, secret: $0)) }
    return try await server.send(
      "POST", request.callback, headers: [("Content-Type", "application/atom+xml")] + [signature].compactMap { $0 },
      body: body)
  }

  func websub(_ id: UUID) async throws -> Subscription.WebSub? { try await store.subscription(id).websub }
}
