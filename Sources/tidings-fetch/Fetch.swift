public import ArgumentParser
import BackgroundFetch
import Foundation
public import NewsClient

struct Fetch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch", abstract: "Asks for what is new, within 30 seconds.",
    discussion: "The exit code is 0 for new data, 10 for none, and 20 where the fetch has failed.")

  @ParentCommand var parent: TidingsFetch

  @Flag(help: "Prints the result as one line of JSON.")
  var json = false

  @Flag(help: "Asks only if the schedule has a wake now; for a timer.")
  var scheduled = false

  @OptionGroup var media: MediaOptions

  func run() async throws {
    let wake = SystemClock().now
    let client = try parent.client(launchReason: .fetch)
    await client.application.launch()
    if scheduled, case .wait(let until, let reason) = try client.decision() {
      var report = FetchReport(result: .noData)
      report.badge = try client.badge
      let next = until == .distantFuture ? "" : ", next at \(localTime(until))"
      try finish(report, note: "not now: \(reason)\(next)")
    }
    let downloads = try media.downloads(client, parent)
    let report = await client.performFetch(scheduled ? .scheduled : .manual, wake: wake)
    try parent.startWorkerIfNeeded()
    _ = await client.application.suspend()
    withExtendedLifetime(downloads) {}
    try finish(report, note: nil)
  }

  private func finish(_ report: FetchReport, note: String?) throws -> Never {
    if json {
      try printJSON(report)
    } else {
      print("\(report.result.rawValue): \(note ?? report.summary)")
    }
    throw report.result.exitCode
  }
}

struct MediaOptions: ParsableArguments {
  @Option(help: "Which files of new items are downloaded: none, thumbnails or all; TIDINGS_MEDIA says it, too.")
  var media: MediaSelection?

  /// Hands the files of what a client fetches to the worker; nil if none are wanted.
  func downloads(_ client: NewsFetcher, _ command: TidingsFetch) throws -> AttachmentDownloads? {
    let environment = ProcessInfo.processInfo.environment["TIDINGS_MEDIA"]
    guard let selection = media ?? environment.map({ MediaSelection(rawValue: $0) }) ?? MediaSelection.none else {
      throw ValidationError("TIDINGS_MEDIA is none of none, thumbnails and all")
    }
    if selection == MediaSelection.none { return nil }
    let worker = try command.workerProcess()
    return try AttachmentDownloads(client, policy: AttachmentPolicy(selection)) { try worker.start() }
  }
}

typealias MediaSelection = AttachmentPolicy.Selection

extension AttachmentPolicy.Selection: ExpressibleByArgument {}

extension FetchReport {
  /// What it has come to, for people.
  var summary: String {
    let counts = "\(inserted) new, \(updated) changed, \(removed) removed"
    return "\(counts); \(requests) requests, \(bytes) bytes; badge \(badge)"
  }
}

extension FetchResult {
  /// What a process ends with.
  var exitCode: ExitCode {
    switch self {
    case .newData: ExitCode(0)
    case .noData: ExitCode(10)
    case .failed: ExitCode(20)
    }
  }
}
