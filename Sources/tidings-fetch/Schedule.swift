import ArgumentParser
import BackgroundFetch
import Foundation
import NewsClient

struct Schedule: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schedule", abstract: "Shows or changes when news are fetched.",
    subcommands: [Show.self, Set.self, Install.self, Uninstall.self])

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Draws the learned week, and says when the next wake is.")

    @ParentCommand var parent: Schedule

    func run() async throws {
      let client = try parent.parent.client()
      try printSchedule(try client.schedule, try client.decision())
    }
  }

  struct Set: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set", abstract: "Sets how often news are fetched at most.")

    @ParentCommand var parent: Schedule

    @Argument(help: "never, minimum (as often as it is worth it), or a time such as 30m, 2h or 1d.")
    var interval: FetchInterval

    func run() async throws {
      try parent.parent.client().updateSchedule { $0.setInterval(interval) }
      if interval.isBelowFloor { try Output.print("interval  \(interval.text)") }
    }
  }

  @ParentCommand var parent: TidingsFetch
}

struct SignOut: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "signout", abstract: "Ends fetching: nothing is scheduled any more. What is stored stays.")

  @ParentCommand var parent: TidingsFetch

  func run() async throws {
    try parent.client().updateSchedule { $0.signOut() }
  }
}

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Says what is followed, what is stored and what comes next.")

  @ParentCommand var parent: TidingsFetch

  func run() async throws {
    let client = try parent.client()
    let source = client.configuration.source
    try Output.print("server    \(source.server.absoluteString)")
    try Output.print("topics    \(source.topics.isEmpty ? "all" : source.topics.joined(separator: ", "))")
    let snapshot = try client.snapshot
    try Output.print("items     \(try client.count), badge \(try client.badge)")
    try Output.print("checked   \(snapshot.checked.map(localTime) ?? "never")")
    if let run = try client.runs(limit: 1).first { try Output.print("last      \(run.line)") }
    try printSchedule(try client.schedule, try client.decision())
  }
}

extension FetchInterval {
  /// Whether the requested interval is shorter than the minimum.
  fileprivate var isBelowFloor: Bool {
    if case .seconds(let seconds) = self { seconds < Self.minimumSeconds } else { false }
  }

  /// The interval for people.
  fileprivate var text: String {
    guard case .seconds(let asked) = self, let seconds else { return description }
    let floor = isBelowFloor ? " (the shortest there is; \(roundedTime(asked)) was asked for)" : ""
    return roundedTime(seconds) + floor
  }
}

/// Prints the decision of the schedule, and a map of the times at which the app is opened.
func printSchedule(_ schedule: FetchScheduler, _ decision: FetchDecision) throws {
  try Output.print("interval  \(schedule.interval.text)")
  switch decision {
  case .wake(let reason, _): try Output.print("next      now: \(reason)")
  case .wait(.distantFuture, let reason): try Output.print("next      never: \(reason)")
  case .wait(let date, let reason): try Output.print("next      \(localTime(date)): \(reason)")
  }
  try Output.print()
  for line in HeatMap(schedule.openings.hours).lines { try Output.print(line) }
}
