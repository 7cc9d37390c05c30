import Configuration
import Foundation
import HTTPEdge
import NetworkAddresses
import News
import NewsAPI
import NewsStore

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

/// Reads and validates values.
struct SettingReader {
  private static let maximumSecretBytes = 65_536
  let reader: ConfigReader

  func text(_ name: SettingName, default standard: String) -> String {
    let key = name.rawValue.lowercased().replacing("_", with: ".")
    let value = reader.string(forKey: ConfigKey(key)) ?? ""
    return value.isEmpty ? standard : value
  }

  /// Reads the path of a file or a folder.
  ///
  /// A relative path would name another file in each folder in which a command is started: a server in `/`, where systemd starts
  /// it, and `tidings doctor` where the operator is.
  ///
  /// - Returns: The path; empty if the setting is.
  func path(_ name: SettingName) throws -> String {
    let text = text(name, default: "")
    guard text.isEmpty || text.hasPrefix("/") else {
      throw error(name, "must be an absolute path, which begins with /, not \(text)")
    }
    return text
  }

  /// Reads a value that may be in a file of its own: the file that a setting names, or else a credential of systemd.
  ///
  /// - Returns: The value; empty if there is none.
  func secret(
    _ name: SettingName, file: SettingName, credential: String, in credentials: String?
  ) throws -> String {
    let (value, path) = (text(name, default: ""), try path(file))
    if !path.isEmpty {
      guard value.isEmpty else {
        throw error(file, "must not be set together with \(name.rawValue): remove one of them")
      }
      return try line(of: path, for: file.rawValue)
    }
    guard value.isEmpty, let credentials, !credentials.isEmpty else { return value }
    let stored = "\(credentials)/\(credential)"
    return FileManager.default.fileExists(atPath: stored)
      ? try line(of: stored, for: "The credential \(credential)") : ""
  }

  private func line(of path: String, for subject: String) throws -> String {
    do {
      let text = try SettingsFile.text(of: path, maximumBytes: Self.maximumSecretBytes)
      let lines = text.split(whereSeparator: \.isNewline)
      if lines.count == 1, let line = lines.first, !line.allSatisfy(\.isWhitespace) { return String(line) }
    } catch {
      throw SettingError(name: subject, rule: "must name a readable file; \(error)")
    }
    throw SettingError(name: subject, rule: "must name a file with the value on a single line, not \(path)")
  }

  func integer(_ name: SettingName, in range: ClosedRange<Int>, default standard: Int) throws -> Int {
    let text = text(name, default: String(standard))
    guard let number = Int(text), range ~= number else {
      throw error(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound), not \(text)")
    }
    return number
  }

  /// Reads a share from 0 to 1, such as `0.01`.
  func fraction(_ name: SettingName, default standard: Double) throws -> Double {
    let text = text(name, default: String(standard))
    guard let number = Double(text), 0...1 ~= number else {
      throw error(name, "must be a number from 0 to 1 such as 0.01, not \(text)")
    }
    return number
  }

  func flag(_ name: SettingName, default standard: Bool) throws -> Bool {
    switch text(name, default: String(standard)) {
    case "true": return true
    case "false": return false
    case let text: throw error(name, "must be true or false, not \(text)")
    }
  }

  /// - Returns: The link without a trailing slash; nil if the setting is empty.
  func link(_ name: SettingName) throws -> String? {
    let text = text(name, default: "")
    if text.isEmpty { return nil }
    guard let link = WebLink.normalised(text), !link.contains(where: { "?#".contains($0) }) else {
      throw error(name, "must be an absolute http or https URL without a query, not \(text)")
    }
    return link.hasSuffix("/") ? String(link.dropLast()) : link
  }

  /// - Returns: The URL as it is written, with any query; nil if the setting is empty.
  func address(_ name: SettingName) throws -> String? {
    let text = text(name, default: "")
    if text.isEmpty { return nil }
    guard let address = WebLink.normalised(text), !address.contains("#") else {
      throw error(name, "must be an absolute http or https URL, not \(text)")
    }
    return address
  }

  /// Reads a text for readers.
  ///
  /// - Returns: The text; empty if the setting is.
  func line(_ name: SettingName, maximumBytes: Int) throws -> String {
    let text = text(name, default: "")
    let isLine = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F ~= $0.value) }
    guard isLine, text.utf8.count <= maximumBytes else {
      throw error(name, "must be one line of at most \(maximumBytes) bytes, not \(text)")
    }
    return text
  }

  func networks(_ name: SettingName) throws -> [IPNetwork] {
    try text(name, default: "").split(whereSeparator: { $0 == "," || $0 == " " }).map { text in
      guard let network = IPNetwork(text) else {
        throw error(name, "must be addresses and networks such as 10.0.0.0/8, separated by commas, not \(text)")
      }
      return network
    }
  }

  func choice<Value: RawRepresentable & CaseIterable>(
    _ name: SettingName, default standard: Value
  ) throws -> Value where Value.RawValue == String {
    let text = text(name, default: standard.rawValue)
    guard let value = Value(rawValue: text) else {
      throw error(name, "must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", ")), not \(text)")
    }
    return value
  }

  /// Reads a time, a number, or both, such as `365d,50`.
  ///
  /// - Returns: nil if the setting is empty.
  func retention(_ name: SettingName) throws -> HistoryRetention? {
    let text = text(name, default: "")
    if text.isEmpty { return nil }
    var (age, count): (Duration?, Int?)
    for part in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
      if count == nil, let number = Int(part), 1...1_000_000 ~= number {
        count = number
      } else if age == nil, let time = TimeSpan(argument: part)?.duration, time > .zero {
        age = time
      } else {
        throw error(
          name, "must be a time such as 365d, a number of revisions from 1 to 1000000, or both as 365d,50, not \(text)")
      }
    }
    return HistoryRetention(age: age, count: count ?? 1)
  }

  private func error(_ name: SettingName, _ rule: String) -> SettingError {
    SettingError(name: name.rawValue, rule: rule.terminalSafe)
  }
}
