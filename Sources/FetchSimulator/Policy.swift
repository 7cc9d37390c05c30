public import BackgroundFetch

/// A policy that decides when to wake the app.
///
///     let json = #"{ "name": "often", "kind": "exponential", "factor": 1.5, "longest": 8 }"#
///     let often = try JSONDecoder().decode(Policy.self, from: Data(json.utf8))
///     print(simulation.run([often]))
public struct Policy: Sendable, Hashable, Codable {
  /// The kinds of policies.
  ///
  ///     let intervals = catalogue.policies.filter { $0.kind == .fixed }
  ///     print(intervals.map(\.name))
  public enum Kind: String, Sendable, Hashable, Codable {
    /// The scheduler of `BackgroundFetch`.
    case scheduler
    /// A fixed interval, with about as many wakes in total as the scheduler.
    case fixed
    /// An interval that grows with each wake without new items, and is reset by each wake that finds some. It has about
    /// as many wakes in total as the scheduler.
    case exponential
  }

  /// The name.
  public var name: String
  /// The kind.
  public var kind: Kind
  /// For `scheduler`: the minimum interval between wakes; `minimum` if nil.
  public var interval: FetchInterval?
  /// For `fixed`: the fraction by which an interval may be shorter or longer, 0...1; 0 if nil.
  public var jitter: Double?
  /// For `exponential`: the factor by which the interval grows, at least 1; 2 if nil.
  public var factor: Double?
  /// For `exponential`: the maximum interval, as a multiple of the shortest; 16 if nil.
  public var maximumFactor: Double?

  private enum CodingKeys: String, CodingKey {
    case name, kind, interval, jitter, factor
    case maximumFactor = "longest"
  }
}
