import Synchronization

/// The tasks that must finish although the application has left the foreground.
///
/// There is no limit in the foreground. Tasks have an allowance that begins when the application leaves the foreground,
/// and again with each wake. Tasks that have not ended by then expire. Suspension waits for all tasks. The counterpart
/// of `UIApplication.beginBackgroundTask(withName:expirationHandler:)`.
///
///     let application = Application(launchReason: .user)
///     let task = application.backgroundTasks.begin("upload") { print("interrupted") }
///     print(application.backgroundTasks.timeRemaining ?? .zero)
///     application.backgroundTasks.end(task)
public final class BackgroundTasks: Sendable {
  /// The identifier of a task, valid within one process. The counterpart of `UIBackgroundTaskIdentifier`.
  ///
  ///     let tasks = Application(launchReason: .push).backgroundTasks
  ///     let id: BackgroundTasks.ID = tasks.begin("upload")
  ///     tasks.end(id)
  public struct ID: Sendable, Hashable {
    let number: UInt64
  }

  /// The time for tasks, from the moment at which the application leaves the foreground or is woken.
  public static let allowance = FetchBudget.total

  private struct Work {
    var name: String
    var expirationHandler: (@Sendable () -> Void)?
    /// Whether its owner ends it in time with a timer of its own.
    var isHeld = false
  }

  /// The work that a change leaves to be done once no lock is held.
  struct Leftovers {
    var timer: Task<Void, Never>?
    var waiters: [CheckedContinuation<Void, Never>] = []

    func settle() {
      timer?.cancel()
      for waiter in waiters { waiter.resume() }
    }
  }

  private struct State {
    var tasks: [UInt64: Work] = [:]
    var last: UInt64 = 0
    /// The uptime at which the allowance is used up, in seconds; nil in the foreground.
    var end: Double?
    var timer: Task<Void, Never>?
    var waiters: [CheckedContinuation<Void, Never>] = []

    /// Whether any task needs the timer.
    var needsTimer: Bool { tasks.values.contains { !$0.isHeld } }

    mutating func takeLeftoversIfIdle() -> Leftovers {
      if tasks.isEmpty { return takeLeftovers() }
      return needsTimer ? Leftovers() : Leftovers(timer: timer.take())
    }

    mutating func takeLeftovers() -> Leftovers {
      defer { waiters = [] }
      return Leftovers(timer: timer.take(), waiters: waiters)
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
  ///   - expirationHandler: Called once if the allowance is used up before the task ends; soon if it is used up
  ///     already. The task ends when the handler returns, or within it by `end(_:)`.
  /// - Returns: The identifier to pass to `end(_:)`.
  public func begin(_ name: String, expirationHandler: (@Sendable () -> Void)? = nil) -> ID {
    let number = state.withLock { state in
      state.last += 1
      state.tasks[state.last] = Work(name: name, expirationHandler: expirationHandler)
      if state.end != nil, state.timer == nil { state.timer = makeTimer() }
      return state.last
    }
    return ID(number: number)
  }

  /// Begins a task that does not expire, because its owner ends it in time.
  func hold(_ name: String) -> ID {
    state.withLock { state in
      state.last += 1
      state.tasks[state.last] = Work(name: name, isHeld: true)
      return ID(number: state.last)
    }
  }

  /// Ends a task. For a task that has already ended or expired, this only logs a message.
  public func end(_ id: ID) {
    let (task, leftovers) = state.withLock { state in
      (state.tasks.removeValue(forKey: id.number), state.takeLeftoversIfIdle())
    }
    leftovers.settle()
    if task == nil { log("background task \(id.number) was ended again") }
  }

  /// The rest of the allowance, not negative; `nil` in the foreground. The counterpart of
  /// `UIApplication.backgroundTimeRemaining`.
  public var timeRemaining: Duration? {
    state.withLock(\.end).map { .seconds(max(0, $0 - clock.now.uptime)) }
  }

  var isIdle: Bool { state.withLock(\.tasks.isEmpty) }

  /// Sets the allowance, or extends the present one.
  ///
  /// - Parameter start: The uptime from which it counts, in seconds.
  func limit(from start: Double) -> Leftovers {
    state.withLock { state in
      let end = start + Self.allowance.inSeconds
      state.end = max(state.end ?? end, end)
      defer { state.timer = state.needsTimer ? makeTimer() : nil }
      return Leftovers(timer: state.timer)
    }
  }

  /// Removes the limit, and takes the waiters, which need not wait any more.
  func unlimit() -> Leftovers {
    state.withLock { state in
      state.end = nil
      return state.takeLeftovers()
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

  /// Expires the tasks in the order in which they began, except those that are held. Each stays until its handler has
  /// returned.
  ///
  /// - Returns: Whether the allowance was used up.
  private func expire() -> Bool {
    let now = clock.now.uptime
    let expired = state.withLock { state -> [UInt64]? in
      guard let end = state.end, end <= now else { return nil }
      state.timer = nil
      return state.tasks.filter { !$0.value.isHeld }.keys.sorted()
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
      let leftovers = state.withLock { state in
        state.tasks[number] = nil
        return state.takeLeftoversIfIdle()
      }
      leftovers.settle()
    }
    return true
  }
}
