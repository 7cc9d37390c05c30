import Synchronization

/// Defers reloads of the user interface until it is visible.
///
/// In the foreground a reload runs at once. In the background it runs when the application enters the foreground, once
/// for any number of requests.
///
///     let application = Application(launchReason: .user)
///     let gate = ReloadGate(application: application) { print("reload") }
///     gate.setNeedsReload()  // in the background: prints nothing
///     await application.enterForeground()  // prints reload
public final class ReloadGate: Sendable {
  private let application: Application
  private let reload: @Sendable () -> Void
  private let isPending = Mutex(false)
  private let observation = Mutex<Observation?>(nil)

  /// Creates a gate, which observes the application. Observers are notified in the order of registration, so register
  /// those that load the content before.
  ///
  /// - Parameters:
  ///   - application: The application whose state decides when to reload.
  ///   - reload: Shows the stored data, on the thread that calls ``setNeedsReload()`` or on that of a task.
  public init(application: Application, reload: @escaping @Sendable () -> Void) {
    self.application = application
    self.reload = reload
    let observation = application.observe { [weak self] event in
      if event == .didEnterForeground { self?.open() }
    }
    self.observation.withLock { $0 = observation }
  }

  /// Requests a reload, because the stored data has changed.
  public func setNeedsReload() {
    let isVisible = isPending.withLock { isPending in
      // The state is read under the lock. A request that reads `background` is therefore seen by `open`, which runs
      // after the change of state.
      let isVisible = application.currentState == .foreground
      isPending = !isVisible
      return isVisible
    }
    if isVisible { reload() }
  }

  private func open() {
    let isDue = isPending.withLock { isPending in
      guard isPending, application.currentState == .foreground else { return false }
      isPending = false
      return true
    }
    if isDue { reload() }
  }
}
