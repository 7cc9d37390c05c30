import ArgumentParser
import BackgroundFetch
import Foundation
import News
import NewsClient

struct Notify: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notify", abstract: "Shows, changes or tests the notifications of new items.",
    discussion: """
      Each breaking item raises a notification of its own, all other new items of a fetch raise one together. The first \
      fetch raises none, and opening the news takes back those that wait. Fetches of all kinds follow the stored choices: \
      by hand, by the timer, and by watch.
      """,
    subcommands: [Show.self, Set.self, Test.self], defaultSubcommand: Show.self)

  @ParentCommand var parent: TidingsFetch

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Prints the choices, and the last and the next notifications.")

    @ParentCommand var parent: Notify

    func run() async throws {
      let notifications = try parent.parent.client().notifications
      try printOptions(notifications.options)
      let waiting = try notifications.waitingItems
      if waiting > 0 { try Output.print("waiting   \(counted(waiting, "item"))") }
      for request in try notifications.pending {
        try Output.print(
          "next      \(request.deliveryDate.map { localTime($0) } ?? "now")  \(request.title.terminalSafe)")
      }
      for notification in try notifications.delivered.prefix(5) {
        try Output.print("shown     \(localTime(notification.date))  \(notification.request.title.terminalSafe)")
      }
    }
  }

  struct Set: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set", abstract: "Stores choices for all later fetches.")

    @ParentCommand var parent: Notify

    @OptionGroup var notify: NotifyOptions

    func run() async throws {
      let client = try parent.parent.client()
      guard let options = try notify.options(over: client.notifications.options) else {
        throw ValidationError("Nothing to set; use --notify, --no-notify, --exec or --quiet")
      }
      try client.notifications.setOptions(options)
      try await parent.parent.replaceSettings(notify)
      try printOptions(options)
    }
  }

  struct Test: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "test", abstract: "Shows a notification about the newest stored item, and runs the program with it.",
      discussion: "Quiet hours do not apply. The exit status is 20 if the desktop or the program fails.")

    @ParentCommand var parent: Notify

    @OptionGroup var notify: NotifyOptions

    func run() async throws {
      let client = try parent.parent.client(notify: notify)
      let options = client.notifications.options
      guard options.showsNews || options.program != nil else {
        throw ValidationError("Notifications are off; use --notify or --exec, here or with notify set")
      }
      let failures = await client.notifications.test()
      for failure in failures { Output.log(failure) }
      if !failures.isEmpty { throw FetchResult.failed.exitCode }
    }
  }
}

/// The options of commands that fetch.
struct NotifyOptions: ParsableArguments {
  @Flag(inversion: .prefixedNo, help: "Whether new items raise notifications on the desktop.")
  var notify: Bool?

  @Option(
    help: """
      The program to run once for each fetch with new items, with their JSON on standard input; none for none.
      """)
  var exec: String?

  @Option(help: "The hours in which only breaking items raise notifications, such as 22:00-07:00; none for none.")
  var quiet: QuietPeriod?

  /// Returns stored choices with those that the options replace; nil without options.
  ///
  /// - Throws: `ValidationError`
  func options(over stored: @autoclosure () -> NotificationOptions) throws -> NotificationOptions? {
    if notify == nil, exec == nil, quiet == nil { return nil }
    var options = stored()
    if let notify { options.showsNews = notify }
    if let exec { options.program = try Self.program(exec) }
    if let quiet { options.quietHours = quiet.hours }
    return options
  }

  /// Returns the absolute path of a program.
  private static func program(_ name: String) throws -> URL? {
    if name == "none" { return nil }
    guard let file = URL(programNamed: name) else {
      throw ValidationError("The value of '--exec' must be an executable program, not '\(name)'")
    }
    return file
  }
}

/// The option `--quiet`: a period of each day, or none.
struct QuietPeriod: ExpressibleByArgument {
  /// The hours; nil for none.
  let hours: QuietHours?

  init?(argument: String) {
    if argument == "none" {
      hours = nil
      return
    }
    let times = argument.split(separator: "-", omittingEmptySubsequences: false).map { QuietHours.minute($0) }
    guard times.count == 2, let from = times[0], let to = times[1] else { return nil }
    let hours = QuietHours(from: from, to: to)
    guard hours.isValid else { return nil }
    self.hours = hours
  }
}

/// Prints the choices about notifications.
func printOptions(_ options: NotificationOptions) throws {
  try Output.print("desktop   \(options.showsNews ? "on" : "off")")
  try Output.print("program   \(options.program.map { $0.path(percentEncoded: false).terminalSafe } ?? "none")")
  try Output.print("quiet     \(options.quietHours.map { $0.text } ?? "none")")
}

extension QuietHours {
  /// The hours in the form of the option `--quiet`.
  fileprivate var text: String {
    [from, to].map { String(format: "%02d:%02d", $0 / 60, $0 % 60) }.joined(separator: "-")
  }
}
