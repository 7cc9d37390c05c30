import Foundation
import Synchronization

/// A task executor made of the threads that read PostgreSQL's answers.
///
/// A task that prefers it (`withTaskExecutorPreference`) resumes on the thread that has read its answer. It sends its
/// next statement from there, preferably on a connection of the same thread. Neither thread nor processor changes in
/// between. While a task runs, all other tasks and connections of its thread wait. A task must therefore neither block
/// nor compute for long.
///
///     func countItems(pool: PostgresPool) async throws -> Int {
///       try await withTaskExecutorPreference(PostgresExecutor.shared) {
///         let rows = try await pool.query("SELECT count(*) FROM items")
///         return try rows[0].decode(0, as: Int.self)
///       }
///     }
public final class PostgresExecutor: TaskExecutor {
  /// The shared executor, with one thread for each processor.
  public static let shared = PostgresExecutor(threads: max(1, ProcessInfo.processInfo.activeProcessorCount))

  private let loops: [SocketEventLoop]
  private let nextIndex = Atomic<Int>(0)

  private init(threads: Int) {
    loops = (0..<threads).map { _ in SocketEventLoop() }
  }

  /// Schedules the job on the caller's thread if that belongs to the executor, otherwise on the next one (round-robin).
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    (current ?? next()).enqueue(job)
  }

  /// The event loop of the caller's thread; nil if that does not belong to the executor.
  var current: SocketEventLoop? {
    loops.first(where: \.isCurrent)
  }

  /// Returns the next event loop in round-robin order.
  func next() -> SocketEventLoop {
    let index = nextIndex.wrappingAdd(1, ordering: .relaxed).oldValue
    return loops[Int(UInt(bitPattern: index) % UInt(loops.count))]
  }
}
