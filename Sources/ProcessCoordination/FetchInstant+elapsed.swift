extension FetchInstant {
  /// Returns the seconds since an earlier instant, not negative.
  ///
  /// After a reboot, at least the uptime has elapsed, however the clock was set. A wait of some length therefore ends
  /// no later than that length after the boot.
  package func elapsed(since earlier: FetchInstant) -> Double {
    max(0, seconds(since: earlier), boot == earlier.boot ? 0 : uptime)
  }
}
