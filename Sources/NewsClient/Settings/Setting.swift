import BackgroundFetch
import Foundation
import HTTPTransfer
import News

/// A choice of the user about a store. The file of settings, the variables and options of `tidings-fetch`, and the table in
/// `docs/client.md` come from these entries.
package enum Setting: String, CaseIterable, Sendable {
  case server, topics, window, interval, media, notify, exec, quiet, launch, proxy, caFile

  private struct Entry {
    /// The option or the command that replaces the value; nil for an option with the name of the setting.
    var option: String?
    /// The names of variables that come from earlier versions.
    var olderVariables: [String] = []
    /// The valid values.
    var values: String
    var standard = "none"
    /// The purpose, without a full stop.
    var purpose: String
    /// Whether a text is a valid value. Programs and files may be missing, because they matter only where they are used.
    var isValid: @Sendable (String) -> Bool
  }

  private var entry: Entry {
    switch self {
    case .server:
      Entry(
        olderVariables: ["TIDINGS_SERVER"], values: "an http or https URL without a query",
        purpose: "The URL of the API without /v1"
      ) { text in
        guard let url = URL(string: text), url.requestObstacle == nil else { return false }
        return url.user() == nil && url.query() == nil && url.fragment() == nil
      }
    case .topics:
      Entry(
        values: "slugs separated by commas; empty for the whole feed", standard: "the whole feed",
        purpose: "The topics to follow"
      ) { $0.commaSeparated.allSatisfy { TopicSlug.isValid($0) } && $0.commaSeparated.count <= 16 }
    case .window:
      Entry(values: "1...200; 0 for all", standard: "100", purpose: "The number of newest items to keep") {
        FollowedFeed.Extent($0) != nil
      }
    case .interval:
      Entry(
        option: "schedule set", values: "never, minimum, or a time such as 30m, 2h or 1d", standard: "never",
        purpose: "The minimum time between two fetches of the schedule"
      ) { FetchInterval($0) != nil }
    case .media:
      Entry(
        olderVariables: ["TIDINGS_MEDIA"], values: "none, thumbnails or all",
        purpose: "The files of new items to download"
      ) { AttachmentPolicy.Selection(rawValue: $0) != nil }
    case .notify:
      Entry(
        values: "on or off", standard: "off", purpose: "Whether new items raise notifications on the desktop"
      ) { Self.isOn($0) != nil }
    case .exec:
      Entry(
        values: "an executable program, or none",
        purpose: "The program to run once for each fetch with new items, with their JSON on standard input"
      ) { !$0.isEmpty }
    case .quiet:
      Entry(
        values: "a period such as 22:00-07:00, or none",
        purpose: "The hours in which only breaking items raise notifications"
      ) { $0 == "none" || QuietHours(period: $0) != nil }
    case .launch:
      Entry(
        option: "app set", values: "a program and its arguments, which the command app sets",
        purpose: "The app to launch for pushes, ended transfers and clicks"
      ) { _ in false }
    case .proxy:
      Entry(
        values: "an address such as http://proxy.example:3128 or socks5://..., or none",
        standard: "the usual variables", purpose: "The proxy of all requests"
      ) { $0 == "none" || (try? ProxySettings(address: $0)) != nil }
    case .caFile:
      Entry(
        values: "a file in PEM, or none", purpose: "The certificate authorities to trust besides those of the system"
      ) { !$0.isEmpty }
    }
  }

  /// The names of all settings.
  package static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }

  /// The variables of the environment that replace the value, the preferred one first.
  package var variables: [String] {
    if self == .launch { return [] }
    return ["TIDINGS_FETCH_" + name(separator: "_").uppercased()] + entry.olderVariables
  }

  /// The rule for its values.
  package var rule: String { entry.values }

  /// The text for the help of the option.
  package var help: String {
    "\(entry.purpose): \(rule)" + (variables.isEmpty ? "." : " (\(variables.joined(separator: ", "))).")
  }

  /// The default value.
  package var standard: String { entry.standard }

  /// The row of the setting in `docs/client.md`.
  package var row: String {
    let names = [variables.first.map { "`\($0)`" } ?? "", "`\(entry.option ?? "--" + name(separator: "-"))`"]
    return "| `\(rawValue)` | \(names.joined(separator: " | ")) | \(rule) | \(standard) | \(entry.purpose) |"
  }

  private func name(separator: String) -> String {
    rawValue.replacing("File", with: "\(separator)file")
  }

  /// Whether a text is a valid value.
  package func isValid(_ text: String) -> Bool { entry.isValid(text) }

  /// Returns whether a text turns something on; nil for other texts.
  package static func isOn(_ text: String) -> Bool? { ["on": true, "true": true, "off": false, "false": false][text] }

  /// Returns the text of a value in the file; nil for a value that is not valid.
  func text(_ value: JSONValue) -> String? {
    let text: String
    switch (self, value) {
    case (.launch, .array(let values)):
      let words = values.compactMap(\.text)
      return words.isEmpty || words.count < values.count ? nil : words.joined(separator: " ")
    case (.topics, .array(let values)): text = values.map { $0.text ?? "?" }.joined(separator: ",")
    case (.notify, .bool(let isOn)): text = isOn ? "on" : "off"
    case (.window, .integer(let number)), (.interval, .integer(let number)): text = "\(number)"
    case (_, .string(let string)): text = string
    default: return nil
    }
    return isValid(text) ? text : nil
  }

  /// Returns the value of a valid text in the file.
  func value(_ text: String) -> JSONValue {
    switch self {
    case .topics: .array(text.commaSeparated.map(JSONValue.string))
    case .window: .integer(Int(text) ?? 0)
    case .notify: .bool(Self.isOn(text) ?? false)
    default: .string(text)
    }
  }
}

extension String {
  /// The parts between commas without blanks around them; empty parts are left out.
  package var commaSeparated: [String] {
    split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }
}

extension QuietHours {
  /// Parses a period such as `22:00-07:00`.
  package init?(period: String) {
    let times = period.split(separator: "-", omittingEmptySubsequences: false).map { Self.minute($0) }
    guard times.count == 2, let from = times[0], let to = times[1] else { return nil }
    self.init(from: from, to: to)
    guard isValid else { return nil }
  }

  /// The period in the form `22:00-07:00`.
  package var period: String {
    [from, to].map { String(format: "%02d:%02d", $0 / 60, $0 % 60) }.joined(separator: "-")
  }
}

extension FollowedFeed.Extent {
  /// Parses a number of items, 0...200; 0 keeps all.
  package init?(_ text: String) {
    guard let count = Int(text), 0...200 ~= count else { return nil }
    self = count == 0 ? .full : .window(count)
  }
}
