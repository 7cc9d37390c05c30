import Foundation
import Logging
import NewsStore
import PostgresClient

/// The checks of `tidings doctor` on the database.
struct DatabaseChecks {
  let settings: Settings
  let logger: Logger

  func findings() async -> [Finding] {
    let facts: DatabaseFacts
    do {
      facts = try await DatabaseFacts.read(settings.connection, logger: logger)
    } catch {
      return [.problem("database", Failure(error).message)]
    }
    let schemaError = await schemaError()
    return [
      database(facts), Self.schema(schemaError), Self.rights(facts.rights, schemaError), durability(facts),
      clock(facts), connections(facts), await notifications(),
      await disk(facts), limits(facts), await standby(of: facts),
    ].compactMap(\.self)
  }

  private func database(_ facts: DatabaseFacts) -> Finding {
    let name = "PostgreSQL \(facts.version), database \(facts.name)"
    if facts.majorVersion < DatabaseFacts.oldestVersion {
      return .problem("database", "\(name): upgrade to version \(DatabaseFacts.oldestVersion) or later")
    }
    if let problem = facts.locale.problem {
      return .problem(
        "database",
        "\(problem). Create another one as a superuser, as with \(facts.locale.creation), and move the data there "
          + "(docs/operations.md, Locale)")
    }
    if facts.isStandby {
      return .problem(
        "database",
        "\(name) is a standby, which accepts no writes: name the primary too, and add target_session_attrs=read-write")
    }
    return .ok("database", "\(name), \(Self.megabytes(facts.size))")
  }

  private static func schema(_ error: (any Error)?) -> Finding {
    error.map { .problem("migrations", Failure($0).message) } ?? .ok("migrations", "the schema is current")
  }

  /// The error of a schema that is not the required one; nil if it is.
  private func schemaError() async -> (any Error)? {
    do {
      try await settings.schema(logger).check()
      return nil
    } catch {
      return error
    }
  }

  private static func rights(_ rights: DatabaseRights, _ schemaError: (any Error)?) -> Finding {
    if let problem = rights.problem { return .problem("rights", problem) }
    if case MigrationError.pending? = schemaError as? MigrationError, let problem = rights.migrationProblem {
      return .problem("rights", problem)
    }
    return .ok("rights", "the role \(rights.role) can read and write")
  }

  private func durability(_ facts: DatabaseFacts) -> Finding {
    let off = ["fsync", "full_page_writes", "synchronous_commit"].filter { facts.durability[$0] == "off" }
    if !off.isEmpty {
      let message =
        "\(off.map { "\($0) = off" }.joined(separator: ", ")): a crash can lose or corrupt acknowledged writes"
      return settings.allowsUnsafeDurability
        ? .warning("durability", "\(message), which TIDINGS_ALLOW_UNSAFE_DURABILITY allows")
        : .problem("durability", "\(message). Set it to on in postgresql.conf.")
    }
    let hasStandby = facts.durability["synchronous_standby_names"]?.isEmpty == false
    if hasStandby, facts.durability["synchronous_commit"] == "local" {
      return .warning(
        "durability", "synchronous_commit = local does not wait for the synchronous standby: set it to on")
    }
    return .ok(
      "durability",
      hasStandby
        ? "acknowledged writes survive a crash, and the loss of the primary"
        : "acknowledged writes survive a crash; only a synchronous standby protects against the loss of the primary")
  }

  private func clock(_ facts: DatabaseFacts) -> Finding {
    let lead = facts.clockLead
    let text = "the database's clock is \(String(format: "%.1f", abs(lead))) s \(lead < 0 ? "behind" : "ahead")"
    if abs(lead) > 30 {
      return .problem(
        "clock", "\(text), so future dates are detected wrongly: synchronise both machines with a time server")
    }
    if abs(lead) > 2 { return .warning("clock", "\(text): synchronise both machines with a time server") }
    return .ok("clock", "the same as the database's")
  }

  private func connections(_ facts: DatabaseFacts) -> Finding {
    // One connection listens, and one reads the state.
    let wanted = settings.poolSize + 2
    if facts.freeConnections < wanted {
      return .warning(
        "connections",
        "\(max(0, facts.freeConnections)) are free, \(wanted) are needed: raise max_connections or lower TIDINGS_POOL_SIZE"
      )
    }
    return .ok("connections", "\(facts.freeConnections) are free, \(wanted) are needed")
  }

