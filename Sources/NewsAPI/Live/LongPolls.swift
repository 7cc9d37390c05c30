import NIOCore
import NIOHTTP1
import News
import NewsStore
import Synchronization

/// The requests that wait for something new. Each is held before the router until its scope has changed or its time is
/// over, and is then answered like any other: to wait costs no task, and nothing but the head of the request.
final class LongPolls: Sendable {
  /// A request that may wait.
  struct Wait {
    /// Requests for the same are woken by one look, and get one answer.
    let target: String
    fileprivate let query: ChangeQuery
    let longest: TimeAmount
  }

  struct Waiter {
    let eventLoop: any EventLoop
    let end: NIODeadline
    let release: @Sendable () -> Void
  }

  /// By target.
  typealias Waiting = Membership<String, ChangeQuery, Waiter>

  private let views: Views
  private let waiting = Mutex(Waiting())
  /// How many waited when the server was told to end; nil before.
  private let leaving = Mutex<Int?>(nil)
  /// How many answers for those who wait are in the making at a time.
  private static let width = 4

  init(views: Views) {
    self.views = views
  }

  /// How many wait.
  var count: Int { waiting.withLock { $0.count } }

  /// After how many seconds somebody should come again who has waited; nil for at once. When the server ends that is
  /// another time for each, so that not all come at once to where else they go: 500 a second.
  var hint: Int? {
    leaving.withLock { $0 }.map { Int.random(in: 1...max(5, $0 / 500)) }
  }

  /// The server is about to end.
  func leave() {
    let count = count
    leaving.withLock { $0 = $0 ?? count }
  }

  /// nil for a request that is to be answered at once, because it does not want to wait, there is something new, or
  /// something is wrong with it.
  func wait(for head: HTTPRequestHead) -> Wait? {
    guard head.method == .GET || head.method == .HEAD, head.uri.hasPrefix("/v1/changes?"), Self.mayAskToWait(head.uri),
      !head.headers.contains(name: "content-length"), !head.headers.contains(name: "transfer-encoding"),
      head.refusal == nil,
      let request = try? ChangeRequest(head.query),
      let seconds = request.wait, isCurrent(request.query)
    else { return nil }
    return Wait(target: head.uri, query: request.query, longest: .seconds(Int64(seconds)))
  }

  /// Every request for changes comes by here, and a search for a string would take as long as all else that is done for
  /// it.
  private static func mayAskToWait(_ target: String) -> Bool {
    var rest = target.utf8[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "w")) {
      rest = rest[start...]
      if rest.starts(with: "wait=".utf8) { return true }
      rest = rest.dropFirst()
    }
    return false
  }

  /// Calls `release` on the event loop once there is something new, or the time is over.
  ///
  /// - Returns: nil if there is already.
  func add(_ wait: Wait, on eventLoop: any EventLoop, release: @escaping @Sendable () -> Void) -> Waiting.Ticket? {
    let waiter = Waiter(eventLoop: eventLoop, end: eventLoop.now + wait.longest, release: release)
    let ticket = waiting.withLock { $0.add(waiter, to: wait.target, subject: wait.query) }
    // Whoever brings something new looks at the groups after it has become the present, so it is seen there or here.
    guard !isCurrent(wait.query) else { return ticket }
    remove(ticket)
    return nil
  }

  func remove(_ ticket: Waiting.Ticket) { waiting.withLock { $0.remove(ticket) } }

  /// Wakes those who wait, until the task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.watchTheClock() }
      for await state in views.store.states() {
        let rooms = Array(waiting.withLock { $0.take { !state.isNewest($0) } })
        for first in 0..<min(rooms.count, Self.width) {
          group.addTask {
            for index in stride(from: first, to: rooms.count, by: Self.width) {
              await self.wake(rooms[index].value, rooms[index].key)
            }
          }
        }
      }
    }
  }

  /// One clock for all: a timer for each would take as much memory as the rest of what waits.
  private func watchTheClock() async {
    while (try? await Task.sleep(for: .milliseconds(100))) != nil {
      let now = NIODeadline.now()
      let due = waiting.withLock { $0.groups.values.flatMap { $0.members.values.filter { $0.end <= now } } }
      for waiter in due { waiter.eventLoop.execute(waiter.release) }
    }
  }

  private func wake(_ room: Waiting.Group, _ target: String) async {
    // One makes the answer; the others then find it in memory.
    _ = try? await views.changes(room.subject, isLongPoll: true, for: target)
    for waiter in room.members.values { waiter.eventLoop.execute(waiter.release) }
  }

  private func isCurrent(_ query: ChangeQuery) -> Bool { views.store.remembered?.isNewest(query) ?? false }
}

extension VersionState {
  /// Whether there is nothing after the token of a query, and the state it asks for has been reached.
  fileprivate func isNewest(_ query: ChangeQuery) -> Bool {
    guard let since = query.since else { return false }
    return isNewest(since, in: query.scope) && (query.at.map { hasReached($0) } ?? true)
  }
}
