import Foundation
import Synchronization

/// The threads on which the server computes whatever may take long: the content of requests and of feeds, and the pages and
/// documents made of it.
///
/// Swift's tasks, event loops and PostgreSQL's sockets each have a few threads, which all requests share. What a
/// stranger, a key or a feed sends must not occupy them for long. The threads of a pool are its own, and nothing else
/// waits for them. They begin with the first job, and end with the last one. From its first long job on, a thread has a lower
/// priority than all others.
///
/// The number of threads, the number of waiting jobs and their wait are limited. `ComputeQueue` shares the threads
/// fairly. A job that has begun is not interrupted, so a long piece of work is divided: `slices` makes jobs of about
/// 10 ms.
///
///     let html = try await ComputePool.shared.run(.editing, for: key.id, bytes: source.utf8.count) {
///       SafeHTML(source, base: nil).html
///     }
package final class ComputePool: Sendable {
  /// The threads of this process, as many as there are processors and at least two.
  package static let shared = ComputePool(threads: max(2, ProcessInfo.processInfo.activeProcessorCount))

  /// The size in bytes of a request, feed or document up to which it is worked on at once, by the task that has it: that
  /// takes a few milliseconds at most, and a change of threads would delay it for nothing.
  package static let smallBytes = 8192

  /// The size above which a job takes long, tens of milliseconds. Such jobs of all owners together leave a thread to the
  /// shorter ones. An article has some ten thousand bytes.
  package static let longBytes = 65_536

  /// The time after which a job of `slices` ends, so that other jobs have their turn.
  package static let sliceTime: Duration = .milliseconds(10)

  /// How much lower the priority of threads with long jobs is, as for nice(1).
  private static let niceness: Int32 = 5

  private struct State {
    var queue: ComputeQueue
    var lastNumber = 0
    var refused = 0
  }

  private let state: Mutex<State>

  /// - Parameter threads: The maximum number of threads, 2 or more.
  package init(threads: Int) {
    state = Mutex(State(queue: ComputeQueue(threads: threads)))
  }

  /// The number of jobs that run, that wait, and that were refused so far because the queue was full or took too long.
  package var usage: (running: Int, waiting: Int, refused: Int) {
    state.withLock { ($0.queue.running, $0.queue.waiting, $0.refused) }
  }

  /// Runs a function on a thread of the pool.
  ///
  /// - Parameters:
  ///   - owner: The key, the feed, or whatever else causes the work. Owners share the threads equally.
  ///   - bytes: The size of the whole request, feed or document; nil if unknown. Up to `smallBytes`, the function runs
  ///     at once, on the thread of the caller.
  /// - Throws: `StoreError.unavailable` if the queue is full or the wait is too long, `CancellationError` if the caller is
  ///   cancelled in the queue, and the errors of the function.
  package func run<Value: Sendable>(
    _ kind: ComputeKind, for owner: String = "", bytes: Int? = nil, _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await run(kind, for: owner, bytes: bytes, isLong: kind.confinesLongJobs && bytes ?? 0 > Self.longBytes, work)
  }

  private func run<Value: Sendable>(
    _ kind: ComputeKind, for owner: String, bytes: Int?, isLong: Bool, _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    if let bytes, bytes <= Self.smallBytes { return try work() }
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    return try await Deadlines.shared.wait(atMost: kind.timeout) { error in
      self.remove(number, kind, owner, throwing: error)
    } begin: { continuation in
      add(
        ComputeQueue.Job(number, kind, owner: owner, isLong: isLong, refuse: { continuation.resume(throwing: $0) }) {
          continuation.resume(with: Result(catching: work))
        })
    }
  }

  /// Works on elements in order, in jobs of about `sliceTime`.
  ///
  /// - Parameters:
  ///   - bytes: The size of all that the elements are from.
  ///   - work: Returns the result of an element.
  /// - Throws: The errors of `run`.
  package func slices<Element: Sendable, Value: Sendable>(
    _ kind: ComputeKind, for owner: String = "", bytes: Int? = nil, _ elements: [Element],
    _ work: @escaping @Sendable (Element) throws -> Value
  ) async throws -> [Value] {
    // A single element may take longer than a slice.
    let isLong = kind.confinesLongJobs && (bytes ?? 0) / max(1, elements.count) > Self.longBytes
    var values: [Value] = []
    values.reserveCapacity(elements.count)
    while values.count < elements.count {
      let done = values.count
      values += try await run(kind, for: owner, bytes: bytes, isLong: isLong) {
        let began = ContinuousClock.now
        var slice: [Value] = []
        repeat {
          slice.append(try work(elements[done + slice.count]))
        } while done + slice.count < elements.count && .now - began < Self.sliceTime
        return slice
      }
    }
    return values
  }

  private func add(_ job: ComputeQueue.Job) {
    let (refused, next) = state.withLock { state in
      let refused = state.queue.insert(job)
      if refused != nil { state.refused += 1 }
      return (refused, state.queue.next())
    }
    refused?.refuse(StoreError.unavailable)
    guard let next else { return }
    // A new thread: on Linux, Swift's tasks run on the threads of Dispatch's global queues.
    Thread.detachNewThread { self.work(next) }
  }

  private func remove(_ number: Int, _ kind: ComputeKind, _ owner: String, throwing error: any Error) {
    let job = state.withLock { state in
      let job = state.queue.remove(number, kind, owner: owner)
      if job != nil, error is StoreError { state.refused += 1 }
      return job
    }
    job?.refuse(error)
  }

  /// Runs jobs until none is left for this thread.
  private func work(_ first: ComputeQueue.Job) {
    Thread.setName("tidings.compute")
    var (job, hasLowPriority) = (Optional(first), false)
    while let current = job {
      // A thread without privileges cannot raise its priority again, and a new one inherits it.
      if current.isConfined, !hasLowPriority { hasLowPriority = Thread.lowerPriority(by: Self.niceness) }
      let began = Self.processorTime
      current.perform()
      let time = Self.processorTime - began
      job = state.withLock { state in
        state.queue.finish(current, after: time)
        return state.queue.next()
      }
    }
  }

  /// The processor time that this thread has used.
  private static var processorTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}

/// A kind of work on the threads of `ComputePool`. Each has its own queue and deadline.
package enum ComputeKind: Int, CaseIterable, Sendable {
  /// The decisions and answers of a write, for which its transaction waits.
  case transaction
  /// The requests of editors, and the console's pages.
  case editing
  /// The responses to readers.
  case reading
  /// Batches.
  case batch
  /// The feeds that the server follows, and previews of them.
  case feed

  /// Whether the kinds of this sort together leave a thread to the others.
  package var isBulk: Bool { self == .batch || self == .feed }

  /// Whether the long jobs of this kind leave a thread to the others. Readers do not choose the size of what they read.
  package var confinesLongJobs: Bool { self != .reading }

  /// The maximum number of waiting jobs. For batches and feeds it is above what can occur: two batches are prepared at a
  /// time, and 16 feeds are polled.
  package var maximumWaiting: Int {
    switch self {
    case .transaction, .editing, .batch, .feed: 256
    case .reading: 1024
    }
  }

  /// The maximum wait of a job.
  package var timeout: Duration {
    switch self {
    case .transaction, .reading: .seconds(5)
    case .editing: .seconds(20)
    case .batch: .seconds(60)
    case .feed: .seconds(120)
    }
  }
}
