import ArgumentParser
import BackgroundFetch
import Foundation
import NewsClient

struct Install: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Installs a systemd timer that fetches when the schedule has a wake.",
    discussion: """
      Writes a service and a timer for the user's systemd, and starts the timer, which runs every two minutes. Each store \
      has its own timer: tidings-fetch-NAME for the store of --name. The service keeps the proxy, the certificate \
      authorities and the variables of this command. While the last fetch has failed, systemctl --user shows the service as \
      failed. The user's systemd runs while the user is logged in; loginctl enable-linger keeps it running. The exit status \
      is 20 if the timer cannot be started.
      """)

  @ParentCommand var parent: TidingsFetch

  @Flag(inversion: .prefixedNo, help: "Whether the timer is started.")
  var start = true

  @OptionGroup var options: FetchOptions

  func run() async throws {
    let settings = try parent.settings(options.texts)
    let client = try parent.client(settings)
    // The unit does not name the feed, so the store has to remember it.
    try client.updateSchedule { _ in }
    // The unit does not repeat these choices, so that a later `notify set` applies to it too.
    if !options.notify.texts.isEmpty { try settings.storeNotifications(client, options.notify) }
    let units = try parent.units()
    let selection = settings.media
    let words = (selection == .none ? [] : ["--media", selection.rawValue]) + ["--report-failures"]
    for file in try units.write(
      executable: try TidingsFetch.executable, options: words, environment: parent.unitEnvironment())
    {
      try Output.print("wrote \(file.path(percentEncoded: false))")
    }
    if try client.schedule.interval == .never {
      try Output.print("background fetch is off until you set an interval: tidings-fetch schedule set minimum")
    }
    if start {
      try systemctl(["daemon-reload"], units)
      try systemctl(["enable", "--now", "\(units.name).timer"], units)
    }
    try Output.print("the timer runs while you are logged in; to run it always: loginctl enable-linger")
  }

  private func systemctl(_ arguments: [String], _ units: Units) throws {
    if TidingsFetch.systemctl(arguments) { return }
    Output.log("cannot start the timer; try: systemctl --user enable --now \(units.name).timer")
    throw FetchResult.failed.exitCode
  }
}

struct Uninstall: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Stops the timer of the store, and removes its units. The store remains.")

  @ParentCommand var parent: TidingsFetch

  func run() async throws {
    let units = try parent.units()
    guard units.files.contains(where: { FileManager.default.fileExists(atPath: $0.path(percentEncoded: false)) }) else {
      return try Output.print("no timer is installed for this store")
    }
    // Without a running systemd there is nothing to stop.
    let isStopped = TidingsFetch.systemctl(["disable", "--now", "\(units.name).timer"])
    for file in try units.remove() { try Output.print("removed \(file.path(percentEncoded: false))") }
    if isStopped, TidingsFetch.systemctl(["daemon-reload"]) { return }
    Output.log("cannot reach systemd; if the timer still runs: systemctl --user stop \(units.name).timer")
  }
}

extension TidingsFetch {
  /// Returns the units of the store.
  func units() throws -> Units {
    try Units(location, environment: Self.environment)
  }

  /// Returns the variables that the service needs: those of this command, and its options about connections.
  fileprivate func unitEnvironment() -> [String: String] {
    exportConnection()
    let names = [
      "XDG_CONFIG_HOME", "XDG_STATE_HOME", "TIDINGS_CONTACT", "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
      "ALL_PROXY", "no_proxy", "NO_PROXY",
    ]
    // The command line of the service has the store.
    let others = ["TIDINGS_FETCH_STORE", "TIDINGS_FETCH_NAME"]
    return ProcessInfo.processInfo.environment.filter { name, value in
      !value.isEmpty && (names.contains(name) || name.hasPrefix("TIDINGS_FETCH_") && !others.contains(name))
    }
  }

  /// Runs systemctl for the user's systemd.
  ///
  /// - Returns: Whether it has succeeded. systemctl prints its own errors.
  static func systemctl(_ arguments: [String]) -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["systemctl", "--user"] + arguments
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationReason == .exit && process.terminationStatus == 0
  }
}
