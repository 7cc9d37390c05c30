extension Duration {
  /// Creates a duration of seconds that a damaged file may contain.
  ///
  /// - Parameter seconds: The length, clamped to 0...1,000 years; NaN means 0.
  init(clamping seconds: Double) {
    self = .seconds(seconds.isNaN ? 0 : min(max(seconds, 0), 31_556_952_000))
  }
}
