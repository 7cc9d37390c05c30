package import Foundation
package import PostgresClient

/// A table whose rows are work that any process may do, and that one process does at a time.
///
/// A row has a time at which it is due. A process leases it: it writes a token and the time until which no other process
/// takes the row, so that the work of a process that dies is done by another one. What it writes afterwards has effect only
/// while the row has its token.
///
/// Locked rows are skipped, so that processes do not wait for each other (PostgreSQL, SELECT, "The Locking Clause").
package struct LeasedQueue: Sendable {
  /// The name of the table.
  let table: String
  /// The name by which statements know a row.
  let alias: String
  /// The column that identifies a row.
  let key: String
  /// The column with the time at which the row is due.
  let due: String
  /// The column with the end of the lease. If it is `due`, a leased row is due again when its lease ends.
  let until: String

  /// Describes a table, which also has the column `lease` of the type `uuid`. The names are not escaped.
  package init(_ table: String, as alias: String, key: String, due: String, until: String = "leased_until") {
    (self.table, self.alias, self.key, self.due, self.until) = (table, alias, key, due, until)
  }

  /// The expression `clock` of all statements, with the current time in the column `now`.
  ///
  /// - Parameter now: The time; nil for the time of the database.
  package static func clock(_ now: Date?) -> PostgresQuery {
    "clock AS (SELECT coalesce(\(now)::timestamptz, clock_timestamp()) AS now)"
  }

  /// A column of a row.
  private func column(_ name: String) -> PostgresQuery { PostgresQuery(unsafeSQL: "\(alias).\(name)") }

  private var name: PostgresQuery { PostgresQuery(unsafeSQL: "\(table) AS \(alias)") }

  private var now: PostgresQuery { "(SELECT c.now FROM clock AS c)" }

  /// The condition that the time has come at which a row is due.
  private var isDue: PostgresQuery { "\(query: column(due)) <= \(query: now)" }

  /// The condition that no process has leased a row.
  private var isFree: PostgresQuery {
    until == due ? isDue : "(\(query: column(until)) IS NULL OR \(query: column(until)) <= \(query: now))"
  }

  /// The assignments of a lease.
  package func taking(_ lease: UUID, for seconds: Double) -> PostgresQuery {
    "lease = \(lease), \(unsafeSQL: until) = \(query: now) + make_interval(secs => \(seconds))"
  }

  /// The assignments that end a lease. If its end is also the due time, that is left to the statement.
  package var freeing: PostgresQuery {
    until == due ? "lease = NULL" : PostgresQuery(unsafeSQL: "lease = NULL, \(until) = NULL")
  }

  /// Selects the rows that are due the longest and that no process has leased, and locks them.
  ///
  /// - Parameters:
  ///   - columns: The columns; the key if there are none.
  ///   - condition: A further condition.
  ///   - isDue: The condition that replaces the comparison of the due time with the clock.
  ///   - limit: The maximum number.
  package func chosen(
    _ columns: PostgresQuery? = nil, where condition: PostgresQuery, isDue: PostgresQuery? = nil, limit: Int
  ) -> PostgresQuery {
    """
    SELECT \(query: columns ?? column(key)) FROM \(query: name)
    WHERE \(query: isDue ?? self.isDue) AND \(query: isFree) AND \(query: condition)
    ORDER BY \(query: column(due)) LIMIT \(limit) FOR UPDATE OF \(unsafeSQL: alias) SKIP LOCKED
    """
  }

  /// Leases chosen rows. In the assignments and the result, `c.now` is the current time.
  ///
  /// - Parameters:
  ///   - lease: The token.
  ///   - seconds: The time until the end of the lease.
  ///   - chosen: The rows, a result of `chosen`.
  ///   - assignments: Further assignments, with a comma before each.
  ///   - result: The columns of the result.
  ///   - now: The current time; nil for the time of the database.
  package func lease(
    _ lease: UUID, for seconds: Double, _ chosen: PostgresQuery, setting assignments: PostgresQuery = "",
    returning result: PostgresQuery, at now: Date?
  ) -> PostgresQuery {
    """
    WITH \(query: Self.clock(now)), due AS (\(query: chosen))
    UPDATE \(query: name) SET \(query: taking(lease, for: seconds))\(query: assignments)
    FROM due AS d, clock AS c WHERE \(query: column(key)) = d.\(unsafeSQL: key)
    RETURNING \(query: result)
    """
  }

  /// Changes a row while it has a lease, and returns its key then.
  ///
  /// - Parameters:
  ///   - row: The key of the row.
  ///   - lease: The token.
  ///   - assignments: The assignments, in which `c.now` is the current time.
  ///   - now: The current time; nil for the time of the database.
  package func change(
    _ row: some PostgresEncodable, leasedBy lease: UUID, setting assignments: PostgresQuery, at now: Date?
  ) -> PostgresQuery {
    """
    WITH \(query: Self.clock(now))
    UPDATE \(query: name) SET \(query: assignments) FROM clock AS c
    WHERE \(query: column(key)) = \(row) AND \(query: column("lease")) = \(lease) RETURNING \(query: column(key))
    """
  }

  /// Extends the lease of a row while it holds, and returns the key then.
  ///
  /// - Parameters:
  ///   - seconds: The least time until the end of the lease.
  ///   - now: The current time; nil for the time of the database.
  package func `extension`(
    of row: some PostgresEncodable, leasedBy lease: UUID, by seconds: Double, at now: Date?
  ) -> PostgresQuery {
    let end: PostgresQuery = """
      \(unsafeSQL: until) = greatest(\(query: column(until)), c.now + make_interval(secs => \(seconds)))
      """
    return change(row, leasedBy: lease, setting: end, at: now)
  }

  /// Selects the time in seconds until a row is due and free, in the column `wait`: NULL without a row.
  ///
  /// - Parameter now: The current time; nil for the time of the database.
  package func wait(at now: Date?) -> PostgresQuery {
    """
    WITH \(query: Self.clock(now))
    SELECT extract(epoch FROM min(greatest(\(query: column(due)), \(query: column(until)))) - min(c.now))::double precision
      AS wait
    FROM \(query: name), clock AS c
    """
  }
}
