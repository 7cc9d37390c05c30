public import Foundation
import Logging
public import News
import PostgresClient

extension NewsStore {
  /// The maximum number of devices that a statement deletes.
  private static let purgeBatch: Int32 = 1000
  /// The time for which pushes are listed, in days.
  private static let pushDays: Int32 = 30

  /// Records the news that a device has, and the push that has woken it. A push counts once for each device.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  /// - Returns: Whether there is a device with the id and the secret.
  public func report(
    _ id: UUID, secret: String, _ report: DeviceReport, at now: Date? = nil
  ) async throws -> Bool {
    try await asDevice(id, secret) { try await self.report(id, $0, report, at: now) } ?? false
  }

  private func report(_ id: UUID, _ secret: ConsoleSecret, _ report: DeviceReport, at now: Date?) async throws -> Bool {
    // The device lacks changes before the version if it has not read all of them.
    let token = report.token.isPartial ? nil : report.token
    let (woke, foundNews) = (report.result == nil ? 0 : 1, report.result == .newData ? 1 : 0)
    let rows = try await database.query(
      """
      WITH \(query: Self.clock(now)), former AS (
        SELECT d.id, d.reported_push FROM devices AS d
        WHERE d.id = \(id) AND d.secret_digest = \(secret.digest) FOR NO KEY UPDATE
      ), device AS (
        UPDATE devices AS d SET reported_epoch = \(token?.epoch), reported_version = \(token?.version),
          reported_at = c.now, reported_push = coalesce(\(report.push), d.reported_push)
        FROM former AS f, clock AS c WHERE d.id = f.id
        RETURNING d.id, f.reported_push IS DISTINCT FROM \(report.push) AS is_first
      ), counted AS (
        INSERT INTO push_results AS r (push, reports, woke, found_news)
          SELECT p.id, 1, \(woke), \(foundNews)
          FROM device AS d JOIN pushes AS p ON p.id = \(report.push) WHERE d.is_first
        ON CONFLICT (push) DO UPDATE SET reports = r.reports + 1, woke = r.woke + excluded.woke,
          found_news = r.found_news + excluded.found_news
      )
      SELECT id FROM device
      """)
    return !rows.isEmpty
  }

  /// Deletes the devices whose registration has ended, those that have not returned their codes within an hour, and pushes
  /// that are too old for the list. Rows that others have locked are left for the next time.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  public func purgeDevices(at now: Date? = nil) async throws {
    let pendingTime = ConsoleSession.interval(Device.confirmationTime)
    for condition: PostgresQuery in [
      "d.expires_at <= c.now", "d.state = 'pending' AND d.registered_at <= c.now - \(query: pendingTime)",
    ] {
      var removed = Int(Self.purgeBatch)
      while removed == Int(Self.purgeBatch) {
        removed = try await deliveryDatabase.query(
          """
          WITH \(query: Self.clock(now))
          DELETE FROM devices WHERE id IN (
            SELECT d.id FROM devices AS d, clock AS c WHERE \(query: condition)
            LIMIT \(Self.purgeBatch) FOR UPDATE OF d SKIP LOCKED)
          """
        ).affected
        if removed > 0 { noteDevices(added: -removed) }
      }
    }
    _ = try await deliveryDatabase.query(
      """
      WITH \(query: Self.clock(now))
      DELETE FROM pushes WHERE id IN (
        SELECT p.id FROM pushes AS p, clock AS c
        WHERE p.created_at <= c.now - make_interval(days => \(Self.pushDays)) AND p.fanned_out_at IS NOT NULL
        FOR UPDATE OF p SKIP LOCKED)
      """)
  }
}
