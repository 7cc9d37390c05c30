import CoreMetrics
import DequeModule
import Synchronization

/// Does work as it becomes due: leases jobs, does a bounded number of them at a time, and looks for more when one has ended,
/// after a signal, and when the next one is due.
///
///     let worker = Worker(follower, "feeds", WorkLimits(width: 16, rest: .seconds(2) ... .seconds(2)))
///     await worker.run()
package struct Worker<Work: LeasedWork>: Sendable {
  /// The minimum time between two signals from outside that are heeded, so that a caller in a loop costs little.
  private static var signalInterval: Duration { .milliseconds(100) }

  private let work: Work
  private let name: String
  private let limits: WorkLimits
  private let signal: WakeSignal

  /// Creates a worker.
  ///
  /// - Parameters:
  ///   - name: The name of the queue in metrics.
  ///   - signal: The signal that jobs may be due.
  package init(_ work: Work, _ name: String, _ limits: WorkLimits, wokenBy signal: WakeSignal = WakeSignal()) {
    (self.work, self.name, self.limits, self.signal) = (work, name, limits, signal)
  }

  /// Works until the task is cancelled. Jobs that have not begun are given back then, and others have the time of grace.
  package func run() async {
    let slots = WorkSlots<Work.Job>(name, limits, wakesAtEnds: Work.endsMakeDue)
    let loop = Task { await begin(slots) }
    await withTaskCancellationHandler {
      await loop.value
    } onCancel: {
      slots.close()
      // With a time of grace, cancellation must not reach the jobs under way.
      if limits.grace == .zero { loop.cancel() }
    }
  }

  /// Does everything that is due now.
  ///
  /// - Returns: The time until the next job is due, in seconds; nil if it is not known.
  /// - Throws: The errors of the work.
  package func drain() async throws -> Double? {
    let slots = WorkSlots<Work.Job>(name, limits, wakesAtEnds: true)
    return try await withThrowingDiscardingTaskGroup { group in
      while true {
        let isIdle = slots.isIdle
        let found = try await lease(slots) { job in group.addTask { await perform(job, slots) } }
        try slots.check()
        if isIdle, found.count == 0 { return found.wait }
        await slots.changed.wait(for: .seconds(3600))
        try Task.checkCancellation()
      }
    }
  }

  /// Begins jobs until the worker is closed, and then waits for those under way.
  private func begin(_ slots: WorkSlots<Work.Job>) async {
    await withDiscardingTaskGroup { group in
      group.addTask {
        while !Task.isCancelled {
          await signal.wait(for: .seconds(3600))
          slots.changed.set()
          try? await Task.sleep(for: Self.signalInterval)
        }
      }
      while !slots.isClosed {
        // An error means that the database does not answer, which the log of its connections says.
        let found = try? await lease(slots) { job in group.addTask { await perform(job, slots) } }
        let rest = found?.wait.map { Duration.seconds($0) } ?? limits.rest.upperBound
        if !slots.isClosed {
          await slots.changed.wait(for: min(max(rest, limits.rest.lowerBound), limits.rest.upperBound))
        }
      }
      await work.giveBack(slots.takeWaiting())
      let end = ContinuousClock.now + limits.grace
      while !slots.isIdle, .now < end { await slots.changed.wait(for: end - .now) }
      if !slots.isIdle { work.graceHasEnded() }
      group.cancelAll()
    }
  }

  /// Leases jobs until there is no room or nothing is due.
  ///
  /// - Parameter start: Begins a job.
  /// - Returns: The number of jobs, and the time until the next one is due, in seconds; nil if it is not known.
  private func lease(
    _ slots: WorkSlots<Work.Job>, start: (Work.Job) -> Void
  ) async throws -> (count: Int, wait: Double?) {
    try await work.prepare()
    var count = 0
    while let room = slots.room {
      let leased = try await work.lease(room)
      if leased.jobs.isEmpty { return (count, leased.wait) }
      count += leased.jobs.count
      for job in slots.admit(leased.jobs, isSlow: work.isSlow) { start(job) }
    }
    return (count, nil)
  }

  /// Does a job, and then others that wait for their turn.
  private func perform(_ first: Work.Job, _ slots: WorkSlots<Work.Job>) async {
    var next: Work.Job? = first
    while let job = next {
      do {
        try await work.perform(job)
      } catch {
        slots.note(error)
      }
      next = slots.finish(job, isSlow: work.isSlow)
    }
  }
}

