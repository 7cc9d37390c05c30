import Synchronization

/// Defers reloads of the user interface until it is visible.
///
/// In the foreground, a reload runs at once. In the background, it runs when the application enters the foreground,
/// once for any number of requests.
///
///     let application = ApplicationLifecycle(launchReason: .fetch)
///     let gate = ReloadGate(application: application) { print("reload") }
///     let fetcher = BackgroundFetcher<FetchResult>(application: application)
///     let outcome = await fetcher.perform(reason: .scheduled) { _ in .newData }
///     if outcome.result == .newData { gate.setNeedsReload() }  // prints nothing in the background
///     await application.enterForeground()  // prints reload
public final class ReloadGate: Sendable {
  private let application: ApplicationLifecycle
  private let reload: @Sendable () -> Void
  private let isPending = Mutex(false)
  private let observation = Mutex<ObservationToken?>(nil)

  /// Creates a gate, which observes the application. Observers are notified in the order of registration, so register
  /// observers that load the content before.
  ///
  /// - Parameters:
  ///   - application: The application whose state determines when to reload.
  ///   - reload: The function that shows the stored data. It runs on the thread that calls ``setNeedsReload()``, or on
  ///     the thread of a task.
  public init(application: ApplicationLifecycle, reload: @escaping @Sendable () -> Void) {
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
      // The state is read under the lock. If it is still `background`, `open` runs after the change of the state and
      // finds the request.
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
