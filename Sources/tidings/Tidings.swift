import ArgumentParser
import News

/// The server command: wiring only.
@main
struct Tidings: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tidings",
    abstract: "Stores news items in PostgreSQL and serves them over HTTP.",
    discussion: """
      Settings come from the environment (DATABASE_URL, TIDINGS_PORT and others; `tidings settings` lists them) or \
      from a file of NAME=value lines (--settings). Some can be given as options.

      Exit codes:
        0    success
        1    failure or partial success
        64   invalid arguments
        69   no connection to the database, or no response in time; a retry may help
        78   an invalid setting or settings file
        141  the reader of standard output has closed it
      """,
    version: TidingsVersion.current,
    subcommands: [
      Serve.self, Migrate.self, Import.self, Export.self, SubscriptionsCommand.self, Keys.self, ConsoleCommand.self,
      PushCommand.self, EpochCommand.self, Purge.self, MediaCommand.self, Doctor.self,
      SettingsCommand.self,
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
        StandardStreams.printDiagnostic(message)
      }
    }
    exit(withError: code)
  }
}
