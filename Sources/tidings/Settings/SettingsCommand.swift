import ArgumentParser
import News

struct SettingsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "Prints all settings with their values.",
    discussion: """
      Each line has four columns, separated by tabs, or aligned below headings on a terminal: the name, the value that is \
      in force, the default, and the place of the value: the environment, the settings file, another file, a credential of \
      systemd, or the default. Secrets are not shown. `tidings doctor` checks the settings.
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case list
    /// `docs/settings.md`.
    case markdown
    /// `deploy/environment.example`.
    case environment
  }

  @OptionGroup var common: CommonOptions

  @Option(help: "Print the values (list), the reference of all settings (markdown), or a settings file (environment).")
  var format = Format.list

  func run() async throws {
    try await reporting {
      switch format {
      case .list: try StandardStreams.printList(["NAME", "VALUE", "DEFAULT", "PLACE"], try common.loadSettings().rows)
      case .markdown: try StandardStreams.printResult(SettingDocuments.markdown)
      case .environment: try StandardStreams.printResult(SettingDocuments.environment)
      }
    }
  }
}

extension Settings {
  /// The name, the value, the default and the place of each setting.
  fileprivate var rows: [[String]] {
    SettingTable.entries.map { entry in
      let standard = entry.defaultText.replacing("`", with: "")
      guard let source = sources[entry.name] else { return [entry.name, standard, standard, "default"] }
      let value = entry.credential == nil ? source.text.terminalSafe : "(not shown)"
      return [entry.name, value, standard, source.place.terminalSafe]
    }
  }
}
