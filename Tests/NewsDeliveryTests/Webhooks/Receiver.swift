import Crypto
import FaultServer
import Foundation
import Logging
import NIOCore
import NetworkAddresses
import News
import NewsDelivery
import NewsStore
import OutgoingHTTP
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// A receiver of webhooks, a store, two services over it, and a time that the test moves.
struct Receiver: Sendable {
  static let start = Date(timeIntervalSince1970: 2_000_000_000)
  static let publicURL = "https://news.example"

  let server: FaultServer
  let store: NewsStore
  let sql: PostgresPool
  let client: OutgoingClient
  let log: RecordingLog
  let service: WebhookService
  /// A second process.
  let otherService: WebhookService
  private let publicURL: String?
  private let time: MovedTime

  var now: Date { time.value }

  /// Runs the body. Names resolve to loopback, which is allowed; `private.example` resolves to a private address, and
  /// `rebinding.example` to a link-local one from the second look-up on.
  ///
  /// - Parameters:
  ///   - start: The time of the clock at first.
  ///   - jitter: The random numbers that spread attempts.
  ///   - timeout: The timeout of a pause in a response. That of a response is as long at least.
  static func with(
    publicURL: String? = Receiver.publicURL, from start: Date = Receiver.start, jitter: Double = 0,
    timeout: Duration = .seconds(1),
    _ body: @Sendable (Receiver) async throws -> Void
  ) async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 204) }) { server in
      try await NewsDatabase.withStore { store, sql in
        var policy = AddressPolicy()
        policy.allowedNetworks = [try #require(IPNetwork("127.0.0.1"))]
        var limits = WebhookService.limits
        limits.idleTime = timeout
        limits.totalTime = max(limits.totalTime, timeout)
        let lookups = Count()
        let resolver = NameResolver { host, port in
          let address =
            switch host {
            case "private.example": "10.0.0.1"
            case "rebinding.example": lookups.next() == 1 ? "127.0.0.1" : "169.254.169.254"
            default: "127.0.0.1"
            }
          return [try SocketAddress(ipAddress: address, port: port)]
        }
        let client = OutgoingClient(policy: policy, userAgent: "Tidings", limits: limits, resolver: resolver)
        let (time, log) = (MovedTime(start), RecordingLog())
        func service() -> WebhookService {
          WebhookService(
            store: store, client: client, logger: log.logger, clock: { time.value },
            random: { jitter })
        }
        let receiver = Receiver(
          server: server, store: store, sql: sql, client: client, log: log, service: service(),
          otherService: service(), publicURL: publicURL, time: time)
        try await withResource(client, release: { await $0.shutdown() }) { _ in try await body(receiver) }
      }
    }
  }

  func advance(_ seconds: Double) { time.change { $0 += seconds } }

  static func id(_ number: Int) -> UUID {
    UUID(uuidString: "00000000-0000-0000-0000-\(String(format: "%012d", number))") ?? UUID()
  }

  /// Creates a webhook at `/hook` of the server.
  @discardableResult
  func add(
    _ number: Int = 1, host: String = "hooks.example", path: String = "/hook", secret: WebhookSecret = .random()
  ) async throws -> WebhookSecret {
    let url = try OutgoingURL("http://\(host):\(server.port)\(path)").text
    _ = try await store.createWebhook(Self.id(number), WebhookContent(url: url), secret: secret, at: now)
    return secret
  }

  /// Inserts events for the webhooks, as the reader of the outbox does.
  func insert(_ events: OutboxEvent...) async throws {
    _ = try await sql.query(NewsStore.webhookInsertion(of: events, publicURL: publicURL, at: now))
  }

  func event(_ item: Int, version: Int, _ kind: OutboxEvent.Kind = .changed, topics: [String] = []) -> OutboxEvent {
    OutboxEvent(item: Self.id(item), version: version, kind: kind, at: now, topics: topics)
  }

  /// Sends what is due.
  ///
  /// - Returns: The requests that have arrived since the last call.
  func send() async throws -> [FaultRequest] {
    try await service.sendDue()
    return server.takeRequests()
  }

  /// The epoch of the versions.
  func epoch() async throws -> String {
    let rows = try await sql.query("SELECT id FROM epochs ORDER BY number DESC LIMIT 1")
    return try #require(try rows.first?.decode("id", as: String.self))
  }

  func webhook(_ number: Int = 1) async throws -> Webhook { try await store.webhook(Self.id(number)) }

  /// The deliveries of a webhook, newest first.
  func deliveries(_ number: Int = 1) async throws -> [WebhookDelivery] {
    try await store.webhookDeliveries(of: Self.id(number), limit: 200).deliveries
  }

  /// The only delivery.
  func delivery(_ number: Int = 1) async throws -> WebhookDelivery {
    let all = try await deliveries(number)
    #expect(all.count == 1)
    return try #require(all.first)
  }
}

/// A time that several closures share.
private final class MovedTime: Sendable {
  private let date: Mutex<Date>

  init(_ date: Date) {
    self.date = Mutex(date)
  }

  var value: Date { date.withLock { $0 } }

  func change(_ body: (inout Date) -> Void) { date.withLock { body(&$0) } }
}

extension FaultRequest {
  /// The signatures of the request, without their version.
  var signatures: [String] {
    (self["webhook-signature"] ?? "").split(separator: " ").map { String($0.dropFirst("v1,".count)) }
  }

  /// Whether the request has a signature by a secret: the HMAC over its id, its timestamp and the bytes of its body.
  func isSigned(by secret: WebhookSecret) -> Bool {
    guard let id = self["webhook-id"], let timestamp = self["webhook-timestamp"] else { return false }
    var code = HMAC<SHA256>(key: SymmetricKey(data: secret.key))
    code.update(data: Data("\(id).\(timestamp).".utf8))
    code.update(data: body)
    return signatures.contains(Data(code.finalize()).base64EncodedString())
  }

  /// The body as text.
  var text: String { String(decoding: body, as: UTF8.self) }

  /// The version of the item in the body.
  var version: Int? { text.firstMatch(of: /"version":([0-9]+)/).flatMap { Int($0.1) } }
}
