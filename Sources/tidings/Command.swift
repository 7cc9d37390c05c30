import ArgumentParser
import Foundation
import Logging
import News
import NewsStore
import PostgresClient

/// The options of all commands: the settings, and the user to run as.
struct CommonOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Read settings from a file of NAME=value lines. The environment takes precedence.", valueName: "file"))
  var settings: String?

  @Option(
    help: ArgumentHelp("Switch to this user after reading the settings. Only root can do this.", valueName: "name"))
  var user: String?

  /// Loads the settings, switches to the user and starts logging.
  func load() throws -> (settings: Settings, logger: Logger) {
    let settings = try loadSettings()
    settings.logFormat.bootstrap(level: settings.logLevel)
    let logger = Logger(label: "tidings")
    for unknown in settings.unknownNames {
      logger.warning(
        "unknown setting", metadata: ["name": "\(unknown.name.terminalSafe)", "nearest": "\(unknown.nearest)"])
    }
    return (settings, logger)
  }

  /// Loads the settings and switches to the user.
  func loadSettings() throws -> Settings {
    let settings = try Settings.load(file: settings)
    if let user { try ServerUser.become(user) }
    return settings
  }

  /// Runs the body of a command with a store, and shuts the store down at the end.
  func withStore(_ body: (NewsStore, Logger) async throws -> Void) async throws {
    try await reporting {
      let (settings, logger) = try load()
      try await settings.withStore(logger) { try await body($0, logger) }
    }
  }
}

/// Runs a body. An error ends the command with messages on standard error and an exit status.
func reporting<Result>(_ body: () async throws -> Result) async throws -> Result {
  do {
    return try await body()
  } catch {
    let failure = Failure(error)
    failure.printDiagnostics()
    throw failure.code
  }
}

extension Settings {
  /// Runs the body with a store on a database whose schema is current, and shuts the store down at the end.
  func withStore(_ logger: Logger, _ body: (NewsStore) async throws -> Void) async throws {
    try await schema(logger).check()
    var pool = PostgresPoolConfiguration()
    pool.size = self.poolSize
    let store = NewsStore(
      connection: connection, standby: standby, pool: pool, staleLimit: .seconds(self.staleLimit),
      fragmentBudget: self.cacheSize << 19, requiresDurability: !self.allowsUnsafeDurability,
      passwordKey: self.feedPasswordKey, logger: logger)
    do {
      try await body(store)
      await store.shutdown()
    } catch {
      await store.shutdown()
      throw error
    }
  }

  /// The schema that this executable requires, whatever folder `TIDINGS_MIGRATIONS` names.
  func schema(_ logger: Logger) -> Migrator { Migrator(configuration: connection, logger: logger) }
}
