import ArgumentParser

/// The server's command: wiring only.
@main
struct Tidings: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tidings",
    abstract: "Serves news items that clients follow without missing a change.",
    discussion: """
      Settings come from the environment (DATABASE_URL, TIDINGS_PORT and so on, see the README), from a file of
      such lines (--settings), and some from arguments.
      """,
    subcommands: [
      Serve.self, Migrate.self, Import.self, Export.self, Keys.self, EpochCommand.self, Purge.self, Doctor.self,
    ])
}
