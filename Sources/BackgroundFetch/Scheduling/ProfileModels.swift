import Foundation

/// Several models of the same observations, and their weighted average.
///
/// Views of the observations differ in two respects: which days they distinguish (none, working days from the weekend,
/// each weekday), and over how many quarters of an hour they smooth. A finer view uses the coarser one as a prior that
/// weighs as much as one observed day. The prior of the coarsest view is the uniform distribution.
///
/// The weight of a model depends on how well it has predicted each day before that day came (Dawid, Present position
/// and potential developments: the prequential approach, 1984; with forgetting as in Raftery et al., Dynamic model
/// averaging, 2010). Random peaks predict nothing and have little weight, so a user without habits has a nearly uniform
/// profile. Two days of the same habit are sufficient evidence, because they are improbable without it.
struct ProfileModels {
  /// The smoothing kernels: the weights of a quarter and of its neighbours on both sides, the nearest first.
  private static let kernels: [[Double]] = [
    [1], [0.5, 0.25], [5.0 / 25, 4.0 / 25, 3.0 / 25, 2.0 / 25, 1.0 / 25],
  ]
  /// The shares of a view in its models. The rest is the uniform distribution, for users who do not always keep to
  /// their habits.
  private static let shares = [0.95, 0.6]
  /// The number of views: three views of the days with each kernel, and one that knows only the quarter of the hour,
  /// because news are often published on the hour.
  private static let views = 3 * 3 + 1
  /// The number of models besides the uniform one.
  static let count = views * shares.count
  /// The prior probability that no model is better than the uniform one.
  private static let uniformPrior = 0.5
  /// The weight of the coarser view, in days.
  private static let priorWeight = 1.0
  /// The range of probabilities. No model is ever certain.
  private static let limits = 0.0005...0.98

  private let counts: [[Double]]
  private let exposure: [Double]
  private let uniform: Double

  /// - Parameters:
  ///   - counts: The number of days with an event, for each of the 672 quarters of the week.
  ///   - exposure: The number of observed days, for each weekday.
  ///   - expectedPerDay: The expected number of events in a day before any observation.
  init(counts: [Float], exposure: [Double], expectedPerDay: Double) {
    let size = LocalQuarter.perDay
    self.counts = (0..<7).map { counts[$0 * size..<($0 + 1) * size].map(Double.init) }
    self.exposure = exposure
    let total = self.counts.reduce(0) { $0 + $1.reduce(0, +) }
    uniform = (total + expectedPerDay) / (exposure.reduce(0, +) + 1) / Double(size)
  }

  /// Returns the logarithm of the likelihood ratio of each model to the uniform one, for the events of a day.
  func evidence(of events: Set<Int>, on weekday: Int) -> [Double] {
    let uniform = clamped(uniform)
    return views(of: [weekday])[0].flatMap { view in
      Self.shares.map { share in
        var gain = 0.0
        for quarter in 0..<LocalQuarter.perDay {
          let probability = clamped(share * view[quarter] + (1 - share) * self.uniform)
          gain += events.contains(quarter) ? log(probability / uniform) : log((1 - probability) / (1 - uniform))
        }
        return gain
      }
    }
  }

  /// Returns the probabilities of the quarters of the week, averaged over the models according to their evidence.
  func average(evidence: [Double]) -> [Double] {
    let prior = log((1 - Self.uniformPrior) / Double(Self.count))
    let logarithms = evidence.map { $0 + prior } + [log(Self.uniformPrior)]
    let highest = logarithms.max() ?? 0
    let weights = logarithms.map { exp($0 - highest) }
    let sum = weights.reduce(0, +)
    var rest = 1.0
    var share = [Double](repeating: 0, count: Self.views)
    for index in 0..<Self.count {
      let part = weights[index] / sum * Self.shares[index % Self.shares.count]
      share[index / Self.shares.count] += part
      rest -= part
    }
    return views(of: Array(0..<7)).flatMap { views in
      var mixture = [Double](repeating: rest * uniform, count: LocalQuarter.perDay)
      for (view, share) in zip(views, share) where share > 0.001 {
        for quarter in mixture.indices { mixture[quarter] += share * view[quarter] }
      }
      return mixture.map(clamped)
    }
  }

  /// Returns, for each of the weekdays, the probabilities of its 96 quarters in each view.
  private func views(of weekdays: [Int]) -> [[[Double]]] {
    let size = LocalQuarter.perDay
    let groups = [Array(0..<7), Array(0..<5), [5, 6]]
    let sums = groups.map { days in
      (0..<size).map { quarter in days.reduce(0) { $0 + counts[$1][quarter] } }
    }
    let watched = groups.map { days in days.reduce(0) { $0 + exposure[$1] } }
    let flat = [Double](repeating: uniform, count: size)
    var result = [[[Double]]](repeating: [], count: weekdays.count)
    for kernel in Self.kernels {
      let all = blend(smoothed(sums[0], by: kernel), watched[0], flat)
      let types = [1, 2].map { blend(smoothed(sums[$0], by: kernel), watched[$0], all) }
      for (index, weekday) in weekdays.enumerated() {
        let type = types[weekday < 5 ? 0 : 1]
        result[index] += [all, type, blend(smoothed(counts[weekday], by: kernel), exposure[weekday], type)]
      }
    }
    var hourly = [Double](repeating: 0, count: 4)
    for quarter in 0..<size { hourly[quarter % 4] += sums[0][quarter] / Double(size / 4) }
    let periodic = blend((0..<size).map { hourly[$0 % 4] }, watched[0], flat)
    for index in result.indices { result[index].append(periodic) }
    return result
  }

  private func blend(_ sums: [Double], _ days: Double, _ coarser: [Double]) -> [Double] {
    zip(sums, coarser).map { ($0 + Self.priorWeight * $1) / (days + Self.priorWeight) }
  }

  private func smoothed(_ values: [Double], by kernel: [Double]) -> [Double] {
    guard kernel.count > 1 else { return values }
    let size = values.count
    return values.indices.map { index in
      var sum = kernel[0] * values[index]
      for distance in 1..<kernel.count {
        sum += kernel[distance] * (values[(index + distance) % size] + values[(index + size - distance) % size])
      }
      return sum
    }
  }

  private func clamped(_ probability: Double) -> Double {
    min(max(probability, Self.limits.lowerBound), Self.limits.upperBound)
  }
}
