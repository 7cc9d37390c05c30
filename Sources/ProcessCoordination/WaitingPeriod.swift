/// A wait with a start and a length. Its end is not stored as a date, because users may set the clock.
package struct WaitingPeriod: Sendable, Hashable, Codable {
  /// The start of the wait.
  package var start: FetchInstant
  /// The length in seconds, not negative.
  package var seconds: Double

  /// - Parameter seconds: The length, clamped to `0...maximum`; NaN means `maximum`.
  package init(_ seconds: Double, from start: FetchInstant, maximum: Double) {
    self.start = start
    self.seconds = seconds.isNaN ? maximum : min(max(seconds, 0), maximum)
  }

  /// Returns the remaining seconds, 0 after the end.
  package func remaining(at now: FetchInstant) -> Double {
    max(0, seconds - now.elapsed(since: start))
  }
}
