import ArgumentParser
import NewsStore

struct Migrate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Brings the schema of the database up to date.",
    discussion: "Safe to run from any number of processes at once.")

  @OptionGroup var common: CommonOptions

  @Flag(help: "Change nothing; fail if the schema is not current.")
  var check = false

  func run() async throws {
    let (settings, logger) = try await common.load()
    try await reporting {
      let migrator = try settings.migrator(logger)
      if check { return try await migrator.check() }
      let applied = try await migrator.migrate()
      print(applied.isEmpty ? "The schema is current." : "Applied \(applied.joined(separator: ", ")).")
    }
  }
}
