import ArgumentParser
import BackgroundFetch
import Foundation
import HTTPTransfer
import News
import NewsClient

/// The settings of a store: options replace variables, variables replace the file.
struct StoreSettings {
  /// The store to which the settings belong.
  let location: StoreLocation
  /// The values in force.
  private(set) var values: Settings
  /// The variables that replace values of the file.
  private(set) var variables: [Setting: String] = [:]
  private let options: [Setting: String]

  /// Reads the settings.
  ///
  /// - Throws: `FetchError` for a value that is not valid.
  init(of location: StoreLocation, options: [Setting: String], environment: [String: String]) throws {
    (self.location, self.options) = (location, options)
    let path: String
    (values, path) = try location.settings
    if let problem = values.problem { throw FetchError(.storage, "\(problem.terminalSafe), in \(path)") }
    for setting in Setting.allCases {
      if let name = setting.variables.first(where: { environment[$0] != nil }), let text = environment[name] {
        guard setting.isValid(text) else { throw FetchError(.storage, "\(name) must be \(setting.rule)") }
        (values[setting], variables[setting]) = (text, name)
      }
      if let text = options[setting] { values[setting] = text }
    }
  }

  /// Returns the feed to follow, for which the followed one has the missing values.
  ///
  /// - Throws: `ValidationError` if no server is known.
  func feed(stored: FollowedFeed?) throws -> FollowedFeed {
    guard let feed = values.merging(Settings(feed: stored)).feed else {
      throw ValidationError(
        "Missing expected argument '--server <server>'; tidings-fetch config set server URL remembers it")
    }
    return feed
  }

  /// The interval that replaces the stored one; nil if there is none.
  var interval: FetchInterval? { variables[.interval] == nil ? nil : values.interval }

  /// The choices about notifications that replace the stored ones; nil if there are none.
  var notifications: NotificationOptions? {
    let isReplaced = [Setting.notify, .exec, .quiet].contains { variables[$0] != nil || options[$0] != nil }
    return isReplaced ? values.notifications : nil
  }

  /// Stores the choices of options about notifications.
  func storeNotifications(_ client: NewsFetcher, _ options: NotifyOptions) throws {
    try client.notifications.setOptions(values.notifications)
    noteVariables(Array(options.texts.keys))
  }

  /// Logs which variables replace the user's new choices.
  func noteVariables(_ changed: [Setting]) {
    for name in changed.compactMap({ variables[$0] }) { Output.log("\(name) is set, and is used instead") }
  }
}

extension Setting: ExpressibleByArgument {
  /// The help of the option.
  var argumentHelp: ArgumentHelp { ArgumentHelp(stringLiteral: help) }

  /// Returns the value of an option. Paths are absolute, because commands run in any folder.
  ///
  /// - Throws: `ValidationError` for a value that cannot be used.
  @Sendable func usable(_ text: String) throws -> String {
    var usable = isValid(text) ? text : nil
    if text != "none", self == .exec { usable = URL(programNamed: text)?.path(percentEncoded: false) }
    if text != "none", self == .caFile {
      var options = ConnectionOptions()
      let file = URL(filePath: text).absoluteURL.standardizedFileURL
      usable = (try? options.trust(certificatesIn: file)) == nil ? nil : file.path(percentEncoded: false)
    }
    guard let usable else { throw ValidationError("\(rawValue) must be \(rule)") }
    return usable
  }

  /// Returns a value for a terminal, without the password of a proxy.
  func shown(_ text: String) -> String {
    guard self == .proxy, var parts = URLComponents(string: text), parts.password != nil else {
      return text.isEmpty ? "(all)" : text.terminalSafe
    }
    parts.password = "…"
    return (parts.string?.removingPercentEncoding ?? "").terminalSafe
  }
}
