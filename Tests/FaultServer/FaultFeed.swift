public import Foundation
public import News
import Synchronization

/// An in-memory model of the API that behaves correctly until faults are added.
///
/// It serves `/v1/items` (without cursors: a page has no next page), `/v1/changes`, `/v1/state` and `/v1/events`.
/// Unlike the server it accepts every topic. It does not wait for a version in `at` that it has not reached (503 at
/// once), and it ignores `wait`.
public final class FaultFeed: Sendable {
  struct Listener {
    let scope: Scope
    let stream: FaultStream
    /// An event that is sent after the next one.
    var held: String?
  }

  struct State {
    var snapshot: FeedSnapshot
    var epochs = 1
    var published = 0
    var faults: [(path: String?, fault: FeedFault)] = []
    var listeners: [Listener] = []
    var pollInterval: Int?
    var compresses = true
    var eventOrder = EventOrder.faithful
    var cacheControl = "max-age=0, s-maxage=1, stale-while-revalidate=9, stale-if-error=300"
  }

  let state: Mutex<State>
  let now: @Sendable () -> Date

  /// Creates a feed without items.
  ///
  /// - Parameter now: The clock for `updated`, `Last-Modified` and `Date`.
  public init(now: @escaping @Sendable () -> Date = { Date() }) {
    self.now = now
    state = Mutex(State(snapshot: FeedSnapshot(epoch: Self.epoch(1))))
  }

  private static func epoch(_ number: Int) -> String {
    let digits = String(number, radix: 36)
    return "f" + String(repeating: "0", count: 5 - digits.count) + digits
  }

  /// The current state, for a later ``FeedFault/stale(_:)`` or ``restore(_:)``.
  public var snapshot: FeedSnapshot { state.withLock { $0.snapshot } }

  /// The current items, newest first.
  public var items: [NewsItem] { FeedResponses.newestFirst(snapshot.items.values) }

  /// Returns the current token of the given topics, or of the feed if there are none.
  public func token(topics: [String] = []) -> SyncToken { snapshot.token(of: Scope(topics: topics)) }

  /// The `X-Poll-Interval` of responses in seconds; nil to omit it.
  public var pollInterval: Int? {
    get { state.withLock { $0.pollInterval } }
    set { state.withLock { $0.pollInterval = newValue } }
  }

  /// The `Cache-Control` of responses with status 200 and 304.
  public var cacheControl: String {
    get { state.withLock { $0.cacheControl } }
    set { state.withLock { $0.cacheControl = newValue } }
  }

  /// Whether bodies of 1 KiB or more are compressed for clients that accept gzip; true initially.
  public var compresses: Bool {
    get { state.withLock { $0.compresses } }
    set { state.withLock { $0.compresses = newValue } }
  }

  /// The order in which event streams send events.
  public var eventOrder: EventOrder {
    get { state.withLock { $0.eventOrder } }
    set { state.withLock { $0.eventOrder = newValue } }
  }
}

extension FaultFeed {
  /// Publishes an item. Its id and default date depend on the number of items published before.
  ///
  /// - Parameter date: The date; nil for one second after the previous default date, beginning in 2026.
  @discardableResult
  public func publish(_ text: String, date: Date? = nil, topics: [String] = [], title: String? = nil) -> NewsItem {
    let number = state.withLock { state in
      state.published += 1
      return state.published
    }
    // The number of published items always fits into twelve hexadecimal digits.
    let digits = String(number, radix: 16)
    let id = UUID(uuidString: "00000000-0000-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits)
    let date = date ?? Date(timeIntervalSince1970: 1_767_225_600 + Double(number))
    let item = NewsItem(
      id: id ?? UUID(), version: 0, date: date, text: text, title: title, topics: topics, updated: date)
    return publish([item])[0]
  }

  /// Publishes new items and changes existing ones, in one step: event streams send one event.
  ///
  /// - Returns: The items with their versions.
  @discardableResult
  public func publish(_ items: [NewsItem]) -> [NewsItem] {
    change { snapshot in items.map { snapshot.publish($0, at: now()) } }
  }

  /// Removes an item.
  public func retract(_ id: UUID, reason: RemovalReason = .retracted) {
    change { snapshot in snapshot.remove(id, reason, at: now()) }
  }

  /// Purges the history before the current version, so that older tokens expire.
  public func expireTokens() { change { $0.floor = $0.version + 1 } }

  /// Begins a new epoch. Tokens of the current epoch stay valid if the history is kept, as after a promotion; otherwise
  /// they are answered with 410.
  public func moveEpoch(keepingHistory: Bool) {
    let next = nextEpoch()
    change { $0.begin(epoch: next, keepingHistory: keepingHistory) }
  }

  /// Returns to an earlier state in a new epoch, as after a restore. Tokens up to that state stay valid.
  public func restore(_ earlier: FeedSnapshot) {
    let next = nextEpoch()
    change { snapshot in
      snapshot = earlier
      snapshot.begin(epoch: next, keepingHistory: true)
    }
  }

  private func nextEpoch() -> String {
    state.withLock { state in
      state.epochs += 1
      return Self.epoch(state.epochs)
    }
  }

  private func change<Result>(_ change: (inout FeedSnapshot) -> Result) -> Result {
    state.withLock { state in
      let before = state.snapshot
      let result = change(&state.snapshot)
      state.sendChanges(since: before)
      return result
    }
  }
}

extension FaultFeed {
  /// Adds a fault for the next responses; faults that were added earlier come first.
  ///
  /// - Parameters:
  ///   - times: The number of responses.
  ///   - path: The path of the affected responses, such as `/v1/changes`; nil for any.
  public func fault(next fault: FeedFault, times: Int = 1, path: String? = nil) {
    state.withLock { $0.faults += Array(repeating: (path, fault), count: times) }
  }

  /// The number of unused faults.
  public var faultsLeft: Int { state.withLock { $0.faults.count } }

  /// Removes the unused faults.
  public func removeFaults() { state.withLock { $0.faults = [] } }

  /// Answers a request, with the next fault for its path: `FaultServer.start(handler: feed.respond)`.
  @Sendable public func respond(_ request: FaultRequest) -> FaultResponse {
    state.withLock { state in
      let index = state.faults.firstIndex { $0.path == nil || $0.path == request.path }
      let fault = index.map { state.faults.remove(at: $0).fault }
      var responses = FeedResponses(snapshot: fault?.snapshot ?? state.snapshot, now: now())
      responses.pollInterval = state.pollInterval
      responses.cacheControl = state.cacheControl
      responses.compresses = state.compresses && fault?.needsPlainBody != true
      var (response, opening) = responses.respond(request)
      guard let opening else { return fault?.modify(response, request) ?? response }
      let stream = FaultStream()
      stream.send(Data(opening.text.utf8))
      response.stream = stream
      let modified = fault?.modify(response, request) ?? response
      // A fault may have replaced the stream.
      if modified.stream === stream { state.listeners.append(Listener(scope: opening.scope, stream: stream)) }
      return modified
    }
  }
}
