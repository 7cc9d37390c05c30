import ArgumentParser
import BackgroundFetch
import Foundation
import News
import NewsClient

struct Schedule: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows or changes when news are fetched.",
    subcommands: [Show.self, Set.self, Install.self, Uninstall.self])

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Prints the next wake and the learned week.")

    @ParentCommand var parent: TidingsFetch

    func run() async throws {
      let client = try parent.client()
      try printSchedule(try client.schedule, try client.decision())
    }
  }

  struct Set: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Sets the minimum interval between fetches.")

    @ParentCommand var parent: TidingsFetch

    @Argument(help: Setting.interval.argumentHelp, transform: Setting.interval.usable)
    var text: String

    func run() async throws {
      try parent.settings().noteVariables([.interval])
      let interval = FetchInterval(text) ?? .never
      try parent.client().updateSchedule { $0.setInterval(interval) }
      if interval.isBelowFloor { try Output.print("interval  \(interval.text)") }
    }
  }

  @ParentCommand var parent: TidingsFetch
}

struct SignOut: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "signout", abstract: "Ends background fetches and pushes. The stored items remain.",
    discussion: "If the server does not answer, the exit status is 20, and the next fetch deletes the registration.")

  @ParentCommand var parent: TidingsFetch

  @Option(help: CommandTimeout.help) var timeout = CommandTimeout()

  func run() async throws {
    try parent.settings().noteVariables([.interval])
    try await parent.client(timeout: timeout).signOut()
  }
}

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the followed feed, the stored items and the next wake.")

  @ParentCommand var parent: TidingsFetch

  @Option(help: ArgumentHelp(StatusFormat.help))
  var format: StatusFormat?

  func run() async throws {
    let client = try parent.client()
    if let format { return try Output.print(try format.line(client, now: Date())) }
    let feed = client.configuration.feed
    try Output.print("server    \(feed.server.absoluteString)")
    try Output.print("topics    \(feed.topics.isEmpty ? "all" : feed.topics.joined(separator: ", "))")
    let snapshot = try client.snapshot
    try Output.print("items     \(try client.count), badge \(try client.badge)")
    try Output.print("checked   \(snapshot.checked.map(localTime) ?? "never")")
    if let run = try client.runs(limit: 1).first { try Output.print("last      \(run.line)") }
    for wait in client.serverWaits {
      try Output.print("waits     \(wait.origin.terminalSafe) accepts no requests until \(localTime(wait.until))")
    }
    try printSchedule(try client.schedule, try client.decision())
  }
}

extension FetchInterval {
  /// Whether the requested interval is shorter than the minimum.
  fileprivate var isBelowFloor: Bool {
    if case .duration(let duration) = self { duration < Self.minimumDuration } else { false }
  }

  /// The interval for people.
  fileprivate var text: String {
    guard case .duration(let asked) = self, let duration else { return description }
    let floor = isBelowFloor ? " (the minimum; \(roundedTime(asked.inSeconds)) was requested)" : ""
    return roundedTime(duration.inSeconds) + floor
  }
}

/// Prints the decision of the schedule, and a map of the times at which the app is opened.
func printSchedule(_ schedule: FetchScheduler, _ decision: FetchDecision) throws {
  try Output.print("interval  \(schedule.interval.text)")
  switch decision {
  case .wake(let reason, _): try Output.print("next      now (\(reason))")
  case .wait(let date, let reason): try Output.print("next      \(localTime(date)) (\(reason))")
  case .never: try Output.print("next      never (\(FetchDecision.offReason))")
  }
  try Output.print()
  for line in HeatMap(schedule.openings.hours).lines { try Output.print(line) }
}
