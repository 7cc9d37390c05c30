import ArgumentParser
import BackgroundFetch
import Foundation
import News
import NewsClient

struct Config: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Shows or changes the settings of a store.",
    discussion: """
      The settings are server, topics, interval, media, notify, exec, proxy and caFile. They are in config.json, apart from \
      the store, and survive its loss. Options replace variables such as TIDINGS_FETCH_SERVER, which replace the file. \
      --name chooses the store.
      """,
    subcommands: [List.self, Get.self, Set.self, Unset.self, Path.self], defaultSubcommand: List.self)

  @ParentCommand var parent: TidingsFetch

  /// Returns the name of the store.
  ///
  /// - Throws: `ValidationError` for a store without settings.
  private func name() throws -> String {
    guard let name = try parent.location.name else {
      throw ValidationError("A store in a folder of its own has settings only with a name; add --name")
    }
    return name
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Prints the settings of the store that differ from the defaults.")

    @ParentCommand var parent: Config

    func run() async throws {
      let settings = try parent.parent.settings
      for setting in Setting.allCases {
        guard let text = settings[setting], let source = settings.source(of: setting) else { continue }
        let note = source == .file ? "" : "  (\(source.name))"
        let label = setting.rawValue.padding(toLength: 10, withPad: " ", startingAt: 0)
        try Output.print(label + setting.shown(text) + note)
      }
      let others = try TidingsFetch.configFile.names.filter { $0 != (try? parent.name()) }
      if !others.isEmpty { try Output.print("other stores: \(others.joined(separator: ", ").terminalSafe)") }
    }
  }

  struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "get", abstract: "Prints a setting.", discussion: "The exit status is 20 if it has no value.")

    @ParentCommand var parent: Config

    @Argument(help: "The setting: \(Setting.list).")
    var setting: Setting

    func run() async throws {
      guard let text = try parent.parent.settings[setting] else {
        throw ConfigFile.Failure(description: "the setting \(setting.rawValue) has no value")
      }
      try Output.print(text.terminalSafe)
    }
  }

  struct Set: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set", abstract: "Stores a setting.",
      discussion: """
        Another server or other topics replace the followed ones once that server has responded. Other users can see the \
        command line; with - the value is read from standard input, such as the address of a proxy with a password.
        """)

    @ParentCommand var parent: Config

    @Argument(help: "The setting: \(Setting.list).")
    var setting: Setting

    @Argument(help: "The value.")
    var value: String

    func run() async throws {
      var text = value
      if text == "-" {
        text = String(decoding: try readInput(maximumBytes: 8192), as: UTF8.self)
          .trimmingCharacters(in: .whitespacesAndNewlines)
      }
      guard setting.isUsable(text) else { throw ValidationError("\(setting.rawValue) must be \(setting.rule)") }
      try await TidingsFetch.configFile.set(setting, of: parent.name(), to: text)
      if case .variable(let name) = try parent.parent.settings.source(of: setting) {
        Output.log("\(name) is set, and is used instead")
      }
      try parent.parent.applyStoredInterval(setting)
    }
  }

  struct Unset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "unset", abstract: "Removes a setting. What the store remembers is used instead.")

    @ParentCommand var parent: Config

    @Argument(help: "The setting: \(Setting.list).")
    var setting: Setting

    func run() async throws { try await TidingsFetch.configFile.set(setting, of: parent.name(), to: nil) }
  }

  struct Path: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "path", abstract: "Prints the path of the configuration file.")

    @ParentCommand var parent: Config

    func run() async throws { try Output.print(TidingsFetch.configFile.path) }
  }
}

extension TidingsFetch {
  /// Applies a new interval to a store that follows a feed; others receive it with their first fetch.
  fileprivate func applyStoredInterval(_ setting: Setting) throws {
    guard setting == .interval, try NewsFetcher.feed(in: folder) != nil else { return }
    _ = try client()
  }
}

extension Setting {
  /// Returns a value for a terminal, without the password of a proxy.
  fileprivate func shown(_ text: String) -> String {
    guard self == .proxy, var parts = URLComponents(string: text), parts.password != nil else {
      return text.isEmpty ? "(all)" : text.terminalSafe
    }
    parts.password = "…"
    return (parts.string?.removingPercentEncoding ?? "").terminalSafe
  }
}
