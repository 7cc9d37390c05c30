extension FetchMoment {
  /// Returns the seconds since an earlier moment, not negative.
  ///
  /// Every moment of this boot is later than any moment of another boot, however the clock was set. A wait for a time
  /// span therefore ends no later than that span after the boot.
  package func elapsed(since earlier: FetchMoment) -> Double {
    max(0, seconds(since: earlier), boot == earlier.boot ? 0 : uptime)
  }
}

/// A wait of some length from a moment on. Its end is not stored as a date, because users set clocks.
package struct Waiting: Sendable, Hashable, Codable {
  /// The start of the wait.
  package var start: FetchMoment
  /// The length in seconds, not negative.
  package var seconds: Double

  /// - Parameter seconds: The length, clamped to `0...longest`; NaN means `longest`.
  package init(_ seconds: Double, from start: FetchMoment, longest: Double) {
    self.start = start
    self.seconds = seconds.isNaN ? longest : min(max(seconds, 0), longest)
  }

  /// Returns the remaining seconds, 0 after the end.
  package func remaining(at now: FetchMoment) -> Double {
    max(0, seconds - now.elapsed(since: start))
  }
}
