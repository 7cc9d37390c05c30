import Synchronization

/// Stores the progress of an attempt at intervals.
final class ProgressRecorder: Sendable {
  /// The minimum interval between two updates, in seconds.
  static let interval = 0.25

  private let journal: TransferJournal
  private let number: Int64
  private let clock: any FetchClock
  private let lastUpdate: Mutex<FetchInstant>

  init(journal: TransferJournal, number: Int64, clock: any FetchClock) {
    self.journal = journal
    self.number = number
    self.clock = clock
    lastUpdate = Mutex(clock.now)
  }

  /// - Parameter completed: The number of bytes from the beginning.
  func record(_ completed: Int64) {
    let now = clock.now
    let isDue = lastUpdate.withLock { lastUpdate in
      guard now.seconds(since: lastUpdate) >= Self.interval else { return false }
      lastUpdate = now
      return true
    }
    // The transfer continues even if its progress cannot be stored.
    if isDue { _ = try? journal.update(number) { $0.completed = completed } }
  }
}
