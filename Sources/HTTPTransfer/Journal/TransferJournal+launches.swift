import GRDB

/// The end of the transfers of a session, for which no app has been launched.
struct PendingLaunch: Sendable {
  var session: String
  /// The number of the last event.
  var lastEvent: Int64
}

extension TransferJournal {
  /// Returns the launches that are due: all transfers of the session have ended, and no process has opened it.
  func pendingLaunches() throws -> [PendingLaunch] {
    try file.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT session, max(number) AS last FROM events WHERE launches AND session NOT IN (
            SELECT session FROM transfers WHERE state = 'running' AND session IS NOT NULL)
          GROUP BY session ORDER BY last
          """
      ).map { PendingLaunch(session: $0["session"], lastEvent: $0["last"]) }
    }.filter { try !sessionLock($0.session).isHeld }
  }

  /// Records a launch, so that no worker repeats it. A later end of a transfer needs another one.
  func recordLaunch(_ launch: PendingLaunch) throws {
    try file.write { db in
      try db.execute(
        "UPDATE events SET launches = FALSE WHERE session = ? AND number <= ?", launch.session, launch.lastEvent)
    }
  }
}
