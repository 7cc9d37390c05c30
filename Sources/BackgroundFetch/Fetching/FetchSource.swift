/// One of several sources of news, with its own minimum interval.
///
/// A scheduled wake waits until a source is due. The decision to wake names the sources that are due.
///
///     var scheduler = FetchScheduler(interval: .minimum)
///     scheduler.setSource("sport", minimumInterval: .seconds(3600))
///     scheduler.setSource("weather", minimumInterval: .seconds(21_600))
///     let now = SystemClock().now
///     if case .wake(_, let sources) = scheduler.decision(at: now) {
///       scheduler.wakeStarted(at: now)
///       for source in sources { print("fetch \(source)") }
///       let run = RunRecord(reason: .scheduled, result: .newData, started: now.date)
///       scheduler.record(run, sources: sources, at: SystemClock().now)
///     }
public struct FetchSource: Sendable, Hashable, Codable {
  /// The maximum time by which a wake is delayed so that sources that become due soon share it.
  public static let coalescingInterval = Duration.seconds(300)

  /// The unique name of the source.
  public let name: String
  /// The minimum time between two fetches of the source, 0...``FetchInterval/maximumDuration``.
  public let minimumInterval: Duration
  /// The moment of the last fetch; nil if the source was never fetched.
  public internal(set) var lastFetch: FetchInstant?

  /// Creates a source that was never fetched.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - minimumInterval: The minimum time between two fetches, clamped to 0...``FetchInterval/maximumDuration``.
  public init(name: String, minimumInterval: Duration) {
    self.name = name
    self.minimumInterval = min(max(minimumInterval, .zero), FetchInterval.maximumDuration)
  }

  /// Returns the number of seconds until the source is due; negative if it was due before.
  func delay(at now: FetchInstant) -> Double {
    lastFetch.map { minimumInterval.inSeconds - now.elapsed(since: $0) } ?? -.infinity
  }
}

extension FetchSource {
  private enum CodingKeys: String, CodingKey {
    case name, minimumInterval, lastFetch
  }

  /// Decodes the output of ``encode(to:)``. The interval is clamped.
  ///
  /// - Throws: `DecodingError` for malformed values.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      minimumInterval: Duration(clamping: try container.decode(Double.self, forKey: .minimumInterval)))
    lastFetch = try container.decodeIfPresent(FetchInstant.self, forKey: .lastFetch)
  }

  /// Encodes the source, with the interval in seconds.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(minimumInterval.inSeconds, forKey: .minimumInterval)
    try container.encodeIfPresent(lastFetch, forKey: .lastFetch)
  }
}
