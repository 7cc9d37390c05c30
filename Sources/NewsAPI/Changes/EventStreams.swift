import Foundation
import HTTPEdge
import NIOCore
import NIOHTTP1
import News
import NewsStore
import Synchronization

/// The open streams of `/v1/events`. They are written on the event loops of their connections: a stream has no task.
final class EventStreams: Sendable {
  /// The start of a stream.
  struct Opening: Sendable {
    let scope: Scope
    /// The token up to which the client knows all changes; nil if it has none.
    let token: SyncToken?
    /// Whether the client has sent something that is not a token.
    let isMalformed: Bool
  }

  /// A new state, and the event for the streams that know all earlier changes.
  struct Update: Sendable {
    let state: FeedSnapshot
    fileprivate(set) var event: (after: Int, bytes: ByteBuffer)?
  }

  struct Listener {
    let eventLoop: any EventLoop
    let advance: @Sendable (Update) -> Void
    let sendHeartbeat: @Sendable () -> Void
  }

  /// The listeners by scope, with the version that most of them know.
  typealias Listeners = SubscriberGroups<Scope, Int, Listener>

  let metrics: APIMetrics
  private let store: NewsStore
  private let heartbeatInterval: Duration
  private let listeners = Mutex(Listeners())

  /// - Parameter heartbeatInterval: The interval of heartbeats. Proxies commonly close a silent connection after 60 s.
  init(store: NewsStore, heartbeatInterval: Duration, metrics: APIMetrics) {
    self.store = store
    self.heartbeatInterval = heartbeatInterval
    self.metrics = metrics
  }

  /// The number of open streams.
  var count: Int { listeners.withLock { $0.count } }

  /// The current state; nil while it is unknown.
  var state: FeedSnapshot? { store.cachedSnapshot }

  /// The time in milliseconds after which a client reconnects. It is random, so that clients return at a rate of 500 a
  /// second.
  var retryInterval: Int { 1000 + Int.random(in: 0...max(2000, 2 * count)) }

  /// Returns the stream that answers a request for events; nil to leave the request to the router.
  @Sendable func deferral(of head: HTTPRequestHead) -> EarlyDeferral? {
    guard head.method == .GET, head.refusal == nil, let request = try? EventRequest(head.query),
      state?.token(of: request.scope) != nil
    else { return nil }
    return .stream(EventStream(opening(head, request), streams: self))
  }

  private func opening(_ head: HTTPRequestHead, _ request: EventRequest) -> Opening {
    // The id of the last event is more recent than the token with which the client has begun.
    guard let last = head.headers.first(name: "last-event-id"), !last.isEmpty else {
      return Opening(scope: request.scope, token: request.since, isMalformed: false)
    }
    let token = SyncToken(last)
    return Opening(scope: request.scope, token: token, isMalformed: token == nil)
  }

  func add(_ listener: Listener, in scope: Scope, after version: Int) -> Listeners.Ticket {
    listeners.withLock { $0.add(listener, to: scope, subject: version) }
  }

  func remove(_ ticket: Listeners.Ticket) { listeners.withLock { $0.remove(ticket) } }

  /// Sends changes and heartbeats to the streams until the task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask {
        for await state in self.store.states() { self.advance(to: state) }
      }
      group.addTask {
        while (try? await Task.sleep(for: self.heartbeatInterval)) != nil {
          let groups = self.listeners.withLock { $0.groups }
          for listener in groups.values.lazy.flatMap(\.members.values) {
            listener.eventLoop.execute(listener.sendHeartbeat)
          }
        }
      }
    }
  }

  private func advance(to state: FeedSnapshot) {
    let groups = listeners.withLock { listeners in
      defer { listeners.setSubjects(state.feedVersion.version) }
      return listeners.groups
    }
    for (scope, group) in groups {
      var update = Update(state: state)
      if let event = state.event(in: scope, after: group.subject) { update.event = (group.subject, event.serverSent) }
      for listener in group.members.values { listener.eventLoop.execute { [update] in listener.advance(update) } }
    }
  }
}

/// The parameters of a request for `/v1/events`.
struct EventRequest {
  var scope: Scope
  /// The token up to which the client knows all changes.
  var since: SyncToken?

  /// - Parameter query: The text after the question mark of the target.
  /// - Throws: `ProblemError` that names the parameter and the rule.
  init(_ query: String?) throws {
    var parameters = QueryParameters(query, known: ["topics", "since"])
    scope = parameters.scope()
    since = parameters.token("since")
    try parameters.check()
  }
}

extension ChangeEvent {
  /// The event in the format of a stream (HTML standard, section 9.2.6).
  var serverSent: ByteBuffer {
    var json = JSONWriter()
    json.write(self)
    var bytes = ByteBuffer(string: "id: \(token)\ndata: ")
    bytes.writeBytes(json.bytes)
    bytes.writeString("\n\n")
    return bytes
  }
}
