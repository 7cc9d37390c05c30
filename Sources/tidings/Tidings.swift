import ArgumentParser
import News

/// The server command: wiring only.
@main
struct Tidings: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tidings",
    abstract: "Serves news items that clients follow without missing a change.",
    discussion: """
      Settings come from the environment (DATABASE_URL, TIDINGS_PORT and so on, see the README), from a file of
      such lines (--settings), and some from arguments.

      Exit codes: 0 done, 1 failed in whole or in part, 64 wrong arguments, 69 no connection to the database, 78 a setting
      that cannot be used, 141 nobody reads the output any more.
      """,
    version: TidingsVersion.current,
    subcommands: [
      Serve.self, Migrate.self, Import.self, Export.self, Keys.self, EpochCommand.self, Purge.self, Doctor.self,
    ])

  static func main() async {
    StandardStreams.prepare()
    do {
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      await end(with: error)
    }
  }

  /// Ends the process. Help and the version go to standard output, errors to standard error.
  private static func end(with error: any Error) async -> Never {
    let code = exitCode(for: error)
    let message = fullMessage(for: error)
    if !message.isEmpty {
      if code.isSuccess {
        do { try await reporting { try StandardStreams.printResult(message) } } catch { exit(withError: error) }
      } else {
        StandardStreams.complain(message)
      }
    }
    exit(withError: code)
  }
}
