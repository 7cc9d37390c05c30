import ArgumentParser
import Foundation
import News
import NewsClient

struct App: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows or changes the program that is launched for pushes and ended transfers.",
    discussion: """
      The app of the store is launched when a push needs a fetch, or when the transfers of one of its sessions have ended, \
      and it is not running. It is also launched when the user clicks a notification while watch or run is alive. One program \
      is launched at a time. It runs without a shell, input and output. TIDINGS_LAUNCH_REASON is push, transfer or \
      notification, TIDINGS_LAUNCH_SESSION the session, TIDINGS_LAUNCH_NOTIFICATION the notification, and TIDINGS_STORE the \
      folder of the store.
      """,
    subcommands: [Show.self, Set.self, Unset.self], defaultSubcommand: Show.self)

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Prints the program.")

    @ParentCommand var parent: TidingsFetch

    func run() async throws {
      let command = try parent.client().launchCommand
      try Output.print(command?.map(\.terminalSafe).joined(separator: " ") ?? "none: the app is not launched")
    }
  }

  struct Set: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Allows that a program is launched.")

    @ParentCommand var parent: TidingsFetch

    @Argument(help: "The program. A name without a slash is looked up in the search path.")
    var program: String

    @Argument(parsing: .captureForPassthrough, help: "The arguments of the program.")
    var arguments: [String] = []

    func run() async throws {
      guard let file = URL(programNamed: program) else {
        throw ValidationError("'\(program)' is not an executable program")
      }
      try parent.client().setLaunchCommand([file.path(percentEncoded: false)] + arguments)
    }
  }

  struct Unset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "unset", abstract: "Forbids launches.")

    @ParentCommand var parent: TidingsFetch

    func run() async throws { try parent.client().setLaunchCommand(nil) }
  }
}
