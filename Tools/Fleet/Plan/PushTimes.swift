/// The pushes that the phones of a scope receive, by the rules of the server: the publications within a window share a push,
/// and a phone receives three silent pushes an hour.
struct PushTimes {
  /// The maximum number of silent pushes that a phone receives in an hour (`TIDINGS_PUSH_BUDGET`).
  static let budget = 3

  /// The times at which the server starts a push, in order.
  private let starts: [Double]

  /// - Parameters:
  ///   - items: The times of the publications of the scope, in order.
  ///   - window: The seconds from a publication to its push.
  init(items: [Double], window: Double) {
    var starts: [Double] = []
    for item in items where starts.last.map({ item > $0 }) ?? true { starts.append(item + window) }
    self.starts = starts
  }

  /// Returns the times at which a phone receives pushes.
  ///
  /// - Parameter delay: The seconds from the start of a push until it is the phone's turn.
  func arrivals(delay: Double) -> [Double] {
    var sent: [Double] = []
    for start in starts {
      let due = start + delay
      let allowed = sent.count < Self.budget ? due : max(due, sent[sent.count - Self.budget] + 3600)
      // A message that is owed already announces this publication too.
      if let last = sent.last, last >= due { continue }
      sent.append(allowed)
    }
    return sent
  }
}
