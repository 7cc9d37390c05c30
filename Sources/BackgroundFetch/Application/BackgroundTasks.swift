import Synchronization

/// The tasks that must finish although the application has left the foreground.
///
/// Tasks have no limit in the foreground. A time limit starts when the application leaves the foreground, and again
/// with each wake. Tasks that have not ended at the limit expire. Suspension waits for all tasks. The counterpart of
/// `UIApplication.beginBackgroundTask(withName:expirationHandler:)`.
///
///     let application = ApplicationLifecycle(launchReason: .user)
///     let task = application.backgroundTasks.begin("upload") { print("interrupted") }
///     print(application.backgroundTasks.timeRemaining ?? .zero)
///     application.backgroundTasks.end(task)
public final class BackgroundTasks: Sendable {
  /// The identifier of a task, valid within one process. The counterpart of `UIBackgroundTaskIdentifier`.
  ///
  ///     let tasks = ApplicationLifecycle(launchReason: .push).backgroundTasks
  ///     let id: BackgroundTasks.ID = tasks.begin("upload")
  ///     tasks.end(id)
  public struct ID: Sendable, Hashable {
    let number: Int
  }

  /// The time limit of tasks. It counts from the moment at which the application leaves the foreground or is woken.
  public static let timeLimit = FetchBudget.total

  private struct Work {
    var name: String
    var expirationHandler: (@Sendable () -> Void)?
    /// Whether the owner of the task ends it in time with a timer of its own, so that it needs no limit here.
    var isUnlimited = false
  }

  /// The work that follows a change and runs once no lock is held.
  struct DeferredWork {
    var timer: Task<Void, Never>?
    var waiters: [CheckedContinuation<Void, Never>] = []

    func run() {
      timer?.cancel()
      for waiter in waiters { waiter.resume() }
    }
  }

  private struct State {
    var tasks: [Int: Work] = [:]
    /// The number of the last task.
    var lastNumber = 0
    /// The uptime at which tasks expire, in seconds; nil in the foreground.
    var end: Double?
    var timer: Task<Void, Never>?
    var waiters: [CheckedContinuation<Void, Never>] = []

    /// Whether any task needs the timer.
    var needsTimer: Bool { tasks.values.contains { !$0.isUnlimited } }

    mutating func takeDeferredIfIdle() -> DeferredWork {
      if tasks.isEmpty { return takeDeferred() }
      return needsTimer ? DeferredWork() : DeferredWork(timer: timer.take())
    }

    mutating func takeDeferred() -> DeferredWork {
      defer { waiters = [] }
      return DeferredWork(timer: timer.take(), waiters: waiters)
    }
  }

  private let clock: any FetchClock
  private let log: @Sendable (String) -> Void
  private let state = Mutex(State())

  init(clock: any FetchClock, log: @escaping @Sendable (String) -> Void) {
    self.clock = clock
    self.log = log
  }

  deinit {
    state.withLock { $0.timer.take() }?.cancel()
  }

  /// Begins a task.
  ///
  /// - Parameters:
  ///   - name: The name for the log.
  ///   - expirationHandler: The function that is called once if the task has not ended at the time limit. It is called
  ///     soon if the limit is over already. The task ends when the handler returns or calls `end(_:)`.
  /// - Returns: The identifier to pass to `end(_:)`.
  public func begin(_ name: String, expirationHandler: (@Sendable () -> Void)? = nil) -> ID {
    begin(Work(name: name, expirationHandler: expirationHandler))
  }

  /// Begins a task that does not expire, because its owner ends it in time.
  package func beginUnlimited(_ name: String) -> ID { begin(Work(name: name, isUnlimited: true)) }

  private func begin(_ work: Work) -> ID {
    state.withLock { state in
      state.lastNumber += 1
      state.tasks[state.lastNumber] = work
      if !work.isUnlimited, state.end != nil, state.timer == nil { state.timer = makeTimer() }
      return ID(number: state.lastNumber)
    }
  }

  /// Ends a task. For a task that has already ended or expired, this only logs a message.
  public func end(_ id: ID) {
    let (task, deferred) = state.withLock { state in
      (state.tasks.removeValue(forKey: id.number), state.takeDeferredIfIdle())
    }
    deferred.run()
    if task == nil { log("background task \(id.number) has already ended") }
  }

  /// The remaining time, not negative; `nil` in the foreground. The counterpart of
  /// `UIApplication.backgroundTimeRemaining`.
  public var timeRemaining: Duration? {
    state.withLock(\.end).map { .seconds(max(0, $0 - clock.now.uptime)) }
  }

  /// Whether there are no tasks.
  package var isIdle: Bool { state.withLock(\.tasks.isEmpty) }

  /// Sets the time limit, or extends the current one.
  ///
  /// - Parameter start: The uptime from which it counts, in seconds.
  func limit(from start: Double) -> DeferredWork {
    state.withLock { state in
      let end = start + Self.timeLimit.inSeconds
      state.end = max(state.end ?? end, end)
      defer { state.timer = state.needsTimer ? makeTimer() : nil }
      return DeferredWork(timer: state.timer)
    }
  }

  /// Removes the limit, and takes the waiters, which no longer need to wait.
  func unlimit() -> DeferredWork {
    state.withLock { state in
      state.end = nil
      return state.takeDeferred()
    }
  }

  /// Waits until there are no tasks, or until the application enters the foreground.
  func waitUntilIdle() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        let isOver = state.tasks.isEmpty || state.end == nil
        if !isOver { state.waiters.append(continuation) }
        return isOver
      }
      if isOver { continuation.resume() }
    }
  }

  private func makeTimer() -> Task<Void, Never> {
    Task { [weak self, clock] in
      while let left = self?.timeRemaining {
        if left == .zero, self?.expire() == true { return }
        guard (try? await clock.sleep(for: left)) != nil else { return }
      }
    }
  }

  /// Expires the tasks in the order in which they began, except unlimited ones. Each task stays until its handler has
  /// returned.
  ///
  /// - Returns: Whether the time limit was over.
  private func expire() -> Bool {
    let now = clock.now.uptime
    let expired = state.withLock { state -> [Int]? in
      guard let end = state.end, end <= now else { return nil }
      state.timer = nil
      return state.tasks.filter { !$0.value.isUnlimited }.keys.sorted()
    }
    guard let expired else { return false }
    for number in expired {
      let task = state.withLock { state in
        defer { state.tasks[number]?.expirationHandler = nil }
        return state.tasks[number]
      }
      guard let task else { continue }
      log("background task \(number) (\(task.name)) has expired")
      task.expirationHandler?()
      let deferred = state.withLock { state in
        state.tasks[number] = nil
        return state.takeDeferredIfIdle()
      }
      deferred.run()
    }
    return true
  }
}
