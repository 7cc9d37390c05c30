import ArgumentParser
import BackgroundFetch
import NewsClient

struct Run: JSONReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Stays alive and fetches by the schedule, until it is interrupted.",
    discussion: """
      It replaces the timer of schedule install where there is no systemd. It sleeps until the schedule has a wake, makes up \
      for one without a network once the network is back, handles the pushes that push receive passes on, and delivers \
      notifications. With --events it also listens to the server, as watch does.
      """)

  @ParentCommand var parent: TidingsFetch

  @Flag(help: "Listens to the server's events too, and fetches as soon as one arrives.")
  var events = false

  @Flag(help: "Prints each fetch as a line of JSON; without it, only fetches with new data are printed.")
  var json = false

  @OptionGroup var options: FetchOptions

  func run() async throws {
    try await parent.stayAlive(json: json, options) { [events] client, onReport in
      if (try? client.schedule.interval) == .never {
        Output.log("background fetch is off; schedule set minimum turns it on")
      }
      await client.run(followsEvents: events, onReport)
    }
  }
}
