import Foundation
import Synchronization

/// A clock that a test moves. It begins at 1,800,000,000 seconds after 1970.
final class TestTime: Sendable {
  private let seconds = Mutex(1_800_000_000.0)

  var now: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }

  func advance(minutes: Double) { seconds.withLock { $0 += minutes * 60 } }
}
