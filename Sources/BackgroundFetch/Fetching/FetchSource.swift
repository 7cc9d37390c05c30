/// One of several sources of news, with its own minimum interval.
///
///     var scheduler = FetchScheduler(interval: .minimum)
///     scheduler.setSource("sport", minimumInterval: 3600)
///     print(scheduler.sources.map(\.name))  // ["sport"]
public struct FetchSource: Sendable, Hashable, Codable {
  /// The maximum time, in seconds, for which a wake waits for sources that become due after the first one, to share the
  /// wake.
  public static let sharing = 300.0

  /// The name, unique among the sources.
  public let name: String
  /// The minimum number of seconds between two fetches of the source, 0...``FetchInterval/longest``.
  public let minimumInterval: Double
  /// The moment of the last fetch; nil if there was none.
  public internal(set) var lastFetch: FetchMoment?

  /// Creates a source that was never fetched.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - minimumInterval: The minimum number of seconds between two fetches, clamped to 0...``FetchInterval/longest``.
  public init(name: String, minimumInterval: Double) {
    self.name = name
    self.minimumInterval = minimumInterval.isNaN ? 0 : min(max(minimumInterval, 0), FetchInterval.longest)
  }

  /// Returns the number of seconds until the source is due; negative if it was due before.
  func delay(at now: FetchMoment) -> Double {
    lastFetch.map { minimumInterval - now.elapsed(since: $0) } ?? -.infinity
  }
}
