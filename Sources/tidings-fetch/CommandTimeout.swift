import ArgumentParser
import BackgroundFetch
import HTTPTransfer
import NewsClient

/// The time limit of a command that talks to a server.
struct CommandTimeout: ExpressibleByArgument {
  /// The help of the option `--timeout`.
  static var help: ArgumentHelp {
    "The seconds after which the command gives up, 1...3600."
  }
  /// The help of the option `--timeout` of a fetch.
  static var fetchHelp: ArgumentHelp { "The seconds after which the fetch gives up, 1...30 (30)." }

  /// The maximum limit of a fetch, in seconds. A fetch has the time of a wake, whoever starts it.
  static let maximumFetchSeconds = FetchBudget.total / .seconds(1)

  /// The limit in seconds, 1...3600.
  private(set) var seconds = 60.0

  init() {}

  init?(argument: String) {
    guard let seconds = Double(argument), 1...3600 ~= seconds else { return nil }
    self.seconds = seconds
  }

  /// The default in the help.
  var defaultValueDescription: String { "\(Int(seconds))" }

  /// Runs a fetch, and cancels it at the time limit.
  func limit(
    _ client: NewsFetcher, _ fetch: @escaping @Sendable (NewsFetcher) async -> FetchReport
  ) async -> FetchReport {
    let work = Task { await fetch(client) }
    let timer = Task { [seconds] in
      guard (try? await Task.sleep(for: .seconds(seconds))) != nil else { return false }
      work.cancel()
      return true
    }
    var report = await work.value
    timer.cancel()
    if await timer.value, report.result == .failed {
      let failure = FetchError(.budget, "the fetch did not end within \(roundedTime(seconds)) (--timeout)")
      (report.failure, report.error) = (failure, failure.message)
    }
    return report
  }
}
