extension Duration {
  /// The duration in seconds, the unit of `FetchInstant`.
  package var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}
