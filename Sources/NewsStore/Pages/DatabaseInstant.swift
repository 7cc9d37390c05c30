public import Foundation

/// A time of the database's clock, and the moment at which this process learned of it.
public struct DatabaseInstant: Sendable {
  /// The time by the database's clock.
  public let date: Date
  /// The moment, at which the database's clock had passed `date`.
  public let instant: ContinuousClock.Instant

  /// Creates the time of a result that has just arrived.
  public init(_ date: Date, at instant: ContinuousClock.Instant = .now) {
    self.date = date
    self.instant = instant
  }
}
