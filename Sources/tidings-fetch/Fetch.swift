import ArgumentParser
import BackgroundFetch
import Foundation
import News
import NewsClient

struct Fetch: JSONReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Fetches new items within 30 seconds.",
    discussion: """
      The exit status is 0 for new data, 10 for none, and 20 if the fetch fails or its result cannot be written. With \
      --scheduled and --json, "notNow" has the reason why no request was sent, and "next" the time of the next wake.
      """)

  @ParentCommand var parent: TidingsFetch

  @Flag(help: "Prints the result as one line of JSON.")
  var json = false

  @Flag(help: "Fetches only if the schedule has a wake now; for timers.")
  var scheduled = false

  @Flag(help: "With --scheduled: exits with 20 as long as the last fetch has failed, so that systemctl shows it.")
  var reportFailures = false

  @OptionGroup var options: FetchOptions
  @Option(help: CommandTimeout.fetchHelp) var timeout: CommandTimeout?

  func validate() throws {
    guard let timeout, timeout.seconds > CommandTimeout.maximumFetchSeconds else { return }
    throw ValidationError(
      """
      A fetch ends after \(Int(CommandTimeout.maximumFetchSeconds)) s, so '--timeout' takes 1...\
      \(Int(CommandTimeout.maximumFetchSeconds)) here. A full copy goes on with the next fetch; run and watch go on by \
      themselves
      """)
  }

  func run() async throws {
    let wake = SystemClock().now
    let settings = try parent.settings(options.texts)
    let client = try parent.client(settings, launchReason: .fetch, timeout: timeout)
    await client.application.launch()
    // A transfer that had to wait may be due by now, even if no fetch is.
    parent.startWorkerIfNeeded(settings)
    if scheduled, let (reason, next) = try client.decision().wait {
      var report = FetchReport(result: .noData)
      report.badge = try client.badge
      // Requests of the app may be due, quiet hours may have ended, or a fetch may have been killed.
      await client.notifications.deliver()
      await client.removeSignedOutDevice()
      if reportFailures, let last = try client.runs(limit: 1).first, last.result == .failed, !last.isOffline {
        Output.log("the last fetch has failed; tidings-fetch log prints the reason")
        try finish(
          FetchLine(report: report, notNow: reason, next: next), status: FetchResult.failed.exitCode)
      }
      try finish(FetchLine(report: report, notNow: reason, next: next))
    }
    let downloads = parent.downloads(settings, client)
    let report = await (timeout ?? CommandTimeout()).limit(client) {
      await $0.performFetch(scheduled ? .scheduled : .manual, wake: wake)
    }
    parent.startWorkerIfNeeded(settings)
    _ = await client.application.suspend()
    withExtendedLifetime(downloads) {}
    try finish(FetchLine(report: report))
  }

  private func finish(_ line: FetchLine, status: ExitCode? = nil) throws -> Never {
    do {
      Output.logFailure(line.report, json: json)
      if json { try printJSON(line) } else { try Output.print(line.text) }
    } catch let failure as Output.Failure where failure.isClosedPipe {
      // The exit status reports the result even without a reader.
    }
    throw status ?? line.report.result.exitCode
  }

  static func failure(_ message: String) -> any Encodable {
    var report = FetchReport(result: .failed)
    report.error = message
    return report
  }
}

extension FetchDecision {
  /// The reason why there are no wakes.
  static let offReason = "background fetch is off"

  /// The reason for a wait and the time of the next wake, if there is one; nil if a wake is due.
  fileprivate var wait: (reason: String, next: Date?)? {
    switch self {
    case .wake: nil
    case .wait(let until, let reason): (reason.description, until)
    case .never: (Self.offReason, nil)
    }
  }
}

/// The printed form of a fetch.
private struct FetchLine: Encodable {
  var report: FetchReport
  /// The reason why the schedule has no wake now, so that nothing was requested.
  var notNow: String?
  /// The time of the next wake.
  var next: Date?

  private enum Keys: String, CodingKey {
    case notNow, next
  }

  /// Encodes the members of the report together with these.
  func encode(to encoder: any Encoder) throws {
    try report.encode(to: encoder)
    var container = encoder.container(keyedBy: Keys.self)
    try container.encodeIfPresent(notNow, forKey: .notNow)
    try container.encodeIfPresent(next, forKey: .next)
  }

  /// The line for people.
  var text: String {
    let next = next.map { ", next at \(localTime($0))" } ?? ""
    return "\(report.result.rawValue): \(notNow.map { "not now: \($0)\(next)" } ?? report.outcome)"
  }
}

extension FetchReport {
  /// The counts, for people.
  var summary: String {
    let counts = "\(inserted) new, \(updated) changed, \(removed) removed"
    return "\(counts); \(counted(requests, "request")), \(bytes) bytes; badge \(badge)"
  }

  /// The counts, the progress of a full copy, or the reason of a failure.
  var outcome: String {
    if result == .failed { return (error ?? "unknown reason").terminalSafe }
    if let progress = received.map(copyProgress) { return progress }
    return summary
  }
}

/// Describes the progress of a full copy.
func copyProgress(_ received: Int) -> String { "received \(grouped(received)) items so far; the next fetch continues" }

extension FetchResult {
  /// The exit status of a process with this result.
  var exitCode: ExitCode {
    switch self {
    case .newData: ExitCode(0)
    case .noData: ExitCode(10)
    case .failed: ExitCode(20)
    }
  }
}
