package import BackgroundFetch
import Foundation
import News

/// The settings of a store in the form of their file. A value that is not valid, such as one of a later version, counts as
/// missing, and members with other names are kept.
package struct Settings: Sendable, Equatable, Codable {
  private var members: [String: JSONValue] = [:]

  /// Creates the settings that follow a feed.
  package init(feed: FollowedFeed? = nil) { self.feed = feed }

  /// Decodes the members of an object.
  package init(from decoder: any Decoder) throws {
    members = try [String: JSONValue](from: decoder)
    // Earlier versions grouped the followed feed and the choices about notifications.
    for group in ["source", "notifications"] {
      guard case .object(let values)? = members.removeValue(forKey: group) else { continue }
      members.merge(values) { own, _ in own }
    }
    if let extent = members.removeValue(forKey: "extent") {
      members[Setting.window.rawValue] = extent["window"]?["_0"] ?? .integer(0)
    }
    if let quiet = members[Setting.quiet.rawValue], let from = quiet["from"]?.text, let to = quiet["to"]?.text {
      members[Setting.quiet.rawValue] = .string("\(from)-\(to)")
    }
  }

  package func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }

  /// The value of a setting in the form of the command's option; nil if there is none. A new value must be valid.
  package subscript(setting: Setting) -> String? {
    get { members[setting.rawValue].flatMap(setting.text) }
    set { members[setting.rawValue] = newValue.map(setting.value) }
  }

  /// A sentence about a member that is no setting or has no valid value; nil if there is none.
  package var problem: String? {
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      guard let setting = Setting(rawValue: name) else {
        return "'\(name)' is not a setting; the settings are \(Setting.list)"
      }
      if setting.text(value) == nil { return "the setting '\(name)' must be \(setting.rule)" }
    }
    return nil
  }

  /// Returns these settings, and those of others that are missing here.
  package func merging(_ others: Settings) -> Settings {
    var all = self
    all.members.merge(others.members) { own, _ in own }
    return all
  }

  /// The settings of a store in a file of earlier versions, which had those of all named stores.
  package func store(_ name: String) -> Settings? {
    guard case .object(let values)? = members["stores"]?[name] else { return nil }
    var settings = Settings()
    settings.members = values
    return settings
  }
}

extension Settings {
  /// The feed to follow; nil without a server.
  package var feed: FollowedFeed? {
    get {
      guard let server = self[.server].flatMap({ URL(string: $0) }) else { return nil }
      return FollowedFeed(
        server: server, topics: self[.topics]?.commaSeparated ?? [],
        extent: self[.window].flatMap { FollowedFeed.Extent($0) } ?? .window(100))
    }
    set {
      self[.server] = newValue?.server.absoluteString
      self[.topics] = newValue.flatMap { $0.topics.isEmpty ? nil : $0.topics.joined(separator: ",") }
      switch newValue?.extent {
      case .full: self[.window] = "0"
      case .window(let count) where count != 100: self[.window] = "\(count)"
      default: self[.window] = nil
      }
    }
  }

  /// The minimum interval between wakes; nil before the user has set it.
  package var interval: FetchInterval? {
    get { self[.interval].flatMap { FetchInterval($0) } }
    set { self[.interval] = newValue?.description }
  }

  /// The choices about notifications.
  package var notifications: NotificationOptions {
    get {
      var options = NotificationOptions()
      options.showsNews = self[.notify].flatMap(Setting.isOn) ?? false
      if let path = self[.exec], path != "none" { options.program = URL(programNamed: path) ?? URL(filePath: path) }
      options.quietHours = self[.quiet].flatMap { QuietHours(period: $0) }
      return options
    }
    set {
      self[.notify] = newValue.showsNews ? "on" : "off"
      self[.exec] = newValue.program?.path(percentEncoded: false)
      self[.quiet] = newValue.quietHours?.period
    }
  }

  /// The program and the arguments that launch the app; nil if the user does not allow that.
  var launch: [String]? {
    get {
      guard self[.launch] != nil, case .array(let words)? = members[Setting.launch.rawValue] else { return nil }
      return words.compactMap(\.text)
    }
    set { members[Setting.launch.rawValue] = newValue.map { .array($0.map(JSONValue.string)) } }
  }
}

extension URL {
  /// The absolute URL of an executable program. A name without a slash is looked up in the search path.
  package init?(programNamed name: String) {
    let path = ProcessInfo.processInfo.environment["PATH"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/bin:/bin"
    let folders = name.contains("/") ? [""] : path.split(separator: ":").map { "\($0)/" }
    let files = folders.map { URL(filePath: $0 + name, directoryHint: .notDirectory).absoluteURL.standardizedFileURL }
    let program = files.first { file in
      let isFolder = (try? file.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true
      return !isFolder && FileManager.default.isExecutableFile(atPath: file.path(percentEncoded: false))
    }
    guard let program else { return nil }
    self = program
  }
}
