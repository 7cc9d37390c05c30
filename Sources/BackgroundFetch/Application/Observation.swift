import Synchronization

/// A registration, which ends when it is cancelled or released. It does not retain the observed object.
///
///     let observers = Observers<Int>()
///     let observation = observers.add { value in print(value) }
///     observers.notify(1)  // prints 1
///     observation.cancel()
///     observers.notify(2)  // prints nothing
public final class Observation: Sendable {
  private let onCancel: Mutex<(@Sendable () -> Void)?>

  init(onCancel: @escaping @Sendable () -> Void) {
    self.onCancel = Mutex(onCancel)
  }

  deinit { cancel() }

  /// Ends the registration. No call begins after this has returned, except one that is about to begin. A second call
  /// does nothing.
  public func cancel() {
    onCancel.withLock { $0.take() }?()
  }
}
