import PostgresClient

/// The lag of a standby, measured with positions in the log of the primary and the times at which they were read.
///
/// The standby lags by the age of the oldest position that it has not replayed. `pg_last_xact_replay_timestamp()` is no
/// measure: it grows while nothing is written. Neither is the difference between what the standby has received and what it
/// has replayed: it is 0 while the standby receives nothing.
///
///     var lag = StandbyLag()
///     lag.note(primary: 500, at: now)
///     lag.note(replayed: 400)
///     lag.value(at: now + .seconds(20))  // 20 seconds
package struct StandbyLag {
  /// Selects the position of the primary in its log, in bytes.
  static let primaryPosition: PostgresQuery = "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint AS position"

  package typealias Instant = ContinuousClock.Instant

  /// The maximum number of positions. Beyond it, fewer are kept, which makes the lag less precise.
  package static let maximumPositions = 512

  /// The positions that the standby has not replayed yet, oldest first, in bytes.
  package private(set) var positions: [(position: Int, instant: Instant)] = []
  /// The minimum interval of the positions.
  private var interval = Duration.zero
  /// The last known position of the standby; nil before it has answered.
  private var replayed: Int?

  package init() {}

  /// Adds the position of the primary, which must be read before that of the standby.
  package mutating func note(primary position: Int, at instant: Instant) {
    guard position > replayed ?? 0 else { return }
    if let last = positions.last, last.position >= position || instant - last.instant < interval { return }
    positions.append((position, instant))
    guard positions.count >= Self.maximumPositions else { return }
    interval = (instant - positions[0].instant) / (Self.maximumPositions / 2)
    positions = positions.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
  }

  /// Forgets the positions that the standby has replayed.
  package mutating func note(replayed position: Int) {
    replayed = position
    positions.removeAll { $0.position <= position }
    if positions.isEmpty { interval = .zero }
  }

  /// The lag; nil before the standby has answered. It grows while the standby does not answer and the primary writes.
  package func value(at now: Instant) -> Duration? {
    guard replayed != nil else { return nil }
    return positions.first.map { now - $0.instant } ?? .zero
  }
}
