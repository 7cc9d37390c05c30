/// What a wake must bring, in openings of the app that find all news on the device.
struct WakePrice: Sendable, Hashable, Codable {
  /// With four openings a day at any time and a news item in an hour, which is what is expected of a fresh install, a
  /// wake in somewhat less than two hours is worth its price. Who opens the app more often is not woken for more often:
  /// the price goes up with the openings.
  static let base = 0.09
  static let usualOpenings = 4.0
  /// Costly runs raise the price to twice as much at most.
  static let highestFactor = 2.0
  /// How much the last run counts in the mean of costs.
  private static let weight = 0.2

  /// The mean of costs, of which 1 is a run that takes 10 seconds, or one second of the processor, or a megabyte.
  private(set) var cost = 0.0

  /// Adds what a run took.
  mutating func add(_ run: RunRecord) {
    let parts = [run.wallMilliseconds / 10_000, run.cpuMilliseconds / 1000, Double(run.bytes) / 1_000_000]
    let sum = parts.reduce(0) { $0 + ($1.isFinite ? min(max($1, 0), 10) : 0) }
    cost += Self.weight * (sum - cost)
  }

  /// The price without constraints.
  ///
  /// - Parameter openings: How many are expected in a day.
  func value(openings: Double) -> Double {
    Self.base * max(1, openings / Self.usualOpenings) * min(1 + max(0, cost), Self.highestFactor)
  }
}
