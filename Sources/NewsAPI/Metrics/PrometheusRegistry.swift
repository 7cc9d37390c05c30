public import CoreMetrics
import Synchronization

/// Keeps what is counted through swift-metrics, for Prometheus to read.
///
/// Counters stay counters, timers become histograms in seconds, recorders histograms or gauges. A label that has been
/// used for another kind before is given a handler that counts for nobody.
public final class PrometheusRegistry: MetricsFactory {
  private struct Family {
    var kind: PrometheusText.Kind
    /// By their labels as they are written.
    var series: [String: any PrometheusSeries] = [:]
  }

  private let families = Mutex<[String: Family]>([:])
  private let help: [String: String]

  /// - Parameter help: By name, a line that says what is measured.
  package init(help: [String: String]) {
    self.help = help
  }

  /// The counter of a label and its dimensions, the same at each call.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(label, dimensions, .counter) { PrometheusCounter() }
  }

  /// A histogram to aggregate, else a gauge that shows the last value.
  public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    aggregate
      ? series(label, dimensions, .histogram) { PrometheusHistogram() }
      : series(label, dimensions, .gauge) { PrometheusGauge() }
  }

  /// A histogram in seconds.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(label, dimensions, .histogram) { PrometheusHistogram() }
  }

  /// Forgets a counter.
  public func destroyCounter(_ handler: any CounterHandler) { forget(handler) }

  /// Forgets a histogram or gauge.
  public func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }

  /// Forgets a histogram.
  public func destroyTimer(_ handler: any TimerHandler) { forget(handler) }

  /// Adds all families, by name.
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

  private func forget(_ handler: AnyObject) {
    families.withLock { families in
      families = families.mapValues { family in
        Family(kind: family.kind, series: family.series.filter { $0.value !== handler })
      }
    }
  }
}
