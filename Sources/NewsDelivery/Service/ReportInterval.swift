/// Limits how often events of one kind are reported: the first one at once, and then at most one in ten minutes.
///
///     var interval = ReportInterval()
///     print(interval.note(at: 0) ?? 0, interval.note(at: 5) ?? 0, interval.note(at: 600) ?? 0)  // 1 0 2
package struct ReportInterval: Sendable {
  /// The shortest time between two reports, in seconds.
  package static let seconds: Double = 600

  private var last: Double?
  private var count = 0

  package init() {}

  /// Counts an event.
  ///
  /// - Parameter seconds: A monotonic time in seconds.
  /// - Returns: The number of events since the last report, if one is due; nil otherwise.
  package mutating func note(at seconds: Double) -> Int? {
    count += 1
    if let last, seconds - last < Self.seconds { return nil }
    defer { (last, count) = (seconds, 0) }
    return count
  }
}
