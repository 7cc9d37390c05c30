import ArgumentParser
import BackgroundFetch
import Foundation
import News
import NewsClient

struct Open: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Records an opening of the app: learns the time, and clears the badge.",
    discussion: """
      The schedule fetches shortly before the times at which the news are usually opened. Scripts that show the news call it. \
      It marks no item as read, and shows none: see list, show, and open-in-browser.
      """)

  @ParentCommand var parent: TidingsFetch

  func run() async throws {
    try parent.client().recordOpening()
  }
}

struct Snapshot: JSONReportingCommand {
  static let configuration = CommandConfiguration(abstract: "Prints the stored top headlines.")

  @ParentCommand var parent: TidingsFetch

  @Flag(help: "Prints one line of JSON.")
  var json = false

  func run() async throws {
    let snapshot = try parent.client().snapshot
    if json { return try printJSON(snapshot) }
    for headline in snapshot.headlines {
      try Output.print("\(headline.breaking ? "!" : " ") \(headline.title.terminalSafe)")
    }
    let checked = snapshot.checked.map { "checked \(localTime($0))" } ?? "never checked"
    try Output.print("badge \(snapshot.badge), \(checked)")
  }
}

struct Badge: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the number of items since the news were last opened.")

  @ParentCommand var parent: TidingsFetch

  func run() async throws {
    try Output.print("\(try parent.client().badge)")
  }
}

struct Log: JSONReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the results and costs of the last fetches, or the openings of the app.")

  @ParentCommand var parent: TidingsFetch

  @Option(help: "The maximum number of fetches or openings; the store keeps 500 and 5000.")
  var limit = 20

  @Flag(help: "Prints the times at which the app was opened instead; simulate week --log reads them in JSON.")
  var openings = false

  @Flag(help: "Prints each fetch or opening as a line of JSON.")
  var json = false

  /// The printed form of an opening.
  private struct Opening: Encodable {
    var opened: Date
  }

  func run() async throws {
    if openings {
      for date in try parent.client().openings(limit: max(0, limit)) {
        if json { try printJSON(Opening(opened: date)) } else { try Output.print(localTime(date)) }
      }
      return
    }
    for run in try parent.client().runs(limit: max(0, limit)) {
      if json { try printJSON(run) } else { try Output.print(run.line) }
    }
  }
}

extension RunRecord {
  /// The record for people.
  var line: String {
    let status = status.map { "\($0)" } ?? "-"
    let cost =
      "\(counted(requests, "request")), \(bytes) bytes, \(whole(wallMilliseconds)) ms (\(whole(cpuMilliseconds)) ms CPU)"
    let next = nextWake.map { ", next \(localTime($0))" } ?? ""
    let program = programStatus.map { ", program \($0)" } ?? ""
    let amount = received.map(copyProgress) ?? counted(items, "item")
    let notice = notice.map { ", notifications: \($0.terminalSafe)" } ?? ""
    return
      "\(localTime(started))  \(reason.rawValue)  \(result.rawValue)  \(amount)  \(status)  \(cost)\(next)\(program)\(notice)"
  }

  /// Formats whole milliseconds. A damaged file may contain any number.
  private func whole(_ milliseconds: Double) -> String {
    Int(exactly: milliseconds.rounded(.towardZero)).map { String($0) } ?? "\(milliseconds)"
  }
}

extension String {
  /// The first line that is not empty.
  var firstLine: String { split(whereSeparator: \.isNewline).first.map(String.init) ?? "" }
}
