import CoreMetrics
import HTTPEdge
import HTTPTypes
import NIOCore
import News
import Synchronization

/// The metrics of the API. No label has a value that a client can choose, because each value is a series that stays.
final class APIMetrics: Sendable {
  private struct Key: Hashable {
    let route: String
    let method: String
    let status: Int
  }

  /// The source of the content of a read.
  enum ReadSource: String, CaseIterable {
    /// A view that was kept.
    case view
    /// The windows and the state in memory.
    case windows
    /// The database, or the load of another request.
    case database
  }

  /// The outcome of a request that has the `Idempotency-Key` of an earlier one.
  enum Repetition: String, CaseIterable {
    /// The stored answer was sent.
    case replayed
    /// The first request is being carried out.
    case inProgress = "in_progress"
    /// The body is another one.
    case reused
  }

  /// The metrics of the requests with a route, method and status.
  struct Instruments: Sendable {
    fileprivate let requests: PrometheusCounter
    fileprivate let duration: CoreMetrics.Timer
    fileprivate let bytes: PrometheusCounter

    /// Counts a request.
    func count(bytes: Int, duration: Duration) {
      requests.increment(by: 1)
      self.bytes.increment(by: Int64(bytes))
      self.duration.recordSeconds(duration / .seconds(1))
    }
  }

  let registry = PrometheusRegistry(help: [
    "tidings_http_requests_total": "Responses.",
    "tidings_http_request_duration_seconds":
      "The time from the head of a request until its response is ready to be sent.",
    "tidings_http_response_bytes_total": "Bytes of bodies, as sent.",
    "tidings_http_hot_requests_total": "Responses that were sent from memory before the router.",
    "tidings_http_held_requests_total":
      "Responses that waited for the database, and were sent without the router.",
    "tidings_reads_total": "Public reads, by the source of their content.",
    "tidings_http_limited_requests_total":
      "Requests refused because there were too many from an address, or with a key.",
    "tidings_idempotent_requests_total":
      "Requests with an Idempotency-Key that had no effect of their own, by the reason.",
    "tidings_http_saved_bytes_total":
      "Bytes of bodies not sent: uncompressed ones spared by a 304, or compressed away.",
    "tidings_push_delay_seconds":
      "The time from the start of a push, or the end of quiet hours and budgets, to the acceptance of a message.",
    "tidings_jobs_total": "Jobs of background work that this process has taken.",
    "tidings_jobs_under_way": "Jobs of background work that this process does at present.",
  ])
  private let earlyResponses: Counter
  private let heldResponses: Counter
  private let reads: [ReadSource: Counter]
  private let limitedByAddress: Counter
  private let limitedByKey: Counter
  private let repetitions: [Repetition: Counter]
  private let savedByNotModified: PrometheusCounter
  private let savedByCompression: PrometheusCounter
  private let instruments = Mutex<[Key: Instruments]>([:])

  init() {
    earlyResponses = Counter(label: "tidings_http_hot_requests_total", factory: registry)
    heldResponses = Counter(label: "tidings_http_held_requests_total", factory: registry)
    reads = Dictionary(
      uniqueKeysWithValues: ReadSource.allCases.map { [registry] source in
        (source, Counter(label: "tidings_reads_total", dimensions: [("source", source.rawValue)], factory: registry))
      })
    let limited = "tidings_http_limited_requests_total"
    limitedByAddress = Counter(label: limited, dimensions: [("by", "address")], factory: registry)
    limitedByKey = Counter(label: limited, dimensions: [("by", "key")], factory: registry)
    repetitions = Dictionary(
      uniqueKeysWithValues: Repetition.allCases.map { [registry] outcome in
        let dimensions = [("outcome", outcome.rawValue)]
        return (
          outcome,
          Counter(label: "tidings_idempotent_requests_total", dimensions: dimensions, factory: registry)
        )
      })
    // A push service adds to these series, which exist without one too.
    for provider in PushProvider.allCases {
      _ = CoreMetrics.Timer(
        label: "tidings_push_delay_seconds", dimensions: [("provider", provider.rawValue)], factory: registry)
    }
    let name = "tidings_http_saved_bytes_total"
    savedByNotModified = registry.counter(name, [("by", "not_modified")])
    savedByCompression = registry.counter(name, [("by", "compression")])
  }

