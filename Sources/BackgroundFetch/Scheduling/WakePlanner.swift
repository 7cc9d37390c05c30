import Foundation

/// Finds the optimal wakes in the coming quarters of an hour.
///
/// The value of an opening of the app is the probability that nothing was published between the last wake and the
/// opening. Each wake has a price. Backward dynamic programming finds the plan with the highest total value (Bellman,
/// Dynamic Programming, 1957). If openings and news are spread evenly, so are the wakes.
struct WakePlanner {
  /// The probability of an opening, for each quarter.
  var openings: [Double]
  /// The probability that nothing is published, for each quarter.
  var quiet: [Double]
  /// The probability that nothing was published between the last fetch and the first quarter.
  var freshness: Double
  /// The minimum and the maximum number of quarters between two wakes.
  var gap: ClosedRange<Int>
  /// The earliest and the latest quarter of the first wake.
  var first: ClosedRange<Int>

  /// The number of quarters in a plan: two days. The maximum gap between wakes is one day, unless the interval is
  /// longer.
  static let horizon = 2 * LocalQuarter.perDay

  /// Returns the quarters before which to wake, in order. A wake serves its quarter and the following ones, up to the
  /// next wake.
  ///
  /// - Parameter price: The number of additional served openings that a wake must bring.
  func wakes(price: Double) -> [Int] {
    let count = openings.count
    guard first.lowerBound < count else { return [] }
    // For a wake before each quarter: the value of the plan from then on, and the next wake.
    var values = [Double](repeating: 0, count: count + 1)
    var following = [Int](repeating: count, count: count + 1)
    for wake in stride(from: count - 1, through: first.lowerBound, by: -1) {
      let best = best(from: wake, fresh: 1, next: wake + gap.lowerBound...wake + gap.upperBound, values)
      values[wake] = best.value - price
      following[wake] = best.next
    }
    var wakes: [Int] = []
    var next = best(from: 0, fresh: freshness, next: first, values).next
    while next < count {
      wakes.append(next)
      next = following[next]
    }
    return wakes
  }

  /// Returns the best next wake and the value of the plan from `start` on.
  ///
  /// - Parameters:
  ///   - start: The first quarter that the stored items serve.
  ///   - fresh: The probability that the stored items are the newest at its start.
  ///   - range: The range of the next wake. If it extends beyond the horizon, no wake is needed.
  private func best(
    from start: Int, fresh: Double, next range: ClosedRange<Int>, _ values: [Double]
  ) -> (value: Double, next: Int) {
    let count = openings.count
    var best = (value: -Double.infinity, next: count)
    var served = 0.0
    var fresh = fresh
    // This loop is the most expensive part, and iterating over a range is slow without optimisation.
    var quarter = start
    let end = min(range.upperBound, count)
    while quarter <= end {
      if quarter >= range.lowerBound || quarter == count, served + values[quarter] > best.value {
        best = (served + values[quarter], quarter)
      }
      guard quarter < count else { break }
      // On average, the news of a quarter precede half of its openings.
      let quiet = quiet[quarter]
      served += openings[quarter] * fresh * (1 + quiet) / 2
      fresh *= quiet
      quarter += 1
    }
    return best
  }
}
