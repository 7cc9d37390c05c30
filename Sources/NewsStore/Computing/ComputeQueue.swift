import DequeModule

/// Jobs that wait for a thread, and the choice of the next one.
///
/// The kinds of work that wait share the threads' processor time equally, and so do the owners of a kind. The time is
/// measured, so that neither many jobs nor long ones gain anything. An owner or a kind that had nothing to do begins
/// with the share that the others have now. Jobs that take long, whose number and length strangers choose, leave a thread
/// to all others. (The scheme is start-time fair queueing, with processor time for bytes.)
package struct ComputeQueue {
  /// A job.
  package struct Job: Sendable {
    package let number: Int
    package let kind: ComputeKind
    /// The key, the feed, or whatever else has caused the job.
    package let owner: String
    /// Whether the job takes long for its kind, so that it is confined like those of a bulk kind.
    package let isLong: Bool
    let perform: @Sendable () -> Void
    let refuse: @Sendable (any Error) -> Void

    package init(
      _ number: Int, _ kind: ComputeKind, owner: String, isLong: Bool = false,
      refuse: @escaping @Sendable (any Error) -> Void = { _ in }, perform: @escaping @Sendable () -> Void = {}
    ) {
      (self.number, self.kind, self.owner) = (number, kind, owner)
      self.isLong = isLong
      (self.perform, self.refuse) = (perform, refuse)
    }

    /// Whether the job may not take the last thread, and has a lower priority.
    var isConfined: Bool { isLong || kind.isBulk }
  }

  /// The use of the threads by a kind, or by one of its owners.
  private struct Share {
    var used: Duration = .zero
    var running = 0
    var waiting = 0

    var isIdle: Bool { running == 0 && waiting == 0 }
  }

  /// A kind, with a line of jobs for each owner.
  private struct Line {
    var share = Share()
    /// The use of the owner whose job began last.
    var clock: Duration = .zero
    var owners: [String: (share: Share, jobs: Deque<Job>)] = [:]

    /// The owner whose turn is next, and the position of its job.
    ///
    /// - Parameter mayBeConfined: Whether a confined job may run.
    func next(mayBeConfined: Bool) -> (owner: String, index: Int)? {
      owners.compactMap { owner, line -> (rank: (Duration, Int, Int), owner: String, index: Int)? in
        guard let index = line.jobs.firstIndex(where: { mayBeConfined || !$0.isConfined }) else { return nil }
        return (ComputeQueue.rank(line.share, line.jobs[index].number), owner, index)
      }
      .min { $0.rank < $1.rank }.map { ($0.owner, $0.index) }
    }
  }

  private let threads: Int
  private var lines: [ComputeKind: Line] = [:]
  /// The number of confined jobs that run.
  private var confined = 0
  /// The use of the kind whose job began last.
  private var clock: Duration = .zero

  /// - Parameter threads: The maximum number of jobs that run at a time, 2 or more.
  package init(threads: Int) {
    self.threads = threads
  }

  /// The number of jobs that run.
  package var running: Int { lines.values.reduce(0) { $0 + $1.share.running } }

  /// The number of jobs that wait.
  package var waiting: Int { lines.values.reduce(0) { $0 + $1.share.waiting } }

  /// Adds a job. If its kind has as many waiting jobs as it may have, the last one of the owner with the most makes room,
  /// unless that is the owner of the new job.
  ///
  /// - Returns: The job to refuse: nil, the new one, or one that has waited.
  package mutating func insert(_ job: Job) -> Job? {
    var line = lines[job.kind] ?? Line()
    if line.share.isIdle { line.share.used = max(line.share.used, clock) }
    var owner = line.owners[job.owner] ?? (Share(used: line.clock), [])
    var refused: Job?
    if line.share.waiting >= job.kind.maximumWaiting {
      guard let longest = line.owners.max(by: { $0.value.jobs.count < $1.value.jobs.count }),
        longest.value.jobs.count > owner.jobs.count + 1
      else { return job }
      refused = line.owners[longest.key]?.jobs.popLast()
      line.owners[longest.key]?.share.waiting -= 1
      line.share.waiting -= 1
    }
    owner.jobs.append(job)
    owner.share.waiting += 1
    line.share.waiting += 1
    line.owners[job.owner] = owner
    lines[job.kind] = line
    return refused
  }

  /// Removes a job that waits.
  ///
  /// - Returns: nil if it has begun or left already.
  package mutating func remove(_ number: Int, _ kind: ComputeKind, owner: String) -> Job? {
    guard let index = lines[kind]?.owners[owner]?.jobs.firstIndex(where: { $0.number == number }) else { return nil }
    let job = lines[kind]?.owners[owner]?.jobs.remove(at: index)
    lines[kind]?.owners[owner]?.share.waiting -= 1
    lines[kind]?.share.waiting -= 1
    forgetIfIdle(kind, owner)
    return job
  }

  /// Removes the next job to run.
  ///
  /// - Returns: nil if there is none, or no thread for it.
  package mutating func next() -> Job? {
    guard running < threads else { return nil }
    let candidates = lines.compactMap { kind, line -> (kind: ComputeKind, line: Line, owner: String, index: Int)? in
      guard line.share.waiting > 0, let next = line.next(mayBeConfined: confined < threads - 1) else { return nil }
      return (kind, line, next.owner, next.index)
    }
    let first = candidates.min {
      Self.rank($0.line.share, $0.kind.rawValue) < Self.rank($1.line.share, $1.kind.rawValue)
    }
    guard let (kind, _, owner, index) = first, var line = lines[kind],
      let job = line.owners[owner]?.jobs.remove(at: index)
    else { return nil }
    if job.isConfined { confined += 1 }
    line.clock = line.owners[owner]?.share.used ?? line.clock
    line.owners[owner]?.share.waiting -= 1
    line.owners[owner]?.share.running += 1
    line.share.waiting -= 1
    line.share.running += 1
    clock = line.share.used
    lines[kind] = line
    return job
  }

  /// The rank of a share, of which the lowest has its turn. Jobs that run have not used anything yet, and count between
  /// equal shares only.
  private static func rank(_ share: Share, _ number: Int) -> (Duration, Int, Int) {
    (share.used, share.running, number)
  }

  /// Notes the end of a job.
  ///
  /// - Parameter time: The processor time that it took.
  package mutating func finish(_ job: Job, after time: Duration) {
    if job.isConfined { confined -= 1 }
    lines[job.kind]?.share.running -= 1
    lines[job.kind]?.share.used += time
    lines[job.kind]?.owners[job.owner]?.share.running -= 1
    lines[job.kind]?.owners[job.owner]?.share.used += time
    forgetIfIdle(job.kind, job.owner)
  }

  private mutating func forgetIfIdle(_ kind: ComputeKind, _ owner: String) {
    if lines[kind]?.owners[owner]?.share.isIdle ?? false { lines[kind]?.owners[owner] = nil }
  }
}
