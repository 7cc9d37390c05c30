import BackgroundWork
import Synchronization
import TestKit
import Testing

/// The loop that does jobs as they become due. The jobs are numbers, due until they are leased.
@Suite struct WorkerTests {
  /// Jobs that take as long as a test wants.
  private final class Jobs: LeasedWork {
    static let endsMakeDue = true

    struct State {
      var due: [Int] = []
      var running: Set<Int> = []
      var done: [Int] = []
      var givenBack: [Int] = []
      var cancelled: [Int] = []
      var mostRunning = 0
      var leases = 0
      var graceHasEnded = false
    }

    struct Failure: Error {}

    let state: Mutex<State>
    let slow: ClosedRange<Int>
    let body: @Sendable (Int, Jobs) async throws -> Void

    init(
      _ due: [Int], slow: ClosedRange<Int> = -1...(-1),
      _ body: @escaping @Sendable (Int, Jobs) async throws -> Void = { _, _ in }
    ) {
      state = Mutex(State(due: due))
      self.slow = slow
      self.body = body
    }

    var now: State { state.withLock { $0 } }

    func add(_ job: Int) { state.withLock { $0.due.append(job) } }

    func lease(_ room: WorkRoom) async throws -> LeasedJobs<Int> {
      state.withLock { state in
        state.leases += 1
        let jobs = state.due.filter { room.admitsSlow || !slow.contains($0) }.prefix(1)
        state.due.removeAll { jobs.contains($0) }
        return LeasedJobs(Array(jobs), wait: 3600)
      }
    }

    func isSlow(_ job: Int) -> Bool { slow.contains(job) }

    func perform(_ job: Int) async throws {
      state.withLock { state in
        state.running.insert(job)
        state.mostRunning = max(state.mostRunning, state.running.count)
      }
      defer { state.withLock { _ = $0.running.remove(job) } }
      try await body(job, self)
      state.withLock { state in
        if Task.isCancelled { state.cancelled.append(job) } else { state.done.append(job) }
      }
    }

    func giveBack(_ jobs: [Int]) async { state.withLock { $0.givenBack += jobs } }

    func graceHasEnded() { state.withLock { $0.graceHasEnded = true } }
  }

  private static func worker(
    _ jobs: Jobs, width: Int = 4, waiting: Int = 0, grace: Duration = .zero, wokenBy signal: WakeSignal = WakeSignal()
  ) -> Worker<Jobs> {
    let limits = WorkLimits(width: width, waiting: waiting, rest: .milliseconds(1) ... .seconds(3600), grace: grace)
    return Worker(jobs, "tests", limits, wokenBy: signal)
  }

  /// Waits until a task is cancelled.
  private static func hang() async { try? await Task.sleep(for: .seconds(3600)) }

  @Test("All that is due is done, with at most the width of jobs at a time, and then the next time is returned")
  func drain() async throws {
    let jobs = Jobs(Array(1...50)) { _, _ in try await Task.sleep(for: .milliseconds(2)) }
    #expect(try await Self.worker(jobs).drain() == 3600)
    #expect(jobs.now.done.sorted() == Array(1...50) && jobs.now.mostRunning == 4)
  }

  @Test("What the end of a job makes due is done with it")
  func following() async throws {
    let jobs = Jobs([1]) { job, jobs in
      if job < 20 { jobs.add(job + 1) }
    }
    _ = try await Self.worker(jobs).drain()
    #expect(jobs.now.done == Array(1...20))
  }

  @Test("Slow jobs have half of the places, so that others are done beside them")
  func slow() async throws {
    let jobs = Jobs(Array(1...30), slow: 1...10) { job, _ in
      if job <= 10 { await Self.hang() }
    }
    try await whileRunning({ await Self.worker(jobs).run() }) {
      try await eventually("the others are done") { jobs.now.done.count == 20 }
      #expect(jobs.now.running.count == 2)
    }
    #expect(jobs.now.cancelled.count == 2 && jobs.now.running.isEmpty)
  }

  @Test("An error of a job ends a drain, and not a running worker")
  func failure() async throws {
    let body: @Sendable (Int, Jobs) async throws -> Void = { job, _ in
      if job == 3 { throw Jobs.Failure() }
    }
    let failing = Jobs(Array(1...5), body)
    await #expect(throws: Jobs.Failure.self) { try await Self.worker(failing, width: 1).drain() }
    let jobs = Jobs(Array(1...5), body)
    try await whileRunning({ await Self.worker(jobs).run() }) {
      try await eventually("the others are done") { jobs.now.done.sorted() == [1, 2, 4, 5] }
    }
  }

  @Test("A signal ends a rest, and a caller that signals all the time has at most ten looks a second")
  func signal() async throws {
    let signal = WakeSignal()
    let jobs = Jobs([])
    try await whileRunning({ await Self.worker(jobs, wokenBy: signal).run() }) {
      try await eventually("the worker rests") { jobs.now.leases > 0 }
      let start = ContinuousClock.now
      while ContinuousClock.now < start + .milliseconds(500) {
        signal.set()
        await Task.yield()
      }
      // Two looks are before the first interval.
      #expect(Double(jobs.now.leases) <= 3 + (ContinuousClock.now - start) / .milliseconds(100))
      jobs.add(1)
      signal.set()
      try await eventually("the job is done") { jobs.now.done == [1] }
    }
  }

  @Test("At the end, jobs that wait are given back, and those under way have their time")
  func grace() async throws {
    let release = WakeSignal()
    let jobs = Jobs(Array(1...20)) { _, _ in await release.wait(for: .seconds(3600)) }
    let running = Task { await Self.worker(jobs, width: 1, waiting: 4, grace: .seconds(3600)).run() }
    try await eventually("one job runs and others wait") { jobs.now.running.count == 1 && jobs.now.due.count == 17 }
    running.cancel()
    try await eventually("the others are given back") { jobs.now.givenBack.count == 2 }
    release.set()
    await running.value
    #expect(jobs.now.done == [1] && jobs.now.cancelled.isEmpty && !jobs.now.graceHasEnded)
    #expect(jobs.now.givenBack == [2, 3] && jobs.now.due.count == 17)
  }

  @Test("Jobs that take longer than the time of grace are cancelled")
  func endOfGrace() async throws {
    let jobs = Jobs([1]) { _, _ in await Self.hang() }
    let running = Task { await Self.worker(jobs, grace: .milliseconds(50)).run() }
    try await eventually("the job runs") { !jobs.now.running.isEmpty }
    running.cancel()
    await running.value
    #expect(jobs.now.cancelled == [1] && jobs.now.graceHasEnded)
  }
}
