import Foundation

/// Chooses when to wake, exactly, for the quarters of an hour to come.
///
/// Each opening of the app is worth what is the chance that nothing came out between the last wake and it; each wake
/// has a price. The plan with the highest sum is found from its end (Bellman, Dynamic Programming, 1957). Where
/// openings and news are spread evenly, so are the wakes.
struct WakePlanner {
  /// How probable an opening is in each of the quarters of an hour.
  var openings: [Double]
  /// How probable it is in each that nothing comes out.
  var calm: [Double]
  /// How probable it is that nothing has come out from the last fetch to the first quarter.
  var freshness: Double
  /// How many quarters lie between two wakes, at the least and at the most.
  var gap: ClosedRange<Int>
  /// The first quarter that may have a wake, and the last one that may be the first to have one.
  var first: ClosedRange<Int>

  /// How many quarters are looked ahead, two days. A wake is no more than one day after another.
  static let horizon = 2 * LocalQuarter.perDay

  /// The quarters before which to wake, in order. A wake serves its quarter and those that follow up to the next wake.
  ///
  /// - Parameter price: How many served openings a wake must bring more.
  func wakes(price: Double) -> [Int] {
    let count = openings.count
    guard first.lowerBound < count else { return [] }
    // The value of all that follows a wake before a quarter, and the wake after it.
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

  /// The best next wake.
  ///
  /// - Parameters:
  ///   - start: The first quarter to be served by what is held.
  ///   - fresh: How probable it is that what is held at its beginning is the newest.
  ///   - range: Where the next wake may be; none is needed if that goes beyond the horizon.
  private func best(
    from start: Int, fresh: Double, next range: ClosedRange<Int>, _ values: [Double]
  ) -> (value: Double, next: Int) {
    let count = openings.count
    var best = (value: -Double.infinity, next: count)
    var served = 0.0
    var fresh = fresh
    // Far the most of the time is spent here, and going over a range is slow without optimisation.
    var quarter = start
    let end = min(range.upperBound, count)
    while quarter <= end {
      if quarter >= range.lowerBound || quarter == count, served + values[quarter] > best.value {
        best = (served + values[quarter], quarter)
      }
      guard quarter < count else { break }
      // News of the same quarter are before half of its openings.
      let calm = calm[quarter]
      served += openings[quarter] * fresh * (1 + calm) / 2
      fresh *= calm
      quarter += 1
    }
    return best
  }
}
