import ArgumentParser
import News

/// An entry of `SettingTable` with the type of its value.
struct Setting<Value: Sendable>: TypedSetting {
  let entry: SettingEntry
  /// The value of a setting that is not set or empty.
  let standard: Value

  var name: String { entry.name }

  /// Creates a setting.
  ///
  /// - Parameters:
  ///   - defaultText: The default in words, if it is no constant.
  ///   - example: A value for `deploy/environment.example`, if the default is not one.
  ///   - credential: The name of a credential of systemd, for a secret.
  ///   - commands: The commands that use the setting; none for all.
  ///   - description: A noun phrase and further sentences, in Markdown. Line breaks stand for spaces.
  init(
    _ name: String, _ type: SettingType<Value>, default standard: Value, inWords defaultText: String? = nil,
    example: String? = nil, credential: String? = nil, usedBy commands: [any ParsableCommand.Type] = [],
    since: String = "1.0", _ description: String
  ) {
    self.standard = standard
    let text = type.text(standard)
    entry = SettingEntry(
      name: name, values: type.values, defaultText: defaultText ?? (text.isEmpty ? "none" : "`\(text)`"),
      example: example ?? text, credential: credential,
      commands: commands.map { $0.configuration.commandName ?? "\($0)".lowercased() },
      since: since, description: description.replacing("\n", with: " ")
    ) { text in
      if let value = type.value(text) { return value }
      // The text of a secret is never shown.
      let suffix = credential == nil ? ", not \(text)" : ""
      throw SettingError(name: name, rule: "must be \(type.rule)\(suffix)".terminalSafe)
    }
  }
}

protocol TypedSetting: Sendable {
  var entry: SettingEntry { get }
}

/// An entry of `SettingTable`: a setting without the type of its value.
package struct SettingEntry: Sendable {
  package let name: String
  /// The accepted texts.
  let values: String
  /// The default in Markdown.
  let defaultText: String
  let example: String
  /// The name of a credential of systemd (systemd.exec(5), "LoadCredential="); nil unless the setting is a secret.
  let credential: String?
  /// The commands that use the setting; empty for all.
  fileprivate(set) var commands: [String]
  /// The version with which the setting was added.
  let since: String
  let description: String
  /// Returns the value of a text that is not empty, or throws `SettingError`.
  let value: @Sendable (String) throws -> any Sendable

  /// The setting that names a file with the value; nil unless the setting is a secret.
  var file: SettingEntry? {
    guard let credential else { return nil }
    let description = """
      The file with the value of `\(name)` on a single line, instead of `\(name)`. Without either, systemd's credential \
      `\(credential)` is used if it exists (`LoadCredential=\(credential):PATH` in the unit).
      """
    var file = Setting(
      "\(name)_FILE", .path, default: "", example: "/etc/tidings/\(credential)", since: since, description
    ).entry
    file.commands = commands
    return file
  }
}

/// An invalid setting.
struct SettingError: Error, CustomStringConvertible {
  /// The name as written in the environment.
  let name: String
  let rule: String

  var description: String { "\(name) \(rule)" }
}

/// Invalid settings: malformed lines and unknown names.
struct InvalidSettings: Error {
  /// One sentence for each problem.
  let problems: [String]
}
