import ArgumentParser
import BackgroundFetch
import Foundation
import News
import NewsClient

struct Notify: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows, changes or tests the notifications of new items.",
    discussion: """
      Each breaking item raises a notification of its own, all other new items of a fetch raise one together. The first \
      fetch raises none, and opening the news takes back those that wait. Fetches of all kinds follow the stored choices: \
      by hand, by the timer, and by watch.
      """,
    subcommands: [Show.self, Set.self, Test.self], defaultSubcommand: Show.self)

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints the choices, and the last and the next notifications.")

    @ParentCommand var parent: TidingsFetch

    func run() async throws {
      let notifications = try parent.client().notifications
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
    static let configuration = CommandConfiguration(abstract: "Stores choices for all later fetches.")

    @ParentCommand var parent: TidingsFetch

    @OptionGroup var notify: NotifyOptions

    func run() async throws {
      if notify.texts.isEmpty { throw ValidationError("Nothing to set; use --notify, --no-notify, --exec or --quiet") }
      let settings = try parent.settings(notify.texts)
      try settings.storeNotifications(try parent.client(settings), notify)
      try printOptions(settings.values.notifications)
    }
  }

  struct Test: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows a notification about the newest stored item, and runs the program with it.",
      discussion: "Quiet hours do not apply. The exit status is 20 if the desktop or the program fails.")

    @ParentCommand var parent: TidingsFetch

    @OptionGroup var notify: NotifyOptions

    func run() async throws {
      let client = try parent.client(try parent.settings(notify.texts))
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

/// The options about notifications.
struct NotifyOptions: ParsableArguments {
  @Flag(inversion: .prefixedNo, help: "Whether new items raise notifications on the desktop.")
  var notify: Bool?

  @Option(help: Setting.exec.argumentHelp, transform: Setting.exec.usable)
  var exec: String?

  @Option(help: Setting.quiet.argumentHelp, transform: Setting.quiet.usable)
  var quiet: String?

  /// The values of the settings that the options replace.
  var texts: [Setting: String] {
    [.notify: notify.map { $0 ? "on" : "off" }, .exec: exec, .quiet: quiet].compactMapValues(\.self)
  }
}

/// The options of commands that fetch.
struct FetchOptions: ParsableArguments {
  @Option(help: Setting.media.argumentHelp, transform: Setting.media.usable) var media: String?
  @OptionGroup var notify: NotifyOptions

  /// The values of the settings that the options replace.
  var texts: [Setting: String] { notify.texts.merging(media.map { [.media: $0] } ?? [:]) { $1 } }
}

/// Prints the choices about notifications.
func printOptions(_ options: NotificationOptions) throws {
  try Output.print("desktop   \(options.showsNews ? "on" : "off")")
  try Output.print("program   \(options.program.map { $0.path(percentEncoded: false).terminalSafe } ?? "none")")
  try Output.print("quiet     \(options.quietHours?.period ?? "none")")
}
