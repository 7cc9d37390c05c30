import ArgumentParser
import Foundation
import Logging
import NewsStore

struct Migrate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Applies the missing migrations to the database.",
    discussion: """
      The migrations are part of the executable. TIDINGS_MIGRATIONS names a folder of others. Several processes may \
      migrate the same database at once.
      """)

  @OptionGroup var common: CommonOptions

  @Flag(help: "Change nothing, and exit with an error if the schema is not current.")
  var check = false

  func run() async throws {
    try await reporting {
      let (settings, logger) = try common.load()
      if check { return try await settings.schema(logger).check() }
      let applied = try await migrator(settings, logger).migrate()
      try StandardStreams.printResult(
        applied.isEmpty ? "The schema is current." : "Applied \(applied.joined(separator: ", ")).")
      // The folder may hold fewer or more migrations than this executable requires.
      if !settings.migrations.isEmpty { try await settings.schema(logger).check() }
    }
  }

  private func migrator(_ settings: Settings, _ logger: Logger) throws -> Migrator {
    if settings.migrations.isEmpty { return settings.schema(logger) }
    let migrations = try Migration.all(in: URL(filePath: settings.migrations))
    return Migrator(migrations, configuration: settings.connection, logger: logger)
  }
}
