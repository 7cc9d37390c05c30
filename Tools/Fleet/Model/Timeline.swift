/// The amount of something in each second of a day.
public struct Timeline: Sendable, Hashable {
  /// The changes of the amount from one second to the next.
  private var steps: [Double]

  /// - Parameter duration: The length of the day in seconds.
  init(duration: Double) {
    steps = [Double](repeating: 0, count: Int(duration.rounded(.up)) + 1)
  }

  /// Adds an amount that is spread evenly over a time. The part outside the day is added to its first or last second.
  mutating func add(_ amount: Double, from start: Double, to end: Double) {
    let last = steps.count - 2
    let first = min(max(0, Int(start)), last)
    let final = min(max(first, Int(end.rounded(.up)) - 1), last)
    let share = amount / Double(final - first + 1)
    steps[first] += share
    steps[final + 1] -= share
  }

  /// Adds an amount at a time.
  mutating func add(_ amount: Double = 1, at time: Double) { add(amount, from: time, to: time) }

  /// The amounts of all seconds, 0 or more.
  public var seconds: [Double] {
    var sum = 0.0
    return steps.dropLast().map { step in
      sum += step
      return max(0, sum)
    }
  }

  /// The sum over the day.
  public var total: Double { seconds.reduce(0, +) }

  /// The sums of 24 equal parts of the day.
  public var hours: [Double] { seconds.sums(of: 24) }

  /// The largest amount of a second.
  public var peak: Double { seconds.max() ?? 0 }
}