  /// Counts a request.
  ///
  /// - Parameters:
  ///   - route: The path pattern of the route; nil if no route has path and method.
  ///   - bytes: The length of the response body, in bytes.
  ///   - duration: The time from the head of the request to the response.
  func count(route: String?, method: HTTPRequest.Method, status: Int, bytes: Int, duration: Duration) {
    instruments(route: route, method: method, status: status).count(bytes: bytes, duration: duration)
  }

  /// Returns the metrics to which requests are counted.
  func instruments(route: String?, method: HTTPRequest.Method, status: Int) -> Instruments {
    instruments(
      Key(
        route: route ?? "unknown", method: Self.methods.contains(method) ? method.rawValue : "other", status: status))
  }

  /// Counts a refusal of a request before the router: it was malformed, took too long or exceeded a limit.
  @Sendable func countRefusal(status: Int, bytes: Int) {
    let instruments = instruments(Key(route: "unknown", method: "other", status: status))
    instruments.requests.increment(by: 1)
    instruments.bytes.increment(by: Int64(bytes))
  }

  /// Counts a request that was refused because its address has exceeded the rate limit.
  @Sendable func addressLimited() {
    limitedByAddress.increment()
  }

  /// Counts a request that was refused because its key has exceeded the rate limit.
  func keyLimited() {
    limitedByKey.increment()
  }

  /// Counts a request that was answered without the router, in addition to `count`.
  ///
  /// - Parameter isHeld: Whether it waited for the database.
  func countEarly(isHeld: Bool = false) {
    if isHeld { heldResponses.increment() } else { earlyResponses.increment() }
  }

  /// Counts a public read.
  func countRead(_ source: ReadSource) {
    reads[source]?.increment()
  }

  /// Counts a request that has the `Idempotency-Key` of an earlier one.
  func countRepetition(_ outcome: Repetition) {
    repetitions[outcome]?.increment()
  }

  /// Counts the bytes that a 304, or compression, has saved.
  func countSaved(_ content: Representation.Content) {
    guard let sent = content.sent else { return savedByNotModified.increment(by: Int64(content.plainBytes)) }
    savedByCompression.increment(by: Int64(max(0, content.plainBytes - sent.readableBytes)))
  }

  /// The totals of the public reads so far.
  var traffic: TrafficTotals {
    var totals = TrafficTotals(
      savedByNotModified: savedByNotModified.count, savedByCompression: savedByCompression.count)
    var bodies: [String: Int] = [:]
    for (key, instruments) in instruments.withLock({ $0 }) where APIPath.publicReads.contains(key.route) {
      let requests = instruments.requests.count
      totals.requests += requests
      // All statuses of a route and method share one counter of bytes.
      bodies["\(key.method) \(key.route)"] = instruments.bytes.count
      if APIPath.polled.contains(key.route) { totals.polls += requests }
      guard key.status == 304 else { continue }
      totals.notModified += requests
      if APIPath.polled.contains(key.route) { totals.unchangedPolls += requests }
    }
    totals.sentBytes = bodies.values.reduce(0, +)
    return totals
  }

  private func instruments(_ key: Key) -> Instruments {
    instruments.withLock { instruments in
      if let known = instruments[key] { return known }
      let place = [("route", key.route), ("method", key.method)]
      let new = Instruments(
        requests: registry.counter("tidings_http_requests_total", place + [("status", String(key.status))]),
        duration: Timer(label: "tidings_http_request_duration_seconds", dimensions: place, factory: registry),
        bytes: registry.counter("tidings_http_response_bytes_total", place))
      instruments[key] = new
      return new
    }
  }

  /// The methods that have a label of their own: those of RFC 9110 section 9, and PATCH. A client may send any other
  /// token as a method (section 9.1).
  private static let methods: Set<HTTPRequest.Method> = [
    .get, .head, .post, .put, .delete, .connect, .options, .trace, .patch,
  ]
}
