import BackgroundFetch
import Foundation
import News
import NewsClient
import UnixSignals

extension TidingsFetch {
  /// The interval between two checks whether a worker has to be started, in seconds.
  private static let workerInterval = 900.0

  /// Runs a client until the process is interrupted, and prints the reports of its fetches.
  ///
  /// - Parameters:
  ///   - json: Whether each report is printed as a line of JSON; otherwise only new data are printed.
  ///   - work: Runs the client until its task is cancelled, and passes on each report.
  func stayAlive(
    json: Bool, _ options: FetchOptions,
    _ work: @escaping @Sendable (NewsFetcher, @escaping @Sendable (FetchReport) -> Void) async -> Void
  ) async throws {
    // The app is not visible, so the limits of the background apply.
    let settings = try settings(options.texts)
    let client = try client(settings, launchReason: .push)
    await client.application.launch()
    let downloads = downloads(settings, client)
    let alerts = client.showAlerts()
    let taps = client.openTappedItems()
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    let (lines, printer) = AsyncStream.makeStream(of: String.self)
    let outcome = await withTaskGroup(of: (any Error)?.self) { group in
      group.addTask {
        await work(client) { report in
          if let line = Self.line(report, json) { printer.yield(line) }
          if let error = report.error { Output.log(error) }
        }
        return nil
      }
      group.addTask {
        // No timer starts a worker for transfers that had to wait.
        while !Task.isCancelled {
          startWorkerIfNeeded(settings)
          try? await SystemClock().sleep(for: .seconds(Self.workerInterval))
        }
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
    withExtendedLifetime((downloads, alerts, taps)) {}
    if let outcome { throw outcome }
  }

  private static func line(_ report: FetchReport, _ json: Bool) -> String? {
    if json { return try? jsonLine(report) }
    return report.result == .newData ? "\(localTime(Date()))  \(report.summary)" : nil
  }
}

extension NewsFetcher {
  /// Opens the page of an item whose notification the user taps, while the returned observation is kept. If the user allows that
  /// the app is launched, the tap launches the app instead.
  ///
  /// - Returns: nil if taps are for the app.
  fileprivate func openTappedItems() -> ObservationToken? {
    guard launchCommand == nil else { return nil }
    return activations.add { [weak self] activation in
      guard let self, let id = activation.itemID else { return }
      // The browser may take any time to start.
      Thread.detachNewThread {
        do {
          guard let link = try self.item(id)?.url.flatMap({ HTTPLink(argument: $0) }) else { return }
          try Browser.open(link.url)
          try self.setRead([id])
        } catch {
          Output.log("\(error)")
        }
      }
    }
  }
}
