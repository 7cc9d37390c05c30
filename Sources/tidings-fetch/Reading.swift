import ArgumentParser
import BackgroundFetch
import Foundation
import News
import NewsClient

struct List: AsyncParsableCommand, JSONReporting {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Prints the stored items, newest first.")

  @ParentCommand var parent: TidingsFetch

  @Option(help: "The maximum number of items.")
  var limit: Int?

  @Flag(help: "Prints each item as a line of JSON, as the server sent it.")
  var json = false

  func run() async throws {
    for item in try parent.client().items(limit: limit.map { max(0, $0) }) {
      if json { try printJSON(item) } else { try Output.print(line(item)) }
    }
  }

  private func line(_ item: NewsItem) -> String {
    "\(localTime(item.date))  \((item.title ?? item.text.firstLine).terminalSafe)"
  }
}

struct Open: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Records that the user reads the news: learns the time, and clears the badge.")

  @ParentCommand var parent: TidingsFetch

  func run() async throws {
    try parent.client().recordOpening()
  }
}

struct Snapshot: AsyncParsableCommand, JSONReporting {
  static let configuration = CommandConfiguration(
    commandName: "snapshot", abstract: "Prints the stored top headlines.")

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
    commandName: "badge", abstract: "Prints the number of items since the news were last opened.")

  @ParentCommand var parent: TidingsFetch

  func run() async throws {
    try Output.print("\(try parent.client().badge)")
  }
}

struct Log: AsyncParsableCommand, JSONReporting {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "Prints the results and costs of the last fetches.")

  @ParentCommand var parent: TidingsFetch

  @Option(help: "The maximum number of fetches; the store keeps 500.")
  var limit = 20

  @Flag(help: "Prints each fetch as a line of JSON.")
  var json = false

  func run() async throws {
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
    let notice = notice.map { ", notifications: \($0.terminalSafe)" } ?? ""
    return
      "\(localTime(started))  \(reason.rawValue)  \(result.rawValue)  \(counted(items, "item"))  \(status)  \(cost)\(next)\(program)\(notice)"
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
