import Synchronization

/// Work that must come to its end although the application has left the foreground.
///
/// In the foreground there is no limit. From leaving it, and again from each wake, tasks have an allowance; whatever has
/// not ended by then expires. Suspension waits for all tasks.
public final class BackgroundTasks: Sendable {
  /// Names one task, within one process.
  public struct ID: Sendable, Hashable {
    let number: UInt64
  }

  /// What tasks have from the moment at which the application leaves the foreground or is woken.
  public static let allowance = FetchBudget.total

  private struct Work {
    var name: String
    var expirationHandler: (@Sendable () -> Void)?
    /// Whether its owner ends it in time by a timer of its own.
    var isHeld = false
  }

  /// What a change leaves to be done once no lock is held.
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
    /// The uptime at which the allowance is used up; none in the foreground.
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
  ///   - name: For the log.
  ///   - expirationHandler: Called once if the allowance is used up before the task ends; soon if it is used up already.
  ///     The task ends with it, or within it by `end(_:)`.
  /// - Returns: What ends it.
  public func begin(_ name: String, expirationHandler: (@Sendable () -> Void)? = nil) -> ID {
    let number = state.withLock { state in
      state.last += 1
      state.tasks[state.last] = Work(name: name, expirationHandler: expirationHandler)
      if state.end != nil, state.timer == nil { state.timer = makeTimer() }
      return state.last
    }
    return ID(number: number)
  }

  /// Begins a task that does not expire: its owner ends it in time.
  func hold(_ name: String) -> ID {
    state.withLock { state in
      state.last += 1
      state.tasks[state.last] = Work(name: name, isHeld: true)
      return ID(number: state.last)
    }
  }

  /// Ends a task; one that has ended or expired is logged and nothing else happens.
  public func end(_ id: ID) {
    let (task, leftovers) = state.withLock { state in
      (state.tasks.removeValue(forKey: id.number), state.takeLeftoversIfIdle())
    }
    leftovers.settle()
    if task == nil { log("background task \(id.number) was ended again") }
  }

  /// What is left of the allowance, zero at the least; `nil` in the foreground.
  public var timeRemaining: Duration? {
    state.withLock(\.end).map { .seconds(max(0, $0 - clock.now.uptime)) }
  }

  var isIdle: Bool { state.withLock(\.tasks.isEmpty) }

  /// Sets the allowance, anew if there is one.
  ///
  /// - Parameter start: The uptime from which it counts.
  func limit(from start: Double) -> Leftovers {
    state.withLock { state in
      let end = start + Self.allowance.inSeconds
      state.end = max(state.end ?? end, end)
      defer { state.timer = state.needsTimer ? makeTimer() : nil }
      return Leftovers(timer: state.timer)
    }
  }

  /// There is no limit any more, and nobody waits for the tasks.
  func unlimit() -> Leftovers {
    state.withLock { state in
      state.end = nil
      return state.takeLeftovers()
    }
  }

  /// Waits until there are none, or until the foreground.
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

  /// Expires all tasks in the order in which they began; each is there until its handler has returned.
  ///
  /// - Returns: Whether it was time.
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
