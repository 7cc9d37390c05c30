/// The counts of a day with their prices: the processor time of each tier, and the machines that it needs.
///
///     let bill = FleetBill(counts, prices)
///     print(bill.processorSeconds(.server), bill.machines(.server))
public struct FleetBill: Sendable {
  /// The counts.
  public let counts: FleetCounts
  /// The prices.
  public let prices: Prices
  /// The processors of a machine.
  public var cores = 4.0
  /// The share of its processor time that a machine uses in the busiest second, 0...1. The rest is for what the simulation
  /// does not know, and for the loss of a machine.
  public var utilisation = 0.5
  /// The processor time of each tier in seconds, for each second of the day.
  private let processor: [Tier: [Double]]

  /// - Parameters:
  ///   - counts: The counts of a day.
  ///   - prices: The prices of operations.
  public init(_ counts: FleetCounts, _ prices: Prices) {
    (self.counts, self.prices) = (counts, prices)
    let amounts = Operation.allCases.map { ($0, counts.operations[$0]?.seconds ?? []) }
    processor = Dictionary(
      uniqueKeysWithValues: Tier.allCases.map { tier in
        var sums = [Double](repeating: 0, count: counts.notModified.seconds.count)
        for (operation, seconds) in amounts {
          let price = prices.seconds(of: operation, at: tier)
          guard price > 0 else { continue }
          for (second, amount) in seconds.enumerated() { sums[second] += amount * price }
        }
        return (tier, sums)
      })
  }

  /// Returns the processor time of a tier over the day in seconds.
  public func processorSeconds(_ tier: Tier) -> Double { processor[tier]?.reduce(0, +) ?? 0 }

  /// Returns the processor time of a tier in each of equal parts of the day, in seconds.
  public func processorSeconds(_ tier: Tier, parts: Int) -> [Double] { (processor[tier] ?? []).sums(of: parts) }

  /// Returns the processors that a tier uses in its busiest second.
  public func busiest(_ tier: Tier) -> Double { processor[tier]?.max() ?? 0 }

  /// Returns the number of machines of a tier, 1 or more.
  public func machines(_ tier: Tier) -> Int {
    max(1, Int((busiest(tier) / (cores * utilisation)).rounded(.up)))
  }

  /// The statements that PostgreSQL executes, without those of pushes.
  public var statements: Double {
    Operation.allCases.reduce(0) { $0 + counts.count($1) * prices.statements(of: $1) }
  }

  /// Returns the statements of each hour.
  var statementsByHour: [Double] {
    Operation.allCases.reduce([Double](repeating: 0, count: 24)) { sums, operation in
      let hours = counts.operations[operation]?.hours ?? []
      return zip(sums, hours).map { $0 + $1 * prices.statements(of: operation) }
    }
  }
}
