/// The price of a wake, in openings of the app that find all news on the device.
struct WakePrice: Sendable, Hashable, Codable {
  /// The price at ``usualOpenings``. A fresh install expects four openings a day at any time and one news item an hour.
  /// A wake is then worth its price after somewhat less than two hours. The price rises with the openings, so that
  /// frequent openings do not cause more wakes.
  static let base = 0.09
  static let usualOpenings = 4.0
  /// The maximum factor by which costly runs raise the price.
  static let highestFactor = 2.0
  /// The weight of the last run in the mean cost.
  private static let weight = 0.2

  /// The moving average of the cost. A run that takes 10 seconds, one second of the processor or one megabyte costs 1.
  private(set) var cost = 0.0

  /// Adds the cost of a run.
  mutating func add(_ run: RunRecord) {
    let parts = [run.wallMilliseconds / 10_000, run.cpuMilliseconds / 1000, Double(run.bytes) / 1_000_000]
    let sum = parts.reduce(0) { $0 + ($1.isFinite ? min(max($1, 0), 10) : 0) }
    cost += Self.weight * (sum - cost)
  }

  /// Returns the price without constraints.
  ///
  /// - Parameter openings: The expected number of openings in a day.
  func value(openings: Double) -> Double {
    Self.base * max(1, openings / Self.usualOpenings) * min(1 + max(0, cost), Self.highestFactor)
  }
}
