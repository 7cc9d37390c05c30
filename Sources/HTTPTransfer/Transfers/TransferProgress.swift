import Synchronization

/// Stores the progress of an attempt at intervals.
final class TransferProgress: Sendable {
  /// The minimum interval between two updates, in seconds.
  static let step = 0.25

  private let journal: TransferJournal
  private let number: Int64
  private let clock: any FetchClock
  private let noted: Mutex<FetchInstant>

  init(journal: TransferJournal, number: Int64, clock: any FetchClock) {
    self.journal = journal
    self.number = number
    self.clock = clock
    noted = Mutex(clock.now)
  }

  /// - Parameter completed: The number of bytes from the beginning.
  func note(_ completed: Int64) {
    let now = clock.now
    let isDue = noted.withLock { noted in
      guard now.seconds(since: noted) >= Self.step else { return false }
      noted = now
      return true
    }
    // The transfer continues even if its progress cannot be stored.
    if isDue { _ = try? journal.update(number) { $0.completed = completed } }
  }
}
