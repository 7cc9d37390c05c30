import ArgumentParser
import NewsClient

struct Watch: JSONReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Fetches as soon as the server announces changes, until it is interrupted.",
    discussion: """
      It reconnects by itself. A timer may run at the same time. Pushes that push receive passes on are handled too.
      """)

  @ParentCommand var parent: TidingsFetch

  @Flag(help: "Prints each fetch as a line of JSON; without it, only fetches with new data are printed.")
  var json = false

  @OptionGroup var options: FetchOptions

  func run() async throws {
    try await parent.stayAlive(json: json, options) { client, onReport in
      await withTaskGroup { group in
        group.addTask { await client.watch(onReport) }
        group.addTask { await client.notifications.run() }
      }
    }
  }
}
