import Foundation

/// Numbers in 0..<1 that are spread evenly over the members of a sequence, independently of each other: the additive
/// recurrence of Roberts (2018, "The unreasonable effectiveness of quasirandom sequences"). Of any hundred successive
/// members, about thirty have a number below 0.3.
struct EvenSpread {
  private let number: Double
  private let offset: Double

  /// - Parameters:
  ///   - number: The number of the member, from 0.
  ///   - seed: A number that moves all members.
  init(_ number: Int, seed: UInt64) {
    self.number = Double(number)
    offset = Double(seed % 1000) / 1000
  }

  /// Returns the number of a dimension, 0...3.
  subscript(dimension: Int) -> Double {
    // The root of x^5 = x + 1.
    let step = pow(1 / 1.167_303_978_261_418_7, Double(dimension + 1))
    let sum = 0.5 + offset + (number + 1) * step
    return sum - sum.rounded(.down)
  }

  /// Returns a value by the number of a dimension.
  ///
  /// - Parameter shares: The values with their relative shares, at least one above 0.
  func choice<Value>(_ dimension: Int, _ shares: [(value: Value, share: Double)]) -> Value {
    var rest = self[dimension] * shares.reduce(0) { $0 + $1.share }
    for (value, share) in shares {
      rest -= share
      if rest < 0 { return value }
    }
    return shares[shares.count - 1].value
  }
}
