import Foundation
import NIOCore
import NIOHTTP1
import News
import NewsStore
import Synchronization

/// The event streams of `/v1/events`. They are written by a handler of their connection: a stream costs no task.
final class EventStreams: Sendable {
  /// What a new stream begins with.
  struct Opening {
    let scope: Scope
    /// What the client has; nil if it has not said.
    let token: SyncToken?
    /// Whether what it has said is no token.
    let isMalformed: Bool
  }

  /// What all streams of a scope are told that have been told everything before.
  struct News: Sendable {
    let state: VersionState
    fileprivate(set) var event: (after: Int, bytes: ByteBuffer)?
  }

  struct Stream {
    let eventLoop: any EventLoop
    let advance: @Sendable (News) -> Void
    let beat: @Sendable () -> Void
  }

  /// By scope, with the version that most have been told.
  typealias Listening = Membership<Scope, Int, Stream>

  let metrics: APIMetrics
  private let store: NewsStore
  private let heartbeat: Duration
  private let listening = Mutex(Listening())

  /// - Parameter heartbeat: How often something is sent though there is nothing to say. Proxies commonly give up after
  ///   60 s.
  init(store: NewsStore, heartbeat: Duration, metrics: APIMetrics) {
    self.store = store
    self.heartbeat = heartbeat
    self.metrics = metrics
  }

  /// How many there are.
  var count: Int { listening.withLock { $0.count } }

  /// The present; nil while that is not known.
  var present: VersionState? { store.remembered }

  /// After how many milliseconds a client should come again, which is another time for each, so that not all come at
  /// once: 500 a second.
  var retry: Int { 1000 + Int.random(in: 0...max(2000, 2 * count)) }

  /// nil for a request that is for the router to judge.
  func opening(_ head: HTTPRequestHead) -> Opening? {
    guard head.method == .GET, head.uri == "/v1/events" || head.uri.hasPrefix("/v1/events?"), head.refusal == nil,
      let request = try? EventRequest(head.query), present?.token(of: request.scope) != nil
    else { return nil }
    // What a client was last told counts more than what it once began with.
    guard let last = head.headers.first(name: "last-event-id"), !last.isEmpty else {
      return Opening(scope: request.scope, token: request.since, isMalformed: false)
    }
    let token = SyncToken(last)
    return Opening(scope: request.scope, token: token, isMalformed: token == nil)
  }

  func add(_ stream: Stream, in scope: Scope, after version: Int) -> Listening.Ticket {
    listening.withLock { $0.add(stream, to: scope, subject: version) }
  }

  func remove(_ ticket: Listening.Ticket) { listening.withLock { $0.remove(ticket) } }

  /// Tells the streams what is new, and that they live, until the task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask {
        for await state in self.store.states() { self.advance(to: state) }
      }
      group.addTask {
        while (try? await Task.sleep(for: self.heartbeat)) != nil {
          let groups = self.listening.withLock { $0.groups }
          for stream in groups.values.lazy.flatMap(\.members.values) { stream.eventLoop.execute(stream.beat) }
        }
      }
    }
  }

  private func advance(to state: VersionState) {
    let groups = listening.withLock { listening in
      defer { listening.setSubjects(state.moment.version) }
      return listening.groups
    }
    for (scope, group) in groups {
      var news = News(state: state)
      if let event = state.event(in: scope, after: group.subject) { news.event = (group.subject, event.serverSent) }
      for stream in group.members.values { stream.eventLoop.execute { [news] in stream.advance(news) } }
    }
  }
}

/// What `/v1/events` is asked for.
struct EventRequest {
  var scope: Scope
  /// What the client has.
  var since: SyncToken?

  /// - Parameter query: As it stands in the target of the request.
  /// - Throws: `ProblemError` that names what is wrong.
  init(_ query: String?) throws {
    var parameters = QueryParameters(query, known: ["topics", "since"])
    scope = parameters.scope()
    since = parameters.token("since")
    try parameters.check()
  }
}

extension ChangeEvent {
  /// As an event of a stream (HTML standard, section 9.2.6).
  var serverSent: ByteBuffer {
    // It has nothing that could not be encoded.
    let data = (try? NewsJSON.encode(self)) ?? .init()
    return ByteBuffer(string: "id: \(token)\ndata: \(String(decoding: data, as: UTF8.self))\n\n")
  }
}
