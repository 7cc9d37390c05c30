import Synchronization

/// The delays of actions behind their times. If they are long, this machine is too slow for the number of phones.
final class DelayRecord: Sendable {
  private let delays = Mutex<[Duration]>([])

  func record(_ delay: Duration) { delays.withLock { $0.append(delay) } }

  /// The 99th percentile; zero without actions.
  var percentile: Duration {
    let sorted = delays.withLock { $0.sorted() }
    return sorted.isEmpty ? .zero : sorted[sorted.count * 99 / 100]
  }
}
