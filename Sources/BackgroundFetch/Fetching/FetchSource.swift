/// One of several places news come from, with an interval of its own.
public struct FetchSource: Sendable, Hashable, Codable {
  /// Sources that become due within so many seconds after the first one are waited for and share its wake.
  public static let sharing = 300.0

  /// What it is called; names are unique.
  public let name: String
  /// At least so many seconds lie between two fetches of it, 0...``FetchInterval/longest``.
  public let minimumInterval: Double
  /// The last time it was fetched.
  public internal(set) var lastFetch: FetchMoment?

  /// A source that was never fetched.
  ///
  /// - Parameters:
  ///   - name: What it is called.
  ///   - minimumInterval: Seconds between two fetches; cut to 0...``FetchInterval/longest``.
  public init(name: String, minimumInterval: Double) {
    self.name = name
    self.minimumInterval = minimumInterval.isNaN ? 0 : min(max(minimumInterval, 0), FetchInterval.longest)
  }

  /// In how many seconds it becomes due; negative if it was before.
  func delay(at now: FetchMoment) -> Double {
    lastFetch.map { minimumInterval - now.elapsed(since: $0) } ?? -.infinity
  }
}
