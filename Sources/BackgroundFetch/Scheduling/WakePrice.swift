/// The price of a wake, in openings of the app that find all news on the device. A wake is planned only if it is worth
/// its price.
struct WakePrice: Sendable, Hashable, Codable {
  /// The price at ``expectedOpenings``. A fresh install expects four openings a day, evenly spread, and one news item
  /// an hour. A wake is then worth its price after somewhat less than two hours. The price rises with the openings, so
  /// that frequent openings do not cause more wakes.
  static let base = 0.09
  /// The number of openings that a fresh install expects in a day.
  static let expectedOpenings = 4.0
  /// The maximum factor by which costly runs raise the price.
  static let maximumFactor = 2.0
  /// The weight of the last run in the mean cost.
  private static let weight = 0.2

  /// The moving average of the cost of a run. A run costs 1 for each 10 seconds, each second of processor time and each
  /// megabyte.
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
    Self.base * max(1, openings / Self.expectedOpenings) * min(1 + max(0, cost), Self.maximumFactor)
  }
}
