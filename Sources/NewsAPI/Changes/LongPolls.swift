import HTTPEdge
import NIOCore
import NIOHTTP1
import News
import NewsStore
import Synchronization

/// The long polls: requests for changes that wait for the next one. Each is held before the router until its scope has
/// changed or its time is over, and is then answered like any other. A waiting request has no task, and takes the memory
/// of its head only.
final class LongPolls: Sendable {
  /// The wait of a request.
  struct Wait: EarlyWait {
    fileprivate let polls: LongPolls
    /// The target of the request. Requests with the same target are checked once, and share one response.
    fileprivate let target: String
    fileprivate let request: ChangeRequest
    fileprivate let timeout: TimeAmount

    func start(
      on eventLoop: any EventLoop, release: @escaping @Sendable (StoredResponse?) -> Void
    ) -> (@Sendable () -> Void)? {
      let release: @Sendable () -> Void = { release(nil) }
      let waiter = Waiter(eventLoop: eventLoop, deadline: eventLoop.now + timeout, release: release)
      guard let ticket = polls.add(waiter, for: self) else { return nil }
      return { [polls] in polls.remove(ticket) }
    }
  }

  struct Waiter {
    let eventLoop: any EventLoop
    let deadline: NIODeadline
    let release: @Sendable () -> Void
  }

  /// The poll interval for clients that have waited, while the server shuts down. It is random, so that clients turn to
  /// another server at a rate of 500 a second.
  final class ShutdownDelay: Sendable {
    /// The number of waiters when the shutdown began; nil before.
    private let clients = Mutex<Int?>(nil)

    /// The interval in seconds; nil before the shutdown.
    var seconds: Int? { clients.withLock { $0 }.map { Int.random(in: 1...max(5, $0 / 500)) } }

    fileprivate func begin(clients count: Int) { clients.withLock { $0 = $0 ?? count } }
  }

  /// The waiters by target.
  typealias Waiting = SubscriberGroups<String, ChangeRequest, Waiter>

  /// The targets whose responses are due.
  private struct Queue {
    /// The targets that are being loaded or are in the queue, so that none is loaded twice at a time.
    var known: Set<String> = []
    var next = CircularBuffer<String>()
    var workers = 0

    /// - Returns: The number of workers to start.
    mutating func add(_ targets: [String]) -> Int {
      next.append(contentsOf: targets.filter { known.insert($0).inserted })
      let missing = min(LongPolls.maximumWorkers - workers, next.count)
      workers += missing
      return missing
    }

    /// - Parameter done: The target that the worker has finished.
    /// - Returns: The next target; nil ends the worker.
    mutating func next(after done: String?) -> String? {
      if let done { known.remove(done) }
      if next.isEmpty {
        workers -= 1
        return nil
      }
      return next.removeFirst()
    }
  }

  private let reads: PublicReads
  private let shutdownDelay: ShutdownDelay
  private let waiting = Mutex(Waiting())
  private let queue = Mutex(Queue())
  /// The maximum number of responses that are loaded at a time.
  private static let maximumWorkers = 4

  init(reads: PublicReads, shutdownDelay: ShutdownDelay) {
    self.reads = reads
    self.shutdownDelay = shutdownDelay
  }

  /// The number of waiting requests.
  var count: Int { waiting.withLock { $0.count } }

  /// The server shuts down. Later calls have no effect.
  @Sendable func beginShutdown() { shutdownDelay.begin(clients: count) }

  /// Returns the wait of a request for changes; nil to answer it at once, because it does not ask to wait, there are
  /// changes already, or it is malformed.
  @Sendable func deferral(of head: HTTPRequestHead) -> EarlyDeferral? {
    guard head.method == .GET || head.method == .HEAD, Self.mayAskToWait(head.uri),
      !head.headers.contains(name: "content-length"), !head.headers.contains(name: "transfer-encoding"),
      head.refusal == nil,
      let request = try? ChangeRequest(head.query),
      let seconds = request.wait, isCurrent(request)
    else { return nil }
    return .wait(Wait(polls: self, target: head.uri, request: request, timeout: .seconds(Int64(seconds))))
  }

  /// Whether a target may have the parameter `wait`. Every request for changes is checked, and a string search would take
  /// as long as the rest of its processing.
  private static func mayAskToWait(_ target: String) -> Bool {
    var rest = target.utf8[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "w")) {
      rest = rest[start...]
      if rest.starts(with: "wait=".utf8) { return true }
      rest = rest.dropFirst()
    }
    return false
  }

  /// Adds a waiter, which is released once there are changes, or its time is over.
  ///
  /// - Returns: nil if there are changes already.
  private func add(_ waiter: Waiter, for wait: Wait) -> Waiting.Ticket? {
    let ticket = waiting.withLock { $0.add(waiter, to: wait.target, subject: wait.request) }
    // The state is updated before groups are read, so no change is missed.
    guard !isCurrent(wait.request) else { return ticket }
    remove(ticket)
    return nil
  }

  private func remove(_ ticket: Waiting.Ticket) { waiting.withLock { $0.remove(ticket) } }

  /// Releases waiters once there are changes, until the task is cancelled. A waiter stays in its group until its response
  /// is in memory, so that its deadline and the end of its connection still apply.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.releaseAtDeadlines() }
      for await state in reads.store.states() {
        let due = waiting.withLock { $0.groups.filter { !state.isNewest($0.value.subject) }.map(\.key) }
        for _ in 0..<queue.withLock({ $0.add(due) }) { group.addTask { await self.work() } }
      }
    }
  }

  /// Releases waiters whose time is over. All share one timer: one for each would double the memory of a waiter.
  private func releaseAtDeadlines() async {
    while (try? await Task.sleep(for: .milliseconds(100))) != nil {
      let now = NIODeadline.now()
      let due = waiting.withLock { $0.groups.values.flatMap { $0.members.values.filter { $0.deadline <= now } } }
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
    // All waiters may have left while other targets were loaded.
    guard let request = waiting.withLock({ $0.groups[target]?.subject }) else { return }
    // The response is loaded once; the requests then find it in memory.
    try? await reads.prepare(PublicRead(request))
    let group = waiting.withLock { $0.take(target) }
    for waiter in (group?.members ?? [:]).values {
      waiter.eventLoop.execute(waiter.release)
    }
  }

  private func isCurrent(_ request: ChangeRequest) -> Bool { reads.store.cachedSnapshot?.isNewest(request) ?? false }
}

extension FeedSnapshot {
  /// Whether there are no changes after the token of a request, and the state that it requires has been reached.
  fileprivate func isNewest(_ request: ChangeRequest) -> Bool {
    guard let since = request.query.since else { return false }
    return isNewest(since, in: request.query.scope) && (request.at.map { hasReached($0) } ?? true)
  }
}
