import Synchronization

/// A registration, which lasts until it is cancelled or let go of. It does not keep what is observed alive.
public final class Observation: Sendable {
  private let onCancel: Mutex<(@Sendable () -> Void)?>

  init(onCancel: @escaping @Sendable () -> Void) {
    self.onCancel = Mutex(onCancel)
  }

  deinit { cancel() }

  /// Ends it. No call begins after this has returned, save one that is about to; a second time nothing happens.
  public func cancel() {
    onCancel.withLock { $0.take() }?()
  }
}
