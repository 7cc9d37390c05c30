import Foundation
import Synchronization

/// The threads that read what PostgreSQL answers, as an executor for tasks.
///
/// A task that prefers it (`withTaskExecutorPreference`) goes on with an answer on the thread that has read it, and sends
/// its next statement from there, by preference on a connection of that same thread: nothing changes threads or processors
/// between the two. As all tasks of a thread, and the connections it reads for, wait for the one that runs, tasks must
/// neither block nor compute for long.
public final class PostgresExecutor: TaskExecutor {
  /// One thread for each processor.
  public static let shared = PostgresExecutor(threads: max(1, ProcessInfo.processInfo.activeProcessorCount))

  private let loops: [EventLoop]
  private let turn = Atomic<Int>(0)

  private init(threads: Int) {
    loops = (0..<threads).map { _ in EventLoop() }
  }

  /// Runs the job on the caller's thread if it is one of these, or on the next in turn.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    (current ?? next()).enqueue(job)
  }

  /// The caller's thread if it is one of these.
  var current: EventLoop? {
    loops.first(where: \.isCurrent)
  }

  /// One after the other.
  func next() -> EventLoop {
    let turn = turn.wrappingAdd(1, ordering: .relaxed).oldValue
    return loops[Int(UInt(bitPattern: turn) % UInt(loops.count))]
  }
}
