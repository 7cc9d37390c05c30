import ArgumentParser
import BackgroundFetch
import Foundation
import NewsClient
import UnixSignals

struct Watch: AsyncParsableCommand, JSONReporting {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Fetches as soon as the server announces changes, until it is interrupted.",
    discussion: """
      It reconnects by itself. A timer may run at the same time. Pushes that push receive passes on are handled too.
      """)

  @ParentCommand var parent: TidingsFetch

  @Flag(help: "Prints each fetch as a line of JSON; without it, only fetches with new data are printed.")
  var json = false

  @OptionGroup var media: MediaOptions
  @OptionGroup var notify: NotifyOptions

  func run() async throws {
    // The app is not visible, so the limits of the background apply.
    let client = try parent.client(launchReason: .push, notify: notify)
    await client.application.launch()
    let downloads = try media.downloads(client, parent)
    let alerts = client.showAlerts()
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    let (lines, printer) = AsyncStream.makeStream(of: String.self)
    let outcome = await withTaskGroup(of: (any Error)?.self) { group in
      group.addTask {
        await client.watch { report in
          if let line = line(report) { printer.yield(line) }
        }
        return nil
      }
      group.addTask {
        await client.notifications.run()
        return nil
      }
      group.addTask {
        for await _ in signals { break }
        return nil
      }
      group.addTask {
        // Each line is printed at once, even if the output is not a terminal.
        do { for await line in lines { try Output.print(line) } } catch { return error }
        return nil
      }
      let first = await group.next()
      group.cancelAll()
      return first ?? nil
    }
    _ = await client.application.suspend()
    withExtendedLifetime((downloads, alerts)) {}
    if let outcome { throw outcome }
  }

  private func line(_ report: FetchReport) -> String? {
    if json { return try? jsonLine(report) }
    return report.result == .newData ? "\(localTime(Date()))  \(report.summary)" : nil
  }
}
