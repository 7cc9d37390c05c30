package import NewsAPI

/// The public reads of the last minutes, as rates.
package struct TrafficRates {
  /// The averages between two samples, per second.
  package struct Rate: Sendable, Equatable {
    /// The time of the later sample since the history began.
    package var time: Duration
    package var requests: Double
    /// The requests answered with 304.
    package var notModified: Double
    package var sentBytes: Double
    /// The bytes that 304s and compression have spared.
    package var savedBytes: Double
  }

  /// The time for which the present rate is averaged.
  static let presentLength: Duration = .seconds(10)
  /// The length of a row of the table.
  static let rowLength: Duration = .seconds(30)

  private let samples: [TrafficHistory.Sample]

  /// - Parameter samples: The samples, oldest first.
  package init(samples: [TrafficHistory.Sample]) {
    self.samples = samples
  }

  /// The rate between each sample and the one before it.
  package var rates: [Rate] { zip(samples, samples.dropFirst()).compactMap(Self.rate) }

  /// The rate of the last seconds; nil without two samples.
  package var present: Rate? {
    guard let last = samples.last else { return nil }
    return samples.dropLast().last { $0.time <= last.time - Self.presentLength }.flatMap { Self.rate($0, last) }
      ?? samples.first.flatMap { Self.rate($0, last) }
  }

  /// The rates of intervals of 30 seconds, newest first.
  package var rows: [Rate] {
    guard let last = samples.last else { return [] }
    var rows: [Rate] = []
    var end = last
    for sample in samples.dropLast().reversed() where end.time - sample.time >= Self.rowLength {
      if let rate = Self.rate(sample, end) { rows.append(rate) }
      end = sample
    }
    if let first = samples.first, let rate = Self.rate(first, end) { rows.append(rate) }
    return rows
  }

  /// The requests of all samples, and those of them that were answered with 304.
  package var requests: (all: Int, notModified: Int) {
    guard let first = samples.first?.totals, let last = samples.last?.totals else { return (0, 0) }
    return (last.requests - first.requests, last.notModified - first.notModified)
  }

  /// - Returns: nil if no time has passed.
  private static func rate(_ first: TrafficHistory.Sample, _ last: TrafficHistory.Sample) -> Rate? {
    let seconds = (last.time - first.time) / .seconds(1)
    guard seconds > 0 else { return nil }
    func rate(_ value: (TrafficTotals) -> Int) -> Double {
      Double(value(last.totals) - value(first.totals)) / seconds
    }
    return Rate(
      time: last.time, requests: rate(\.requests), notModified: rate(\.notModified), sentBytes: rate(\.sentBytes),
      savedBytes: rate { $0.savedByNotModified + $0.savedByCompression })
  }
}
