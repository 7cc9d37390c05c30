/// Work that any process may do, in jobs that one process leases and does at a time. A `Worker` does it.
package protocol LeasedWork: Sendable {
  /// The unit that is leased and done at once, such as a poll of a feed.
  associatedtype Job: Sendable

  /// Whether the end of a job may make another one due.
  static var endsMakeDue: Bool { get }

  /// Makes due what follows from other changes, before jobs are leased.
  func prepare() async throws

  /// Leases jobs that are due.
  ///
  /// - Parameter room: The maximum number of jobs, and which ones.
  /// - Returns: The jobs, or none and the time until one is due.
  func lease(_ room: WorkRoom) async throws -> LeasedJobs<Job>

  /// Whether a job may take long, because it has failed before.
  func isSlow(_ job: Job) -> Bool

  /// Does a job, and ends its lease. A cancelled task gives it back.
  func perform(_ job: Job) async throws

  /// Gives back jobs that have not begun when the process ends.
  func giveBack(_ jobs: [Job]) async

  /// Bounds the time of the jobs under way, which are cancelled next. The process ends.
  func graceHasEnded()
}

extension LeasedWork {
  package static var endsMakeDue: Bool { false }
  package func prepare() async throws {}
  package func isSlow(_ job: Job) -> Bool { false }
  package func giveBack(_ jobs: [Job]) async {}
  package func graceHasEnded() {}
}

/// The jobs that a worker can lease.
package struct WorkRoom: Sendable {
  /// The maximum number, at least 1.
  package var count: Int
  /// Whether slow jobs may be among them. They have half of the places at most, so that others need not wait for timeouts.
  package var admitsSlow: Bool
  /// Whether the worker has no job at present.
  package var isIdle: Bool
}

/// Jobs that were leased, or the time until there is one.
package struct LeasedJobs<Job: Sendable>: Sendable {
  /// The jobs.
  package var jobs: [Job]
  /// Without jobs, the time until one is due, in seconds; nil if that is not known.
  package var wait: Double?

  /// Creates a description.
  package init(_ jobs: [Job], wait: Double? = nil) {
    self.jobs = jobs
    self.wait = wait
  }
}

/// The limits of a worker.
package struct WorkLimits: Sendable {
  /// The maximum number of jobs at a time.
  package var width: Int
  /// The maximum number of leased jobs that wait for their turn.
  package var waiting: Int
  /// The shortest and the longest rest without a signal. A job that another process makes due waits at most for the longest
  /// one.
  package var rest: ClosedRange<Duration>
  /// The time that jobs under way have when the process ends.
  package var grace: Duration

  /// Creates limits.
  package init(width: Int, waiting: Int = 0, rest: ClosedRange<Duration>, grace: Duration = .zero) {
    (self.width, self.waiting, self.rest, self.grace) = (width, waiting, rest, grace)
  }
}
