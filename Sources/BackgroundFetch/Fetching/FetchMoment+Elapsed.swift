extension FetchMoment {
  /// The seconds since an earlier moment, never negative.
  ///
  /// All of this boot is later than a moment of another one, however the time of day was set. So nothing that waits for
  /// a span of time waits longer than that span from the boot on.
  package func elapsed(since earlier: FetchMoment) -> Double {
    max(0, seconds(since: earlier), boot == earlier.boot ? 0 : uptime)
  }
}

/// A time to wait that began at some moment. Its end is not kept as a date, since people set clocks.
package struct Waiting: Sendable, Hashable, Codable {
  /// The beginning.
  package var start: FetchMoment
  /// The length in seconds, not negative.
  package var seconds: Double

  /// - Parameter seconds: Cut to `0...longest`; what is no number is the longest.
  package init(_ seconds: Double, from start: FetchMoment, longest: Double) {
    self.start = start
    self.seconds = seconds.isNaN ? longest : min(max(seconds, 0), longest)
  }

  /// The seconds that are left, 0 if it is over.
  package func remaining(at now: FetchMoment) -> Double {
    max(0, seconds - now.elapsed(since: start))
  }
}
