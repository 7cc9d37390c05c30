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
    fileprivate let request: ChangeRequest
    let longest: TimeAmount
  }

  struct Waiter {
    let eventLoop: any EventLoop
    let end: NIODeadline
    let release: @Sendable () -> Void
  }

  /// By target.
  typealias Waiting = Membership<String, ChangeRequest, Waiter>

  /// The targets whose answers are due: those in the making, and those behind them.
  private struct Queue {
    /// Both, so that none is made twice at a time.
    var known: Set<String> = []
    var next = CircularBuffer<String>()
    var workers = 0

    /// - Returns: How many workers to start.
    mutating func add(_ targets: [String]) -> Int {
      next.append(contentsOf: targets.filter { known.insert($0).inserted })
      let missing = min(LongPolls.width - workers, next.count)
      workers += missing
      return missing
    }

    /// - Parameter done: The target that a worker has dealt with.
    /// - Returns: The next one; nil ends the worker.
    mutating func next(after done: String?) -> String? {
      if let done { known.remove(done) }
      if next.isEmpty {
        workers -= 1
        return nil
      }
      return next.removeFirst()
    }
  }

  private let views: Views
  private let waiting = Mutex(Waiting())
  private let queue = Mutex(Queue())
  /// How many waited when the server was told to end; nil before.
  private let leaving = Mutex<Int?>(nil)
  /// The maximum number of answers in the making at a time.
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
      let seconds = request.wait, isCurrent(request)
    else { return nil }
    return Wait(target: head.uri, request: request, longest: .seconds(Int64(seconds)))
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
    let ticket = waiting.withLock { $0.add(waiter, to: wait.target, subject: wait.request) }
    // The state is updated before groups are read, so no change is missed.
    guard !isCurrent(wait.request) else { return ticket }
    remove(ticket)
    return nil
  }

  func remove(_ ticket: Waiting.Ticket) { waiting.withLock { $0.remove(ticket) } }

  /// Answers requests once there is something new, until the task is cancelled. A request stays in its group until its
  /// answer is in memory, so that its own deadline and the end of its connection count all the time.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.watchTheClock() }
      for await state in views.store.states() {
        let due = waiting.withLock { $0.groups.filter { !state.isNewest($0.value.subject) }.map(\.key) }
        for _ in 0..<queue.withLock({ $0.add(due) }) { group.addTask { await self.work() } }
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

  private func work() async {
    var target: String?
    while let next = queue.withLock({ $0.next(after: target) }) {
      await wake(next)
      target = next
    }
  }

  private func wake(_ target: String) async {
    // All may have left while others were answered.
    guard let request = waiting.withLock({ $0.groups[target]?.subject }) else { return }
    // The answer is made once; the requests then find it in memory.
    _ = try? await views.changes(request, for: target)
    let group = waiting.withLock { $0.take(target) }
    for waiter in (group?.members ?? [:]).values {
      waiter.eventLoop.execute(waiter.release)
    }
  }

  private func isCurrent(_ request: ChangeRequest) -> Bool { views.store.remembered?.isNewest(request) ?? false }
}

extension VersionState {
  /// Whether there is nothing after the token of a request, and the state it asks for has been reached.
  fileprivate func isNewest(_ request: ChangeRequest) -> Bool {
    guard let since = request.query.since else { return false }
    return isNewest(since, in: request.query.scope) && (request.at.map { hasReached($0) } ?? true)
  }
}
