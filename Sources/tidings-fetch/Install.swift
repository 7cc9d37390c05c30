import ArgumentParser
import BackgroundFetch
import Foundation
import NewsClient

struct Install: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "install", abstract: "Lets systemd ask every two minutes whether it is time to fetch.",
    discussion: "Writes tidings-fetch.service and tidings-fetch.timer for the user's systemd and starts the timer.")

  @ParentCommand var parent: Schedule

  @Flag(inversion: .prefixedNo, help: "Whether the timer is started.")
  var start = true

  func run() async throws {
    let client = try parent.parent.client()
    // What is followed is remembered for the unit, which does not say it.
    try client.updateSchedule { _ in }
    let folder = try Self.folder(ProcessInfo.processInfo.environment)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let service = Self.service(executable: try TidingsFetch.executable, store: client.configuration.folder)
    for (name, text) in [("tidings-fetch.service", service), ("tidings-fetch.timer", Self.timer)] {
      let file = folder.appending(path: name)
      try Data(text.utf8).write(to: file, options: .atomic)
      print("wrote \(file.path(percentEncoded: false))")
    }
    if try client.schedule.interval == .never {
      print("nothing is fetched before an interval is set: tidings-fetch schedule set minimum")
    }
    if start { try Self.startTimer() }
  }

  /// The folder of the user's units (systemd.unit(5)).
  private static func folder(_ environment: [String: String]) throws -> URL {
    guard let home = environment["XDG_CONFIG_HOME"] ?? environment["HOME"].map({ $0 + "/.config" }), !home.isEmpty
    else { throw ValidationError("HOME is not set") }
    return URL(filePath: home, directoryHint: .isDirectory).appending(path: "systemd/user")
  }

  private static var timer: String {
    String(decoding: PackageResources.tidings_fetch_timer, as: UTF8.self)
  }

  /// The shipped unit with the places of this machine.
  private static func service(executable: String, store: URL) -> String {
    String(decoding: PackageResources.tidings_fetch_service, as: UTF8.self)
      .replacing(
        "/usr/local/bin/tidings-fetch",
        with: "\(quoted(executable)) --store \(quoted(store.absoluteURL.path(percentEncoded: false)))")
  }

  /// A word of a command line: within quotes backslashes escape, percent signs and dollars are doubled
  /// (systemd.service(5), "Command lines").
  private static func quoted(_ word: String) -> String {
    let escaped = word.map { character in
      switch character {
      case "\\", "\"": "\\\(character)"
      case "%", "$": "\(character)\(character)"
      default: "\(character)"
      }
    }
    return "\"\(escaped.joined())\""
  }

  private static func startTimer() throws {
    for arguments in [["daemon-reload"], ["enable", "--now", "tidings-fetch.timer"]] {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = ["systemctl", "--user"] + arguments
      try process.run()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        throw CleanExit.message("The timer was not started; try: systemctl --user enable --now tidings-fetch.timer")
      }
    }
  }
}
