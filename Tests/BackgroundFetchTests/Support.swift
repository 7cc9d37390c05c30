import BackgroundFetch
import Foundation
import Synchronization
import TestKit
import Testing

/// A fetcher whose report is a plain result.
typealias BackgroundFetcher = BackgroundFetch.BackgroundFetcher<FetchResult>
typealias FetchOutcome = BackgroundFetch.FetchOutcome<FetchResult>

extension FetchOutcome {
  /// Creates the outcome of a fetch that has not thrown an error.
  init(result: FetchResult, ending: Ending, hasJoined: Bool, duration: Duration) {
    self.init(report: ending == .finished ? result : nil, ending: ending, hasJoined: hasJoined, duration: duration)
  }
}

/// A list that several threads append to.
final class Journal<Entry: Sendable>: Sendable {
  private let list = Mutex<[Entry]>([])

  var entries: [Entry] { list.withLock { $0 } }

  func append(_ entry: Entry) {
    list.withLock { $0.append(entry) }
  }
}

/// A gate that suspends tasks until it is opened, cancelled tasks too.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// The number of suspended tasks.
  var waiting: Int { state.withLock { $0.waiting.count } }

  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

/// An application launched in the background, with its fetcher.
struct Wake {
  let clock = ManualClock()
  let log = Journal<String>()
  let application: ApplicationLifecycle
  let fetcher: BackgroundFetcher

  init(
    launchReason: LaunchReason = .fetch, lock: FetchLock? = nil, foregroundTimeout: Duration = .seconds(60)
  ) {
    application = ApplicationLifecycle(launchReason: launchReason, clock: clock, log: log.append)
    fetcher = BackgroundFetcher(
      application: application, lock: lock, foregroundTimeout: foregroundTimeout, log: log.append)
  }

  /// Waits until the timer of the fetch, and no other sleeper, has the given number of seconds left.
  func waitForTimer(_ seconds: Double) async throws {
    try await eventually("the timer sleeps for \(seconds) s") { clock.sleeping.count { $0 == seconds } == 1 }
  }

  /// Starts a fetch that is suspended at a gate.
  func begin(
    _ reason: FetchReason = .scheduled, at gate: Gate, result: FetchResult = .newData
  ) async throws -> Task<FetchOutcome, Never> {
    let before = gate.waiting
    let task = Task {
      await fetcher.perform(reason: reason) { _ in
        await gate.pass()
        return result
      }
    }
    try await eventually("the fetch has started") { gate.waiting > before }
    return task
  }
}

/// A flag that one thread sets once for others.
final class Flag: Sendable {
  private let flag = Atomic(false)

  var isSet: Bool { flag.load(ordering: .acquiring) }

  func set() { flag.store(true, ordering: .releasing) }
}

/// Runs the body with the path of a file that does not exist yet, and removes the file afterwards.
func withTemporaryFile(_ body: (String) async throws -> Void) async throws {
  let url = FileManager.default.temporaryDirectory.appending(path: "tidings-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: url) }
  try await body(url.path)
}
