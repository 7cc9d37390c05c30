import Synchronization

/// A value that is loaded again once it is older than its lifetime.
package final class RecentValue<Value: Sendable>: Sendable {
  private let lifetime: Duration
  private let latest = Mutex<(value: Value, time: ContinuousClock.Instant)?>(nil)

  /// - Parameter lifetime: The time for which a value is kept.
  package init(lifetime: Duration) {
    self.lifetime = lifetime
  }

  /// Returns the value, loaded now if there is no recent one.
  ///
  /// - Parameter load: Returns the current value; nil if it is not available. That is not kept.
  package func value(_ load: @Sendable () async -> Value?) async -> Value? {
    let known = latest.withLock { $0 }
    if let known, .now - known.time < lifetime { return known.value }
    guard let value = await load() else { return nil }
    latest.withLock { $0 = (value, .now) }
    return value
  }
}
