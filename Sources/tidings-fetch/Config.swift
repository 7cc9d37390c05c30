import ArgumentParser
import BackgroundFetch
import Foundation
import News
import NewsClient

struct Config: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows or changes the settings of a store.",
    discussion: """
      They are in one file, apart from the news, and survive their loss. Options replace variables such as \
      TIDINGS_FETCH_SERVER, which replace the file. --name chooses the store.

      \(Setting.allCases.map { "\($0.rawValue): \($0.help)" }.joined(separator: "\n"))
      """,
    subcommands: [List.self, Get.self, Set.self, Unset.self, Path.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints the settings of the store that differ from the defaults.")

    @ParentCommand var parent: TidingsFetch

    func run() async throws {
      let settings = try parent.settings()
      for setting in Setting.allCases {
        guard let text = settings.values[setting], text != setting.standard else { continue }
        let note = settings.variables[setting].map { "  (\($0))" } ?? ""
        let label = setting.rawValue.padding(toLength: 10, withPad: " ", startingAt: 0)
        try Output.print(label + setting.shown(text) + note)
      }
      let others = settings.location.names.filter { $0 != settings.location.name }
      if !others.isEmpty { try Output.print("other stores: \(others.joined(separator: ", ").terminalSafe)") }
    }
  }

  struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints a setting.", discussion: "The exit status is 20 if it has no value.")

    @ParentCommand var parent: TidingsFetch

    @Argument(help: "The setting: \(Setting.list).")
    var setting: Setting

    func run() async throws {
      guard let text = try parent.settings().values[setting] else {
        throw Refusal("the setting \(setting.rawValue) has no value")
      }
      try Output.print(text.terminalSafe)
    }
  }

  struct Set: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Stores a setting.",
      discussion: """
        Another server or other topics replace the followed ones once that server has responded. Other users can see the \
        command line; with - the value is read from standard input, such as the address of a proxy with a password.
        """)

    @ParentCommand var parent: TidingsFetch

    @Argument(help: "The setting: \(Setting.list).")
    var setting: Setting

    @Argument(help: "The value.")
    var value: String

    func run() async throws {
      try parent.change(setting, to: setting.usable(try secret(value)))
      try parent.settings().noteVariables([setting])
    }
  }

  struct Unset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Removes a setting. The followed feed and the interval stay until others are set."
    )

    @ParentCommand var parent: TidingsFetch

    @Argument(help: "The setting: \(Setting.list).")
    var setting: Setting

    func run() async throws { try parent.change(setting, to: nil) }
  }

  struct Path: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Prints the path of the file of settings.")

    @ParentCommand var parent: TidingsFetch

    func run() async throws { try Output.print(try parent.location.settingsFile.path) }
  }
}

extension TidingsFetch {
  /// Stores or removes a setting. Only a file without damage is changed.
  fileprivate func change(_ setting: Setting, to text: String?) throws {
    let location = try location
    _ = try location.settings
    location.linkSettings()
    try NewsFetcher.withWriteLock(of: location.folder, log: Output.log) {
      // Without the link, the settings of an earlier version are still in its own file.
      let values = try location.settings.values
      try location.settingsFile.update { settings in
        settings = values
        settings[setting] = text
      }
    }
  }
}
