public import Foundation
import PostgresClient

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

extension DatabaseInstant {
  /// The present time by the database's clock. It is late by the duration of the answer, and not by the error of the
  /// process's own clock.
  var current: Date { date + instant.duration(to: .now) / .seconds(1) }
}

extension NewsStore {
  /// Returns the present time by the database's clock, which decides about dates and schedules.
  ///
  /// - Throws: `StoreError.unavailable`, if the process has no state yet and the database cannot be reached.
  package func databaseTime() async throws -> Date {
    if let latest = stateCache.latest { return latest.state.read.current }
    let rows = try await database.query("SELECT clock_timestamp() AS now")
    guard let row = rows.first else { throw StoreFault("the database has no time") }
    return try row.decode("now")
  }
}
