import Foundation
import TestKit
import TestSupport
import Testing
import tidings

/// The grammar that systemd, the shell and `--settings` share.
@Suite struct SettingsFileTests {
  @Test(
    "Lines that systemd and the shell read alike are accepted, with their value",
    arguments: [
      ("A=b", "b"), ("A=", ""), ("  A=b  ", "b"), ("A='b c'", "b c"), ("A=\"b c\"\t", "b c"), ("A=''", ""),
      ("A='\\$x\"`'", "\\$x\"`"), (#"A="\"\\\$\`""#, "\"\\$`"),
      ("A='postgresql:///x?a=b&c=d'", "postgresql:///x?a=b&c=d"),
      ("A=postgresql://u%40@[::1]:5432/x?sslmode=require", "postgresql://u%40@[::1]:5432/x?sslmode=require"),
      ("A=ä", "ä"), ("A='#'", "#"), ("# A=3 \\ x\nA=4", "4"), ("A=5", "5"),
    ])
  func accepted(text: String, value: String) {
    let file = SettingsFile(text)
    #expect(file.problems == [])
    #expect(file.values == ["A": value])
  }

  @Test(
    "A line that one of them would read differently, or not at all, is named",
    arguments: [
      "export A=b", "A = b", "A= b", "A=b c", "A=b # c", "A=b&c", "A=$B", "A=`b`", "A=~", "A=b;c", "A=b\\c", "A='b",
      "A=\"b", "A='b'c", "A=\"b\"\"c\"", "A=\"$b\"", "A=\"\\b\"", "A=\"\\n\"", "A=\"`b`\"", "; A=b", "A", "=b", "1A=b",
      "A-B=c", "A=b\r", "A=(b)", "A=<b", "A=b\u{1}", "# comment \\", "A=\"\u{301}b", "A='b'\u{301}", "A=$\u{301}b",
      "A=*",
    ])
  func refused(line: String) {
    let file = SettingsFile("X=1\n" + line + "\nY=2")
    #expect(file.problems.count == 1)
    #expect(file.problems.first?.hasPrefix("line 2: ") == true)
    #expect(file.values == ["X": "1", "Y": "2"])
  }

  @Test(
    "Malformed lines are reported with the reason",
    arguments: [("A=b\r", "carriage return"), ("export A=b", "remove export")])
  func reasons(line: String, reason: String) {
    let problems = SettingsFile(line).problems
    #expect(problems.count == 1 && problems.allSatisfy { $0.contains(reason) })
  }

  @Test("A line that sets a name again is named with the first one, also if both have the same value")
  func repeatedNames() {
    let file = SettingsFile("A=1\nB=1\n#A=2\nA=1\n\nB='2'\nB=3")
    #expect(
      file.problems == [
        "line 4: sets A, as line 1 does: remove one of them", "line 6: sets B, as line 2 does: remove one of them",
        "line 7: sets B, as line 6 does: remove one of them",
      ])
  }

  @Test("Whatever is accepted is read alike by systemd's rules, sh and bash", arguments: [1, 2, 3] as [UInt64])
  func randomLines(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let alphabet = Array("abA1_=='\"\"''\\\\$`#;~*&| \t-/:@?[ä".unicodeScalars)
    var accepted: [String] = []
    for number in 0..<20_000 {
      let length = Int.random(in: 0...8, using: &random)
      let value = (0..<length).map { _ in String(alphabet.randomElement(using: &random) ?? "x") }.joined()
      let line = "N\(number)=\(value)"
      if SettingsFile(line).problems.isEmpty { accepted.append(line) }
    }
    // The test is meaningful only if enough lines are accepted.
    #expect(accepted.count > 1000)
    #expect(accepted.contains { $0.contains("\\") } && accepted.contains { $0.contains("'") })
    let text = accepted.joined(separator: "\n") + "\n"
    let values = SettingsFile(text).values
    #expect(values.count == accepted.count)
    #expect(values == Systemd.environment(of: text))
    for shell in ["sh", "bash"] {
      let read = try await Self.environment(of: text, in: shell).filter { $0.key.hasPrefix("N") }
      #expect(read.filter { values[$0.key] != $0.value }.isEmpty, "\(shell)")
      #expect(read.count == values.count, "\(shell)")
    }
  }

