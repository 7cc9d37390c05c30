import Foundation
import PostgresClient
import Synchronization

/// The threads on which the handlers of editors' requests run. A handler is a row of short steps, with waits in between.
///
/// On the threads of Swift's tasks, each step of an editor would wait for those of all strangers, whose requests may be
/// thousands. Here it waits for other editors only, who take turns by key or session.
///
///     try await withTaskExecutorPreference(EditorThreads.shared.executor(for: "key \(id)")) {
///       try await handler(request)
///     }
package final class EditorThreads: Sendable {
  /// The threads of this process, as many as there are processors and at least two.
  package static let shared = EditorThreads(count: max(2, ProcessInfo.processInfo.activeProcessorCount))

  private struct Step {
    let job: UnownedJob
    let executor: Executor
  }

  private struct State {
    var steps = FairQueue<Int, Step>()
    var lastNumber = 0
    var hasThreads = false
  }

  private let count: Int
  private let state = Mutex(State())
  /// Counts the steps that wait.
  private let waiting = DispatchSemaphore(value: 0)

  /// - Parameter count: The number of threads. They begin with the first step and never end.
  package init(count: Int) {
    self.count = count
  }

  /// Returns an executor whose steps take turns with those of other editors.
  package func executor(for editor: String) -> any TaskExecutor { Executor(threads: self, editor: editor) }

  private final class Executor: TaskExecutor {
    let threads: EditorThreads
    let editor: String

    init(threads: EditorThreads, editor: String) {
      (self.threads, self.editor) = (threads, editor)
    }

    func enqueue(_ job: consuming ExecutorJob) { threads.add(Step(job: UnownedJob(job), executor: self)) }
  }

  private func add(_ step: Step) {
    let isFirst = state.withLock { state in
      defer { state.hasThreads = true }
      state.lastNumber += 1
      state.steps.append(step, id: state.lastNumber, of: step.executor.editor)
      return !state.hasThreads
    }
    if isFirst { for _ in 0..<count { Thread.detachNewThread { self.work() } } }
    waiting.signal()
  }

  private func work() {
    // For programs that list threads.
    Thread.current.name = "tidings.editors"
    while true {
      waiting.wait()
      guard let step = state.withLock({ $0.steps.popFirst()?.element }) else { continue }
      step.job.runSynchronously(on: step.executor.asUnownedTaskExecutor())
    }
  }
}
