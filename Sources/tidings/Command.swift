import ArgumentParser
import Foundation
import Logging
import NewsStore
import PostgresClient

/// What all commands share: settings, a logger, and the way errors are told.
struct CommonOptions: ParsableArguments {
  @Option(help: ArgumentHelp("A file of NAME=value lines with settings.", valueName: "file"))
  var settings: String?

  /// Loads the settings and starts logging.
  func load() async throws -> (settings: Settings, logger: Logger) {
    let settings = try await reporting { try await Settings.load(file: self.settings) }
    settings.logFormat.bootstrap(level: settings.logLevel)
    return (settings, Logger(label: "tidings"))
  }

  /// Runs the body of a command with a store, which is shut down at the end.
  func withStore(_ body: (NewsStore, Logger) async throws -> Void) async throws {
    let (settings, logger) = try await load()
    try await reporting {
      try await settings.withStore(logger) { try await body($0, logger) }
    }
  }
}

/// Ends the process with one line on standard error and status 1 in place of an error.
func reporting<Result>(_ body: () async throws -> Result) async throws -> Result {
  do {
    return try await body()
  } catch let error as PostgresError {
    // The operator's own terminal: here the server's words help, and no stranger reads them.
    standardError("tidings: \(String(reflecting: error))")
  } catch StoreError.unavailable {
    standardError("tidings: the database cannot be reached; DATABASE_URL says where it is")
  } catch let error as ExitCode {
    throw error
  } catch {
    standardError("tidings: \(error)")
  }
  throw ExitCode.failure
}

func standardError(_ line: String) {
  try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
}

extension Settings {
  /// Runs the body with a store over a database whose schema is current, and shuts it down at the end.
  func withStore(_ logger: Logger, _ body: (NewsStore) async throws -> Void) async throws {
    try await schema(logger).check()
    var pool = PostgresPoolConfiguration()
    pool.size = poolSize
    let store = NewsStore(
      connection: connection, standby: standby, pool: pool, staleLimit: .seconds(staleLimit), logger: logger)
    do {
      try await body(store)
      await store.shutdown()
    } catch {
      await store.shutdown()
      throw error
    }
  }

  /// The schema that the statements of this executable need, whatever folder `TIDINGS_MIGRATIONS` names.
  func schema(_ logger: Logger) -> Migrator { Migrator(configuration: connection, logger: logger) }
}
