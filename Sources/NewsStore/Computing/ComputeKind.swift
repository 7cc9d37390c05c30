/// A kind of work on the threads of `ComputePool`. Each has its own queue and deadline.
package enum ComputeKind: Int, CaseIterable, Sendable {
  /// The decisions and answers of a write, for which its transaction waits.
  case transaction
  /// The requests of editors, and the console's pages.
  case editing
  /// The responses to readers.
  case reading
  /// Batches.
  case batch
  /// The feeds that the server follows, and previews of them.
  case feed

  /// Whether the kinds of this sort together leave a thread to the others.
  package var isBulk: Bool { self == .batch || self == .feed }

  /// Whether the long jobs of this kind leave a thread to the others. Readers do not choose the size of what they read.
  package var confinesLongJobs: Bool { self != .reading }

  /// The maximum number of waiting jobs. For batches and feeds it is above what can occur: two batches are prepared at a
  /// time, and 16 feeds are polled.
  package var maximumWaiting: Int {
    switch self {
    case .transaction, .editing, .batch, .feed: 256
    case .reading: 1024
    }
  }

  /// The maximum wait of a job.
  package var timeout: Duration {
    switch self {
    case .transaction, .reading: .seconds(5)
    case .editing: .seconds(20)
    case .batch: .seconds(60)
    case .feed: .seconds(120)
    }
  }
}
