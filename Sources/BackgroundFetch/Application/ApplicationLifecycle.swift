import Synchronization

/// The lifecycle of the application: its launch reason, its state, and the events that announce changes of the state.
///
/// The counterpart of `UIApplication` and of the lifecycle methods of `UIApplicationDelegate`.
///
/// The state changes at once. The event is then delivered to the observers one after the other, in the order of
/// registration. Each observer is awaited, and the next event follows after all of them. An observer must not await a
/// change of state, which would deadlock: the event of that change is delivered only after the observer has returned.
///
///     let application = ApplicationLifecycle(launchReason: .user)
///     let observation = application.observe { event in print(event) }
///     await application.launch()  // prints didLaunch, willEnterForeground, didEnterForeground, didBecomeActive
///     let suspension = await application.suspend()  // prints willResignActive, didEnterBackground
///     print(suspension)  // suspended
///     observation.cancel()
public final class ApplicationLifecycle: Sendable {
  /// An event that is delivered to observers.
  ///
  ///     let application = ApplicationLifecycle(launchReason: .fetch)
  ///     let observation = application.observe { event in
  ///       if event == .didEnterBackground { print("save the state") }
  ///     }
  ///     await application.launch()
  ///     observation.cancel()
  public enum Event: String, Sendable, Hashable {
    /// The process has started. Observers load the state that every launch needs.
    case didLaunch
    /// The application becomes visible. Observers undo what they did on entering the background. This event precedes
    /// `didEnterForeground`, on launches by the user too.
    case willEnterForeground
    /// The application is visible. Observers load the content that it shows.
    case didEnterForeground
    /// The application receives the input of the user. Observers start what they have paused.
    case didBecomeActive
    /// The application no longer receives the input of the user, because of another window or before it leaves the
    /// foreground. Observers pause what needs the user's attention.
    case willResignActive
    /// The application is no longer visible. Observers save its state.
    case didEnterBackground
    /// The process will exit. This event follows `didEnterBackground`.
    case willTerminate
  }

  /// The outcome of ``ApplicationLifecycle/suspend()``.
  ///
  ///     switch await ApplicationLifecycle(launchReason: .fetch).suspend() {
  ///     case .suspended: print("the process may stay")
  ///     case .terminated: print("the process may exit")
  ///     case .refused: print("the application is in the foreground")
  ///     }
  public enum Suspension: String, Sendable, Hashable {
    /// The application is inactive, and its state is saved.
    case suspended
    /// The application exits on suspension, and all observers have received `willTerminate`. The process may exit.
    case terminated
    /// The application has entered the foreground meanwhile.
    case refused
  }

  /// The delivery to await and, after a change of state, the work to do once no lock is held.
  private typealias Change = (delivery: Task<Void, Never>?, deferred: BackgroundTasks.DeferredWork?)

  private struct State {
    var current = ApplicationState.background
    var isLaunched = false
    /// Whether the application is active, only in the foreground.
    var isActive = false
    var observers: [Int: @Sendable (Event) async -> Void] = [:]
    /// The number of the last registration.
    var lastNumber = 0
    /// The task that delivers the last event, after all earlier ones.
    var delivery: Task<Void, Never>?
  }

  /// The reason for the launch of the process.
  public let launchReason: LaunchReason
  /// Whether the process exits instead of being suspended. The counterpart of the key `UIApplicationExitsOnSuspend`.
  public let exitsOnSuspend: Bool
  /// The tasks that must finish in the background.
  public let backgroundTasks: BackgroundTasks
  let clock: any FetchClock
  /// The observers of changes of the state. They read the state when they are called, because it may have changed
  /// again.
  let stateChanges = ObserverList<Void>()
  private let state = Mutex(State())

  /// Creates an application in the background that has not been launched.
  ///
  /// - Parameters:
  ///   - launchReason: The reason for the launch of the process.
  ///   - exitsOnSuspend: Whether the process exits instead of being suspended.
  ///   - clock: The clock that measures the limits.
  ///   - log: Receives messages about misuse and about expired tasks.
  public init(
    launchReason: LaunchReason, exitsOnSuspend: Bool = false, clock: any FetchClock = SystemClock(),
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.launchReason = launchReason
    self.exitsOnSuspend = exitsOnSuspend
    self.clock = clock
    backgroundTasks = BackgroundTasks(clock: clock, log: log)
    backgroundTasks.limit(from: clock.now.uptime).run()
  }

  /// The current state.
  public var currentState: ApplicationState { state.withLock(\.current) }

  /// Whether the application is in the foreground and receives the input of the user. The counterpart of
  /// `UIApplication.State.active`.
  public var isActive: Bool { state.withLock(\.isActive) }

