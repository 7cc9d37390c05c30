import CoreMetrics
import Synchronization

/// The values of a metric for one set of labels.
protocol PrometheusSeries: AnyObject, Sendable {
  func write(_ name: String, _ labels: String, to text: inout PrometheusText)
}

/// A counter of `PrometheusRegistry`.
package final class PrometheusCounter: PrometheusSeries, CounterHandler {
  private let value = Atomic<Int64>(0)

  /// The current value.
  package var count: Int { Int(value.load(ordering: .relaxed)) }

  package func increment(by amount: Int64) { value.add(amount, ordering: .relaxed) }

  package func reset() { value.store(0, ordering: .relaxed) }

  func write(_ name: String, _ labels: String, to text: inout PrometheusText) {
    text.add(name, labels, Double(value.load(ordering: .relaxed)))
  }
}

final class PrometheusGauge: PrometheusSeries, RecorderHandler {
  private let value = Mutex<Double>(0)

  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) { self.value.withLock { $0 = value } }

  func write(_ name: String, _ labels: String, to text: inout PrometheusText) {
    text.add(name, labels, value.withLock { $0 })
  }
}

final class PrometheusHistogram: PrometheusSeries, RecorderHandler, TimerHandler {
  /// The upper bounds of the buckets in seconds: from a response from memory to one with a slow query.
  static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, .infinity]

  private struct State {
    var counts = [Int](repeating: 0, count: bounds.count)
    var sum = 0.0
  }

  private let state = Mutex(State())

  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) {
    guard let bucket = Self.bounds.firstIndex(where: { value <= $0 }) else { return }
    state.withLock { state in
      state.counts[bucket] += 1
      state.sum += value
    }
  }

  func write(_ name: String, _ labels: String, to text: inout PrometheusText) {
    let state = state.withLock { $0 }
    var count = 0
    for (bound, more) in zip(Self.bounds, state.counts) {
      // Buckets are cumulative.
      count += more
      let bound = PrometheusText.labels([("le", PrometheusText.number(bound))])
      text.add(name + "_bucket", labels.isEmpty ? bound : labels + "," + bound, Double(count))
    }
    text.add(name + "_sum", labels, state.sum)
    text.add(name + "_count", labels, Double(count))
  }
}