  @Test("The example is a settings file, with and without its commented settings, and each shell reads it alike")
  func example() async throws {
    let path = Project.root.appending(path: "deploy/environment.example")
    let text = try String(contentsOf: path, encoding: .utf8)
    let complete = text.replacing(/(?m)^#([A-Z_]+=)/) { $0.output.1 }
    for text in [text, complete] {
      let file = SettingsFile(text)
      #expect(file.problems == [])
      #expect(file.values["DATABASE_URL"]?.contains("&sslmode=verify-full") == true)
      #expect(file.values == Systemd.environment(of: text))
      for shell in ["sh", "bash"] {
        let read = try await Self.environment(of: text, in: shell)
        for (name, value) in file.values { #expect(read[name] == value, "\(name) in \(shell)") }
      }
    }
    try await Installation.with { installation in
      try await withFolder(["environment": complete]) { folder in
        let file = folder.appending(path: "environment").path
        let result = try await installation.run(
          "doctor", "--json", "--settings", file, changes: ["TIDINGS_MEDIA_DIRECTORY": folder.path])
        #expect(!result.output.contains("not a setting"), "\(result.output)")
      }
    }
  }

  /// Returns the environment after `set -a; . FILE`.
  private static func environment(of text: String, in shell: String) async throws -> [String: String] {
    try await withFolder(["settings": text]) { folder in
      let file = folder.appending(path: "settings").path
      let result = try await ChildProcess(
        ["-c", "set -a; . \"$1\"; exec /usr/bin/env -0", shell, file], executable: "/bin/\(shell)",
        environment: ["PATH": "/usr/bin:/bin", "HOME": "/home", "LC_ALL": "C.UTF-8"]
      ).result()
      #expect(result.status == 0 && result.errors == "", "\(result.errors)")
      let pairs = result.output.split(separator: "\0").map { $0.split(separator: "=", maxSplits: 1) }
      return Dictionary(pairs.map { (String($0[0]), $0.count > 1 ? String($0[1]) : "") }) { $1 }
    }
  }
}

/// systemd's parser for environment files: the states of `parse_env_file_internal` in its `env-file.c`.
private struct Systemd {
  private enum State {
    case beforeKey, key, beforeValue, value, valueEscape, singleQuote, doubleQuote, doubleQuoteEscape
    case comment, commentEscape
  }

  private var result: [String: String] = [:]
  private var state = State.beforeKey
  private var (key, value) = (String.UnicodeScalarView(), String.UnicodeScalarView())
  /// The number of blanks at the end of an unquoted value.
  private var trailing = 0

  static func environment(of text: String) -> [String: String] {
    var reader = Systemd()
    for scalar in text.unicodeScalars { reader.read(scalar) }
    reader.push()
    return reader.result
  }

  private mutating func push() {
    let name = String(key).trimmingCharacters(in: .whitespaces)
    if state == .value || state == .beforeValue, name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil {
      result[name] = String(String.UnicodeScalarView(value.dropLast(trailing)))
    }
    (state, key, value, trailing) = (.beforeKey, .init(), .init(), 0)
  }

  private mutating func read(_ scalar: Unicode.Scalar) {
    let isNewline = scalar == "\n" || scalar == "\r"
    switch state {
    case .beforeKey where scalar == "#" || scalar == ";": state = .comment
    case .beforeKey where isNewline || isBlank(scalar): break
    case .beforeKey:
      state = .key
      key.append(scalar)
    case .key where isNewline: push()
    case .key where scalar == "=": state = .beforeValue
    case .key: key.append(scalar)
    case .comment where scalar == "\\": state = .commentEscape
    case .comment: if isNewline { state = .beforeKey }
    case .commentEscape: state = .comment
    default: readValue(scalar, isNewline: isNewline)
    }
  }

  private mutating func readValue(_ scalar: Unicode.Scalar, isNewline: Bool) {
    switch (state, scalar) {
    case (.beforeValue, _) where isNewline, (.value, _) where isNewline: push()
    case (.beforeValue, "'"): state = .singleQuote
    case (.beforeValue, "\""): state = .doubleQuote
    case (.beforeValue, "\\"), (.value, "\\"): (state, trailing) = (.valueEscape, 0)
    case (.beforeValue, _) where isBlank(scalar): break
    case (.beforeValue, _), (.value, _):
      state = .value
      value.append(scalar)
      trailing = isBlank(scalar) ? trailing + 1 : 0
    case (.valueEscape, _):
      state = .value
      if !isNewline { value.append(scalar) }
    case (.singleQuote, "'"), (.doubleQuote, "\""): state = .beforeValue
    case (.doubleQuote, "\\"): state = .doubleQuoteEscape
    case (.doubleQuoteEscape, _):
      state = .doubleQuote
      if !["\"", "\\", "`", "$", "\n"].contains(scalar) { value.append("\\") }
      if scalar != "\n" { value.append(scalar) }
    default: value.append(scalar)
    }
  }

  private func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
}