  /// Calls the body for each event from now on, and awaits it.
  ///
  /// - Returns: The registration, which ends when it is cancelled or released.
  public func observe(_ body: @escaping @Sendable (Event) async -> Void) -> ObservationToken {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.observers[state.lastNumber] = body
      return state.lastNumber
    }
    return ObservationToken { [weak self] in
      // Releasing the body may run other code, so it is released outside the lock.
      _ = self?.state.withLock { $0.observers.removeValue(forKey: number) }
    }
  }

  /// Delivers `didLaunch` to observers, and enters the foreground if the user launched the application. A second call
  /// does nothing.
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

  /// Enters the foreground, where nothing is limited, becomes active, and returns once observers have loaded the content.
  public func enterForeground() async {
    let (delivery, deferred) = state.withLock { state -> Change in
      guard state.current != .foreground, !isTerminated(state) else { return (state.delivery, nil) }
      state.current = .foreground
      state.isActive = true
      enqueue(.willEnterForeground, &state)
      enqueue(.didEnterForeground, &state)
      enqueue(.didBecomeActive, &state)
      return (state.delivery, backgroundTasks.unlimit())
    }
    await deliver(delivery, deferred)
  }

  /// Becomes active again, because the application in the foreground receives the input of the user. It returns once
  /// observers have been called. In the background, and if the application is active, nothing happens.
  public func becomeActive() async { await setActive(true) }

  /// Stops being active, because another window receives the input of the user. It returns once observers have been
  /// called. If the application is not active, nothing happens.
  ///
  ///     let application = ApplicationLifecycle(launchReason: .user)
  ///     await application.launch()
  ///     await application.resignActive()
  ///     print(application.currentState, application.isActive)  // foreground false
  ///     await application.becomeActive()
  public func resignActive() async { await setActive(false) }

  private func setActive(_ isActive: Bool) async {
    let delivery = state.withLock { state in
      if state.current == .foreground, state.isActive != isActive {
        state.isActive = isActive
        enqueue(isActive ? .didBecomeActive : .willResignActive, &state)
      }
      return state.delivery
    }
    await delivery?.value
  }

  /// Leaves the foreground, and returns once observers have saved the state.
  public func enterBackground() async {
    let now = clock.now.uptime
    let (delivery, deferred) = state.withLock { state -> Change in
      guard state.current == .foreground else { return (state.delivery, nil) }
      state.current = .background
      if state.isActive { enqueue(.willResignActive, &state) }
      state.isActive = false
      enqueue(.didEnterBackground, &state)
      return (state.delivery, backgroundTasks.limit(from: now))
    }
    await deliver(delivery, deferred)
  }

  /// Suspends the application. It leaves the foreground, waits until the state is saved and the background tasks have
  /// ended or expired, and delivers `willTerminate` if the application exits on suspension.
  ///
  /// - Returns: The outcome. It is `refused` if the application enters the foreground meanwhile.
  public func suspend() async -> Suspension {
    await enterBackground()
    while true {
      let saved = state.withLock(\.delivery)
      await saved?.value
      await backgroundTasks.waitUntilIdle()
      let outcome = state.withLock { state -> ApplicationState in
        // A delivery or a task that has started meanwhile is awaited too.
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
        stateChanges.notify(())
        await state.withLock(\.delivery)?.value
        return exitsOnSuspend ? .terminated : .suspended
      }
    }
  }

  /// Lets an application that is not in the foreground work for a limited time.
  ///
  /// - Parameter start: The uptime from which its time limit counts, in seconds.
  func wake(from start: Double) {
    let (deferred, isChange) = state.withLock { state -> (BackgroundTasks.DeferredWork?, Bool) in
      guard state.current != .foreground, !isTerminated(state) else { return (nil, false) }
      let isChange = state.current == .suspended
      state.current = .background
      return (backgroundTasks.limit(from: start), isChange)
    }
    deferred?.run()
    if isChange { stateChanges.notify(()) }
  }

  private func deliver(_ delivery: Task<Void, Never>?, _ deferred: BackgroundTasks.DeferredWork?) async {
    if let deferred {
      deferred.run()
      stateChanges.notify(())
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

extension ApplicationLifecycle {
  /// Does some work that may wake the application. If the application was suspended before, it is suspended again, as a
  /// system does after a wake.
  package func whileAwake<Value>(_ work: () async -> Value) async -> Value {
    let wasSuspended = currentState == .suspended
    let value = await work()
    if wasSuspended, currentState == .background { _ = await suspend() }
    return value
  }

  /// Whether the process should exit, because the application was suspended and exits then.
  package var isTerminated: Bool { exitsOnSuspend && currentState == .suspended }
}
