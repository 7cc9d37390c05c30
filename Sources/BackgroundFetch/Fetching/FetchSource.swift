/// One of several sources of news, with its own minimum interval.
///
/// A scheduled wake waits until a source is due. The decision to wake names the sources that are due.
///
///     var scheduler = FetchScheduler(interval: .minimum)
///     scheduler.setSource("sport", minimumInterval: 3600)
///     scheduler.setSource("weather", minimumInterval: 21_600)
///     let now = SystemClock().now
///     if case .wake(_, let sources) = scheduler.decision(at: now) {
///       scheduler.wakeStarted(at: now)
///       for source in sources { print("fetch \(source)") }
///       let run = RunRecord(reason: .scheduled, result: .newData, started: now.date)
///       scheduler.record(run, sources: sources, at: SystemClock().now)
///     }
public struct FetchSource: Sendable, Hashable, Codable {
  /// The maximum time, in seconds, by which a wake is delayed so that sources that become due soon share it.
  public static let coalescingInterval = 300.0

  /// The unique name of the source.
  public let name: String
  /// The minimum number of seconds between two fetches of the source, 0...``FetchInterval/maximumSeconds``.
  public let minimumInterval: Double
  /// The moment of the last fetch; nil if the source was never fetched.
  public internal(set) var lastFetch: FetchInstant?

  /// Creates a source that was never fetched.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - minimumInterval: The minimum number of seconds between two fetches, clamped to
  ///     0...``FetchInterval/maximumSeconds``.
  public init(name: String, minimumInterval: Double) {
    self.name = name
    self.minimumInterval = minimumInterval.isNaN ? 0 : min(max(minimumInterval, 0), FetchInterval.maximumSeconds)
  }

  /// Returns the number of seconds until the source is due; negative if it was due before.
  func delay(at now: FetchInstant) -> Double {
    lastFetch.map { minimumInterval - now.elapsed(since: $0) } ?? -.infinity
  }
}
