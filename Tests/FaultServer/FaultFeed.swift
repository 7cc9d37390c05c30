public import Foundation
public import News
import Synchronization

/// An honest model of the API in memory, in front of which faults can be put.
///
/// It knows `/v1/items` (without cursors: a page has no next one), `/v1/changes`, `/v1/state` and `/v1/events`. Unlike
/// the server it knows every topic, does not wait for a version of `at` that is not there (503 at once), nor for news
/// where a request says `wait`.
public final class FaultFeed: Sendable {
  struct Listener {
    let scope: Scope
    let stream: FaultStream
    /// An event that is sent behind the next.
    var held: String?
  }

  struct State {
    var moment: FeedMoment
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

  /// A feed without items.
  ///
  /// - Parameter now: The clock of `updated`, `Last-Modified` and `Date`.
  public init(now: @escaping @Sendable () -> Date = { Date() }) {
    self.now = now
    state = Mutex(State(moment: FeedMoment(epoch: Self.epoch(1))))
  }

  private static func epoch(_ number: Int) -> String {
    let digits = String(number, radix: 36)
    return "f" + String(repeating: "0", count: 5 - digits.count) + digits
  }

  /// The state to come back to, with ``FeedFault/stale(_:)`` or ``restore(_:)``.
  public var moment: FeedMoment { state.withLock { $0.moment } }

  /// The items as they are, newest first.
  public var items: [NewsItem] { FeedAnswers.newestFirst(moment.items.values) }

  /// The current token of some topics, or of the feed.
  public func token(topics: [String] = []) -> SyncToken { moment.token(of: Scope(topics: topics)) }

  /// The `X-Poll-Interval` of answers; nil for none.
  public var pollInterval: Int? {
    get { state.withLock { $0.pollInterval } }
    set { state.withLock { $0.pollInterval = newValue } }
  }

  /// The `Cache-Control` of answers with status 200 and 304.
  public var cacheControl: String {
    get { state.withLock { $0.cacheControl } }
    set { state.withLock { $0.cacheControl = newValue } }
  }

  /// Whether bodies from 1 KiB are compressed for clients that accept gzip, as they are at first.
  public var compresses: Bool {
    get { state.withLock { $0.compresses } }
    set { state.withLock { $0.compresses = newValue } }
  }

  /// In which order event streams tell what happens.
  public var eventOrder: EventOrder {
    get { state.withLock { $0.eventOrder } }
    set { state.withLock { $0.eventOrder = newValue } }
  }
}

extension FaultFeed {
  /// Publishes an item, whose id and date follow from how many there were before.
  ///
  /// - Parameter date: nil for a second later than the one before it, from 2026 on.
  @discardableResult
  public func publish(_ text: String, date: Date? = nil, topics: [String] = [], title: String? = nil) -> NewsItem {
    let number = state.withLock { state in
      state.published += 1
      return state.published
    }
    // Twelve digits of hexadecimal always fit.
    let digits = String(number, radix: 16)
    let id = UUID(uuidString: "00000000-0000-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits)
    let date = date ?? Date(timeIntervalSince1970: 1_767_225_600 + Double(number))
    let item = NewsItem(
      id: id ?? UUID(), version: 0, date: date, text: text, title: title, topics: topics, updated: date)
    return publish([item])[0]
  }

  /// Publishes items, or changes those whose ids it has, at one go: event streams hear of it once.
  ///
  /// - Returns: The items with their versions.
  @discardableResult
  public func publish(_ items: [NewsItem]) -> [NewsItem] {
    change { moment in items.map { moment.publish($0, at: now()) } }
  }

  /// Takes an item back.
  public func retract(_ id: UUID, reason: RemovalReason = .retracted) {
    change { moment in moment.remove(id, reason, at: now()) }
  }

  /// Purges what is needed to go on from tokens before the present.
  public func expireTokens() { change { $0.floor = $0.version + 1 } }

  /// Begins another history. Tokens of the present one stay good if it is kept, as after a promotion, and are 410
  /// otherwise.
  public func moveEpoch(keepingHistory: Bool) {
    let next = nextEpoch()
    change { $0.begin(epoch: next, keepingHistory: keepingHistory) }
  }

  /// Goes back to an earlier state in another history, as after a restore: tokens from then and before stay good.
  public func restore(_ earlier: FeedMoment) {
    let next = nextEpoch()
    change { moment in
      moment = earlier
      moment.begin(epoch: next, keepingHistory: true)
    }
  }

  private func nextEpoch() -> String {
    state.withLock { state in
      state.epochs += 1
      return Self.epoch(state.epochs)
    }
  }

  private func change<Result>(_ change: (inout FeedMoment) -> Result) -> Result {
    state.withLock { state in
      let before = state.moment
      let result = change(&state.moment)
      state.tell(since: before)
      return result
    }
  }
}

extension FaultFeed {
  /// Spoils the next answers with one fault, before those that were asked for later.
  ///
  /// - Parameters:
  ///   - times: How many answers.
  ///   - path: Only answers to this path, such as `/v1/changes`; nil for any.
  public func fault(next fault: FeedFault, times: Int = 1, path: String? = nil) {
    state.withLock { $0.faults += Array(repeating: (path, fault), count: times) }
  }

  /// How many faults have not been used.
  public var faultsLeft: Int { state.withLock { $0.faults.count } }

  /// Forgets the faults that have not been used.
  public func heal() { state.withLock { $0.faults = [] } }

  /// Answers a request, with the next fault that is for its path: `FaultServer.start(handler: feed.answer)`.
  @Sendable public func answer(_ request: FaultRequest) -> FaultAnswer {
    state.withLock { state in
      let index = state.faults.firstIndex { $0.path == nil || $0.path == request.path }
      let fault = index.map { state.faults.remove(at: $0).fault }
      var answers = FeedAnswers(moment: fault?.moment ?? state.moment, now: now())
      answers.pollInterval = state.pollInterval
      answers.cacheControl = state.cacheControl
      answers.compresses = state.compresses && fault?.needsPlainBody != true
      var (answer, opening) = answers.answer(request)
      guard let opening else { return fault?.spoil(answer, request) ?? answer }
      let stream = FaultStream()
      stream.send(Data(opening.text.utf8))
      answer.stream = stream
      let spoilt = fault?.spoil(answer, request) ?? answer
      // A fault may have put something else in the place of the stream.
      if spoilt.stream === stream { state.listeners.append(Listener(scope: opening.scope, stream: stream)) }
      return spoilt
    }
  }
}