  /// Checks the limits of the role behind a pooler, where the server sets none; nil without one.
  private func limits(_ facts: DatabaseFacts) -> Finding? {
    guard !settings.preparesStatements else { return nil }
    let missing = ["statement_timeout": 11, "idle_in_transaction_session_timeout": 60].filter { name, _ in
      !(1...600_000).contains(facts.timeLimits[name] ?? 0)
    }
    if missing.isEmpty { return .ok("limits", "PostgreSQL ends statements and transactions that take too long") }
    let statements = missing.sorted { $0.key > $1.key }.map { name, seconds in
      "ALTER ROLE \(facts.rights.role) SET \(name) = '\(seconds)s'"
    }
    return .warning(
      "limits",
      "a server that hangs would hold its locks for long, because the session has no limits and behind a pooler the server "
        + "sets none. Run: \(statements.joined(separator: "; "))")
  }

  private func notifications() async -> Finding {
    let connection = settings.connection
    do {
      if try await DatabaseFacts.hearsNotifications(connection, logger: logger) {
        return .ok("notifications", "LISTEN receives notifications")
      }
    } catch {
      return .problem("notifications", Failure(error).message)
    }
    let message = "LISTEN receives no notifications, as behind a pooler in transaction mode"
    return settings.preparesStatements
      ? .problem("notifications", "\(message): set TIDINGS_PREPARED_STATEMENTS=false, or connect without the pooler")
      : .warning("notifications", "\(message): changes by other servers are visible up to a second later")
  }

  /// The free space in bytes below which a disk is as good as full: a few files of the log of PostgreSQL.
  static let leastSpace = 100 << 20

  /// Checks whether the database can write, and the disk space. The latter is unknown if the server is on another machine
  /// or hides its directory from the user. Finds nothing for a standby.
  private func disk(_ facts: DatabaseFacts) async -> Finding? {
    // The other findings give the reason.
    guard !facts.isStandby, facts.rights.readOnlySource == nil else { return nil }
    do {
      if let obstacle = try await DatabaseFacts.writeObstacle(settings.connection, logger: logger) {
        return .problem("disk", Failure(StoreError.writesRefused(obstacle)).message)
      }
    } catch {
      // A role may be forbidden to create temporary tables.
    }
    guard let free = facts.directory.flatMap(MachineChecks.freeSpace) else { return nil }
    let text = "\(Self.megabytes(free)) are free for the database"
    if free < Self.leastSpace { return .problem("disk", "\(text), and writes are about to fail: free some space") }
    return free < max(1 << 30, facts.size / 10)
      ? .warning("disk", "\(text), which has \(Self.megabytes(facts.size)): free some space") : .ok("disk", text)
  }

  /// Checks the standby; nil if none is configured.
  private func standby(of primary: DatabaseFacts) async -> Finding? {
    guard let connection = settings.standby else { return nil }
    let facts: DatabaseFacts
    do {
      facts = try await DatabaseFacts.read(connection, logger: logger)
    } catch {
      let name = SettingTable.shared.databaseReadURL.name
      let reason = (error as? PostgresError)?.userMessage(setting: name) ?? Failure(error).message
      return .warning("standby", "\(reason) Until then, the primary serves all reads.")
    }
    if facts.systemIdentifier != primary.systemIdentifier || facts.name != primary.name {
      return .problem(
        "standby", "DATABASE_READ_URL names a database that is not a copy of the one in DATABASE_URL: correct it")
    }
    guard facts.isStandby else {
      return .warning(
        "standby", "DATABASE_READ_URL names the primary: add target_session_attrs=prefer-standby, or remove the setting"
      )
    }
    return await lag(of: connection, facts)
  }

  /// Checks whether the standby replays what the primary has now, within a few seconds.
  private func lag(of standby: PostgresConfiguration, _ facts: DatabaseFacts) async -> Finding {
    let progress: StandbyProgress
    do {
      progress = try await StandbyProgress.read(primary: settings.connection, standby: standby, logger: logger)
    } catch {
      return .warning("standby", Failure(error).message)
    }
    if progress.isCurrent { return .ok("standby", "PostgreSQL \(facts.version) serves reads, and is current") }
    let age = progress.lastReplay.map { ", and has replayed no change for \(Int($0)) s" } ?? ""
    let cause =
      progress.isPaused
      ? "Its replay is paused: run SELECT pg_wal_replay_resume() there."
      : "Its log has the reason, and pg_stat_replication of the primary shows whether it is connected."
    return .warning(
      "standby",
      "PostgreSQL \(facts.version) is \(Self.megabytes(progress.missingBytes)) of log behind the primary\(age), which "
        + "serves all reads until then. \(cause)")
  }

  static func megabytes(_ bytes: Int) -> String { "\((bytes + (1 << 19)) >> 20) MiB" }
}