/// The jobs that a worker has leased.
private final class WorkSlots<Job: Sendable>: Sendable {
  private struct State {
    var running = 0
    var slow = 0
    var waiting: Deque<Job> = []
    /// Whether the last look at the room has found none.
    var wasFull = false
    var isClosed = false
    var error: (any Error)?
  }

  /// The signal that a job has ended, or that jobs may be due.
  let changed = WakeSignal()

  private let limits: WorkLimits
  private let wakesAtEnds: Bool
  private let state = Mutex(State())
  private let jobs: Counter
  private let underWay: Gauge

  /// - Parameter wakesAtEnds: Whether each end of a job is a signal, and not only one that makes room.
  init(_ name: String, _ limits: WorkLimits, wakesAtEnds: Bool) {
    self.limits = limits
    self.wakesAtEnds = wakesAtEnds
    jobs = Counter(label: "tidings_jobs_total", dimensions: [("queue", name)])
    underWay = Gauge(label: "tidings_jobs_under_way", dimensions: [("queue", name)])
  }

  /// The room for further jobs; nil if there are enough.
  var room: WorkRoom? {
    state.withLock { state in
      let free = limits.width + limits.waiting - state.running - state.waiting.count
      state.wasFull = free == 0 || !isShort(state)
      if state.wasFull || state.isClosed { return nil }
      return WorkRoom(
        count: free, admitsSlow: state.slow < max(1, limits.width / 2),
        isIdle: state.running == 0 && state.waiting.isEmpty)
    }
  }

  var isIdle: Bool { state.withLock { $0.running == 0 && $0.waiting.isEmpty } }

  var isClosed: Bool { state.withLock(\.isClosed) }

  /// Lets no job begin any more.
  func close() {
    state.withLock { $0.isClosed = true }
    changed.set()
  }

  /// Adds jobs.
  ///
  /// - Returns: Those that begin now. The others wait.
  func admit(_ new: [Job], isSlow: (Job) -> Bool) -> [Job] {
    jobs.increment(by: new.count)
    return state.withLock { state in
      let beginning = Array(new.prefix(state.isClosed ? 0 : max(0, limits.width - state.running)))
      state.running += beginning.count
      state.slow += beginning.count(where: isSlow)
      state.waiting += new.dropFirst(beginning.count)
      underWay.record(state.running)
      return beginning
    }
  }

  /// Notes that a job has ended.
  ///
  /// - Returns: The next one; nil if none waits.
  func finish(_ job: Job, isSlow: (Job) -> Bool) -> Job? {
    let (next, wakes) = state.withLock { state -> (Job?, Bool) in
      if isSlow(job) { state.slow -= 1 }
      let next = state.isClosed ? nil : state.waiting.popFirst()
      if let next, isSlow(next) { state.slow += 1 }
      if next == nil { state.running -= 1 }
      underWay.record(state.running)
      let hasRoom = state.wasFull && isShort(state)
      return (next, hasRoom || wakesAtEnds || state.isClosed)
    }
    if wakes { changed.set() }
    return next
  }

  /// Whether fewer than half of the jobs that may wait do so. Then the others are leased in one statement.
  private func isShort(_ state: State) -> Bool {
    limits.waiting == 0 || 2 * state.waiting.count < limits.waiting
  }

  /// Removes the jobs that wait.
  func takeWaiting() -> [Job] {
    state.withLock { state in
      defer { state.waiting = [] }
      return Array(state.waiting)
    }
  }

  func note(_ error: any Error) { state.withLock { $0.error = $0.error ?? error } }

  /// Throws the first error of a job.
  func check() throws { if let error = state.withLock(\.error) { throw error } }
}
