import Synchronization

/// The registration of an observer, which ends when it is cancelled or released. It does not retain the observed
/// object. The counterpart of `NSKeyValueObservation` and of Combine's `AnyCancellable`.
///
///     let observers = ObserverList<Int>()
///     let observation = observers.add { value in print(value) }
///     observers.notify(1)  // prints 1
///     observation.cancel()
///     observers.notify(2)  // prints nothing
public final class ObservationToken: Sendable {
  private let onCancel: Mutex<(@Sendable () -> Void)?>

  init(onCancel: @escaping @Sendable () -> Void) {
    self.onCancel = Mutex(onCancel)
  }

  deinit { cancel() }

  /// Ends the registration. At most one call, which was about to start, starts after this method has returned. A second
  /// cancellation does nothing.
  public func cancel() {
    onCancel.withLock { $0.take() }?()
  }
}
