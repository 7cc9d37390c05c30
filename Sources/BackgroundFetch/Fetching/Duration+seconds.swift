extension Duration {
  /// In seconds, as `FetchMoment` counts.
  var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}
