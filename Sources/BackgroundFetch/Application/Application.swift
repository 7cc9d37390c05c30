import Synchronization

/// The application as the system sees it: what it was launched for, and what it may do.
///
/// The state changes at once. Observers are then told of the change one after the other, in the order of registration,
/// each waited for, and of the next change after all of them. They must not wait for a change of state themselves, for
/// that would be told after they have returned.
public final class Application: Sendable {
  /// What observers are told.
  public enum Event: String, Sendable, Hashable {
    /// The process has begun; state that every launch needs is loaded here.
    case didLaunch
    /// The application is seen; what it shows is loaded here.
    case didEnterForeground
    /// The application is seen no longer; it is saved here.
    case didEnterBackground
    /// The process will exit. It comes after `didEnterBackground`.
    case willTerminate
  }

  /// What has become of the wish to suspend the application.
  public enum Suspension: String, Sendable, Hashable {
    /// It does nothing from now on, and all is saved.
    case suspended
    /// It exits on suspension, and everybody has been told: the process may go.
    case terminated
    /// It has come to the foreground meanwhile.
    case refused
  }

  /// What is to be waited for and, if the state has changed, what is to be done once no lock is held.
  private typealias Change = (delivery: Task<Void, Never>?, leftovers: BackgroundTasks.Leftovers?)

  private struct State {
    var current = ApplicationState.background
    var isLaunched = false
    var observers: [UInt64: @Sendable (Event) async -> Void] = [:]
    var last: UInt64 = 0
    /// Tells the last event that there has been, after all the others.
    var delivery: Task<Void, Never>?
  }

  /// What the process was started for.
  public let launchReason: LaunchReason
  /// Whether the process exits instead of being suspended.
  public let exitsOnSuspend: Bool
  /// Work that must come to its end in the background.
  public let backgroundTasks: BackgroundTasks
  let clock: any FetchClock
  /// Of the state; to be read when the call comes, as it may have changed again.
  let changes = Observers<Void>()
  private let state = Mutex(State())

  /// An application in the background that has not been launched.
  ///
  /// - Parameters:
  ///   - launchReason: What the process was started for.
  ///   - exitsOnSuspend: Whether the process exits instead of being suspended.
  ///   - clock: What its limits are measured by.
  ///   - log: Is told of misuse and of what expires.
  public init(
    launchReason: LaunchReason, exitsOnSuspend: Bool = false, clock: any FetchClock = SystemClock(),
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.launchReason = launchReason
    self.exitsOnSuspend = exitsOnSuspend
    self.clock = clock
    backgroundTasks = BackgroundTasks(clock: clock, log: log)
    backgroundTasks.limit(from: clock.now.uptime).settle()
  }

  /// The state at this moment.
  public var currentState: ApplicationState { state.withLock(\.current) }

  /// Tells the body of each event from now on, and waits for it.
  ///
  /// - Returns: The registration; it ends when that is let go of.
  public func observe(_ body: @escaping @Sendable (Event) async -> Void) -> Observation {
    let number = state.withLock { state in
      state.last += 1
      state.observers[state.last] = body
      return state.last
    }
    return Observation { [weak self] in
      // Let go of outside the lock, as what its body holds may do anything when it goes.
      _ = self?.state.withLock { $0.observers.removeValue(forKey: number) }
    }
  }

  /// Tells observers of the launch, and brings the application to the foreground if a user launched it. The second time
  /// nothing happens.
  public func launch() async {
    let delivery = state.withLock { state -> Task<Void, Never>? in
      guard !state.isLaunched else { return nil }
      state.isLaunched = true
      enqueue(.didLaunch, &state)
      return state.delivery
    }
    guard let delivery else { return }
    await delivery.value
    if launchReason == .user { await enterForeground() }
  }

  /// Brings the application to the foreground, where nothing is limited, and returns once it is loaded.
  public func enterForeground() async {
    let (delivery, leftovers) = state.withLock { state -> Change in
      guard state.current != .foreground, !isTerminated(state) else { return (state.delivery, nil) }
      state.current = .foreground
      enqueue(.didEnterForeground, &state)
      return (state.delivery, backgroundTasks.unlimit())
    }
    await announce(delivery, leftovers)
  }

  /// Takes the application from the foreground, and returns once it is saved.
  public func enterBackground() async {
    let now = clock.now.uptime
    let (delivery, leftovers) = state.withLock { state -> Change in
      guard state.current == .foreground else { return (state.delivery, nil) }
      state.current = .background
      enqueue(.didEnterBackground, &state)
      return (state.delivery, backgroundTasks.limit(from: now))
    }
    await announce(delivery, leftovers)
  }

  /// Suspends the application: takes it from the foreground, waits until it is saved and until its background tasks have
  /// ended or expired, and if it exits on suspension tells observers of that.
  ///
  /// - Returns: What the system may do now. It is refused if the application comes to the foreground meanwhile.
  public func suspend() async -> Suspension {
    await enterBackground()
    while true {
      let saved = state.withLock(\.delivery)
      await saved?.value
      await backgroundTasks.waitUntilIdle()
      let outcome = state.withLock { state -> ApplicationState in
        // Whoever was told or has begun a task meanwhile is waited for as well.
        let isSaved = state.delivery == saved && backgroundTasks.isIdle
        guard state.current == .background, isSaved else { return state.current }
        state.current = .suspended
        if exitsOnSuspend { enqueue(.willTerminate, &state) }
        return .suspended
      }
      switch outcome {
      case .foreground: return .refused
      case .background: continue
      case .suspended:
        changes.notify(())
        await state.withLock(\.delivery)?.value
        return exitsOnSuspend ? .terminated : .suspended
      }
    }
  }

  /// Lets an application that is not in the foreground work for a while.
  ///
  /// - Parameter start: The uptime from which its allowance counts.
  func wake(from start: Double) {
    let (leftovers, isChange) = state.withLock { state -> (BackgroundTasks.Leftovers?, Bool) in
      guard state.current != .foreground, !isTerminated(state) else { return (nil, false) }
      let isChange = state.current == .suspended
      state.current = .background
      return (backgroundTasks.limit(from: start), isChange)
    }
    leftovers?.settle()
    if isChange { changes.notify(()) }
  }

  private func announce(_ delivery: Task<Void, Never>?, _ leftovers: BackgroundTasks.Leftovers?) async {
    if let leftovers {
      leftovers.settle()
      changes.notify(())
    }
    await delivery?.value
  }

  private func isTerminated(_ state: borrowing State) -> Bool { exitsOnSuspend && state.current == .suspended }

  private func enqueue(_ event: Event, _ state: inout State) {
    state.delivery = Task { [previous = state.delivery] in
      await previous?.value
      for number in self.state.withLock({ $0.observers.keys.sorted() }) {
        await self.state.withLock { $0.observers[number] }?(event)
      }
    }
  }
}
