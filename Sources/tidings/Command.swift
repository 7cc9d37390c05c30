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
  func withStore(_ body: (NewsStore, Settings) async throws -> Void) async throws {
    try await reporting {
      let (settings, logger) = try load()
      try await settings.withStore(logger) { try await body($0, settings) }
    }
  }

  /// Reads an id on the command line.
  static func id(_ argument: String) throws -> UUID {
    guard let id = UUID(uuidString: argument) else { throw ValidationError("An id is a UUID.") }
    return id
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

/// Runs a body, and then the end, also after an error.
func finishing(with end: () async -> Void, _ body: () async throws -> Void) async throws {
  do {
    try await body()
  } catch {
    await end()
    throw error
  }
  await end()
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
    try await finishing(with: store.shutdown) { try await body(store) }
  }

  /// The schema that this executable requires, whatever folder `TIDINGS_MIGRATIONS` names.
  func schema(_ logger: Logger) -> Migrator { Migrator(configuration: connection, logger: logger) }
}
