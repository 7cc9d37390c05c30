public import CoreMetrics
import Synchronization

/// A registry of swift-metrics for Prometheus to scrape.
///
/// Counters stay counters, timers become histograms in seconds, recorders become histograms or gauges. A label that has
/// been used for another kind before gets a handler that is not exported.
public final class PrometheusRegistry: MetricsFactory {
  private struct Family {
    var kind: PrometheusText.Kind
    /// The series by their labels in text format.
    var series: [String: any PrometheusSeries] = [:]
  }

  private let families = Mutex<[String: Family]>([:])
  private let help: [String: String]

  /// - Parameter help: The help text of each metric, one line, by name.
  package init(help: [String: String]) {
    self.help = help
  }

  /// Returns the counter of a label and its dimensions, the same at each call.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    counter(label, dimensions)
  }

  /// Returns the counter of a label and its dimensions, the same at each call. Its value can be read.
  package func counter(_ label: String, _ dimensions: [(String, String)]) -> PrometheusCounter {
    series(label, dimensions, .counter) { PrometheusCounter() }
  }

  /// Returns a histogram if the recorder aggregates, otherwise a gauge of the last value.
  public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    aggregate
      ? series(label, dimensions, .histogram) { PrometheusHistogram() }
      : series(label, dimensions, .gauge) { PrometheusGauge() }
  }

  /// Returns a histogram in seconds.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(label, dimensions, .histogram) { PrometheusHistogram() }
  }

  /// Removes a counter.
  public func destroyCounter(_ handler: any CounterHandler) { unregister(handler) }

  /// Removes a histogram or gauge.
  public func destroyRecorder(_ handler: any RecorderHandler) { unregister(handler) }

  /// Removes a histogram.
  public func destroyTimer(_ handler: any TimerHandler) { unregister(handler) }

  /// Writes all families, sorted by name.
  package func write(to text: inout PrometheusText) {
    for (name, family) in families.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      text.begin(name, family.kind, help: help[name])
      for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
        series.write(name, labels, to: &text)
      }
    }
  }

  private func series<Series: PrometheusSeries>(
    _ label: String, _ dimensions: [(String, String)], _ kind: PrometheusText.Kind, make: () -> Series
  ) -> Series {
    let name = PrometheusText.name(label)
    let labels = PrometheusText.labels(dimensions)
    return families.withLock { families in
      if let known = families[name]?.series[labels] as? Series { return known }
      let series = make()
      if families[name, default: Family(kind: kind)].kind == kind {
        families[name, default: Family(kind: kind)].series[labels] = series
      }
      return series
    }
  }

  private func unregister(_ handler: AnyObject) {
    families.withLock { families in
      families = families.mapValues { family in
        Family(kind: family.kind, series: family.series.filter { $0.value !== handler })
      }
    }
  }
}
