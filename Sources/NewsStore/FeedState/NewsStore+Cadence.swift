import Foundation
import PostgresClient
import Synchronization

extension NewsStore {
  /// The interval between reads of past changes, and the interval between updates of the poll interval.
  private static let cadenceLookups: Duration = .seconds(300)
  private static let cadenceSteps: Duration = .seconds(30)
  /// The maximum number of past changes to read.
  private static let cadenceChanges = 5000

  /// The recommended poll interval in seconds; nil before it is known, and if `follow()` is not running.
  public var pollInterval: Int? {
    let interval = interval.load(ordering: .relaxed)
    return interval > 0 && stateCache.isFollowed ? interval : nil
  }

  /// Updates the poll interval until the task is cancelled.
  func keepCadence() async {
    var cadence: Cadence?
    var looked = ContinuousClock.now - Self.cadenceLookups
    while !Task.isCancelled {
      if .now - looked >= Self.cadenceLookups, let present = try? await cadenceOfPast() {
        cadence = present
        looked = .now
      }
      if let cadence { interval.store(cadence.interval(at: Date()), ordering: .relaxed) }
      try? await Task.sleep(for: Self.cadenceSteps)
    }
  }

  private func cadenceOfPast() async throws -> Cadence {
    let rows = try await database.query(
      """
      SELECT l.updated, clock_timestamp() AS now FROM change_log AS l WHERE l.scope = ''
      ORDER BY l.version DESC LIMIT \(Self.cadenceChanges)
      """)
    let changes: [Date] = try rows.map { try $0.decode("updated") }
    let now: Date = try rows.first?.decode("now") ?? Date()
    return Cadence(changes: changes, since: changes.min() ?? now, now: now)
  }
}
