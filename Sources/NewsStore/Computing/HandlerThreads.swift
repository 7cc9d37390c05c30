import Foundation
import PostgresClient
import Synchronization

/// Threads on which the handlers of requests run. A handler is a row of short steps, with waits in between.
///
/// On the threads of Swift's tasks, each step of an editor would wait for those of all strangers, whose requests may be
/// thousands. Here it waits for other editors only, who take turns by key or session.
///
///     try await withTaskExecutorPreference(HandlerThreads.editors.executor(for: "key \(id)")) {
///       try await handler(request)
///     }
package final class HandlerThreads: Sendable {
  /// The threads of requests with a secret that was found lately.
  package static let editors = HandlerThreads(name: "editors")
  /// The threads of requests with a secret that may not exist, or that register something.
  package static let strangers = HandlerThreads(name: "others", niceness: 5)

  private struct Step {
    let job: UnownedJob
    let executor: Executor
  }

  private struct State {
    var steps = FairQueue<Int, Step>()
    var lastNumber = 0
    var hasThreads = false
  }

  private let name: String
  private let niceness: Int32
  private let count: Int
  private let state = Mutex(State())
  /// Counts the steps that wait.
  private let waiting = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - name: The name for programs that list threads, at most 7 bytes.
  ///   - niceness: How much lower the priority of the threads is than that of others, as for nice(1).
  ///   - count: The number of threads, by default the number of processors and at least two. They begin with the first step and
  ///     never end.
  package init(
    name: String, niceness: Int32 = 0, count: Int = max(2, ProcessInfo.processInfo.activeProcessorCount)
  ) {
    (self.name, self.niceness, self.count) = ("tidings.\(name)", niceness, count)
  }

  /// Returns an executor whose steps take turns with those of other parties.
  ///
  /// - Parameter party: The editor; nil for all strangers, whose steps run in their order.
  package func executor(for party: String?) -> any TaskExecutor { Executor(threads: self, party: party) }

  private final class Executor: TaskExecutor {
    let threads: HandlerThreads
    let party: String?

    init(threads: HandlerThreads, party: String?) {
      (self.threads, self.party) = (threads, party)
    }

    func enqueue(_ job: consuming ExecutorJob) { threads.add(Step(job: UnownedJob(job), executor: self)) }
  }

  private func add(_ step: Step) {
    let isFirst = state.withLock { state in
      defer { state.hasThreads = true }
      state.lastNumber += 1
      state.steps.append(step, id: state.lastNumber, of: step.executor.party)
      return !state.hasThreads
    }
    if isFirst { for _ in 0..<count { Thread.detachNewThread { self.work() } } }
    waiting.signal()
  }

  private func work() {
    Thread.setName(name)
    if niceness > 0 { _ = Thread.lowerPriority(by: niceness) }
    while true {
      waiting.wait()
      guard let step = state.withLock({ $0.steps.popFirst()?.element }) else { continue }
      step.job.runSynchronously(on: step.executor.asUnownedTaskExecutor())
    }
  }
}

extension Thread {
  /// Names the thread that calls, for programs that list threads.
  ///
  /// - Parameter name: At most 15 bytes.
  static func setName(_ name: String) {
    #if os(Linux)
      // The name of a thread (proc(5)). `Thread.name` does not take that of one that has only just started.
      try? Data(name.utf8).write(to: URL(filePath: "/proc/thread-self/comm"))
    #else
      Thread.current.name = name
    #endif
  }

  /// Lowers the priority of the thread that calls.
  ///
  /// - Returns: Whether the system can.
  static func lowerPriority(by niceness: Int32) -> Bool {
    #if os(Linux)
      // On Linux, this is the priority of the thread (setpriority(2), section "C library/kernel differences").
      let process = Int32(PRIO_PROCESS.rawValue)
      setpriority(process, 0, getpriority(process, 0) + niceness)
      return true
    #else
      return false
    #endif
  }
}
