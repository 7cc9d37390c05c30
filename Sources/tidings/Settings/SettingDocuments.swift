import Foundation

/// The documents that `make settings` writes from `SettingTable`.
enum SettingDocuments {
  /// The reference of all settings.
  static var markdown: String {
    let sections = SettingTable.sections.map { section in
      "## \(section.heading)\n\n| name | default | values | used by | |\n|---|---|---|---|---|\n"
        + section.settings.map(row).joined(separator: "\n")
    }
    return ([introduction] + sections).joined(separator: "\n\n")
  }

  private static func row(_ setting: SettingEntry) -> String {
    let commands = setting.commands.isEmpty ? "all" : setting.commands.map { "`\($0)`" }.joined(separator: ", ")
    let since = setting.since == "1.0" ? "" : " Since \(setting.since)."
    let cells = [
      "`\(setting.name)`", setting.defaultText, setting.values, commands, setting.description + since,
    ]
    return "| \(cells.joined(separator: " | ")) |"
  }

  /// An example of a settings file.
  static var environment: String {
    let sections = SettingTable.sections.map { section in
      (["## \(section.heading)"] + section.settings.map(example)).joined(separator: "\n\n")
    }
    return ([comment(exampleIntroduction)] + sections).joined(separator: "\n\n")
  }

  private static func example(_ setting: SettingEntry) -> String {
    let isPlain = setting.example.allSatisfy { $0.isLetter || $0.isNumber || "_./:@%+,=-?[]".contains($0) }
    let value = isPlain ? setting.example : "'\(setting.example)'"
    // The database is the only setting that every installation has.
    let mark = setting.name == SettingTable.shared.databaseURL.name ? "" : "#"
    return comment("\(setting.description) Values: \(setting.values).") + "\n\(mark)\(setting.name)=\(value)"
  }

  /// Returns Markdown as lines of a comment.
  private static func comment(_ markdown: String) -> String {
    let text = markdown.replacing(/\[(.+?)\]\(.+?\)/) { $0.output.1 }.replacing("`", with: "")
    var lines = ["#"]
    for word in text.split(whereSeparator: \.isWhitespace) {
      if lines[lines.count - 1].count + word.count >= 120 { lines.append("#") }
      lines[lines.count - 1] += " \(word)"
    }
    return lines.joined(separator: "\n")
  }

  private static let introduction = """
    # Settings

    `make settings` writes this page from the table of the settings in the code.

    Settings come from the environment, or from a file of `NAME=value` lines that `--settings` names. The environment takes
    precedence. `tidings settings` prints all settings with the values that are in force, and where they come from. Settings are
    read once, at the start of a command. All of them exist since 1.0, unless a later version is named.

    [`deploy/environment.example`](../deploy/environment.example) is an example of a settings file. systemd's
    `EnvironmentFile=`, a shell (`set -a; . FILE`) and `--settings` read it in the same way. Lines that they would read
    differently are rejected:

    - Comments are on separate lines, begin with `#` and do not end with a backslash. `export` is not accepted.
    - A value without quotes consists of letters, digits, the characters `_ . / : @ % + , = - ? [ ]`, and non-ASCII
      characters.
    - In single quotes, every character other than a single quote is literal. In double quotes, `"`, `\\`, `$` and `` ` ``
      need a backslash.

    A malformed line, a name that the file sets twice, an unknown name in it, a misspelt name in the environment, and a
    relative path of a file or folder are errors. They are reported at startup and by `tidings doctor`. Another unknown
    `TIDINGS_` name in the environment is a warning. Variables of other programs in the file, such as libpq's `PGPASSFILE`,
    are added to the environment of the process. An empty value is the default.

    Compose passes the settings of the environment, or of a file `.env`, on to the servers, except for the ones that its
    containers fix ([Compose](compose.md)).
    """

  private static let exampleIntroduction = """
    Settings of a Tidings server, for `EnvironmentFile=` of systemd, `tidings serve --settings FILE`, and the shell
    (`set -a; . FILE`). All three read it in the same way. Write NAME=value without blanks around the sign, and comments on
    separate lines. Put values in single quotes if they contain characters other than letters, digits and
    _./:@%+,=-?[]. Commented settings show the defaults, or examples where there is none. `make settings` writes this file.
    """
}
