import Synchronization

/// Reloads what is shown at once in the foreground; in the background not before it is seen again, and then once,
/// however often that was asked for.
public final class ReloadGate: Sendable {
  private let application: Application
  private let reload: @Sendable () -> Void
  private let isPending = Mutex(false)
  private let observation = Mutex<Observation?>(nil)

  /// A gate that is told of the application coming to the foreground in the order of registration: those who load what
  /// is shown are to be registered before.
  ///
  /// - Parameter reload: Shows what is stored, on the thread of whoever asks for it or on that of a task.
  public init(application: Application, reload: @escaping @Sendable () -> Void) {
    self.application = application
    self.reload = reload
    let observation = application.observe { [weak self] event in
      if event == .didEnterForeground { self?.open() }
    }
    self.observation.withLock { $0 = observation }
  }

  /// What is stored has changed.
  public func setNeedsReload() {
    let isVisible = isPending.withLock { isPending in
      // Under the lock: whoever finds the background here is seen by `open`, which comes after the change of state.
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
