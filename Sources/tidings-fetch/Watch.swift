import ArgumentParser
import BackgroundFetch
import Foundation
import NewsClient
import UnixSignals

struct Watch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Fetches as soon as the server tells of something new, until it is interrupted.",
    discussion: "It connects anew by itself. A timer may go on beside it.")

  @ParentCommand var parent: TidingsFetch

  @Flag(help: "Prints each fetch as a line of JSON; else those with new data are told.")
  var json = false

  @OptionGroup var media: MediaOptions

  func run() async throws {
    // Not seen by anybody: what it does is limited as in the background.
    let client = try parent.client(launchReason: .push)
    await client.application.launch()
    let downloads = try media.downloads(client, parent)
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    await withTaskGroup { group in
      group.addTask {
        await client.watch { report in
          guard let line = line(report) else { return }
          // At once, also where the output is no terminal.
          FileHandle.standardOutput.write(Data("\(line)\n".utf8))
        }
      }
      group.addTask {
        for await _ in signals { break }
      }
      await group.next()
      group.cancelAll()
    }
    _ = await client.application.suspend()
    withExtendedLifetime(downloads) {}
  }

  private func line(_ report: FetchReport) -> String? {
    if json { return try? jsonLine(report) }
    return report.result == .newData ? "\(localTime(Date()))  \(report.summary)" : nil
  }
}
