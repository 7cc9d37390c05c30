import ArgumentParser
import BackgroundFetch
import Foundation
import News
import NewsClient

/// The options that select stored items and print them.
struct ListOptions: ParsableArguments {
  @Option(
    help: "The slugs of topics, separated by commas, of which an item must have one.",
    transform: Setting.topics.usable)
  var topic: String?

  @Flag(help: "Only items that were not read.")
  var unread = false

  @Flag(help: "Only breaking items.")
  var breaking = false

  @Option(help: "Only items since a date such as 2026-11-26, or of the last time such as 12h or 2d.")
  var since: EarliestDate?

  @Option(help: "The maximum number of items.")
  var limit: Int?

  @Flag(help: "Prints only the number of items. --limit does not apply.")
  var count = false

  @Flag(help: "Prints each item as a line of JSON, as the server sent it, with the field unread.")
  var json = false

  func validate() throws {
    if json, count { throw ValidationError("--count and --json exclude each other") }
  }

  /// Prints the items, newest first.
  ///
  /// - Parameter words: The words to search for; nil for no search.
  func print(_ client: NewsFetcher, words: String? = nil) throws {
    var query = ItemQuery(words: words, limit: limit.map { max(0, $0) })
    query.topics = topic?.commaSeparated ?? []
    (query.onlyUnread, query.onlyBreaking, query.since) = (unread, breaking, since?.date)
    if count { return try Output.print("\(try client.count(matching: query))") }
    let items = try client.items(matching: query)
    if json {
      for item in items { try printJSON(ItemJSON(stored: item)) }
      return
    }
    let digits = try items.isEmpty ? 0 : client.distinctDigits
    let columns = Terminal.output?.columns
    for item in items { try Output.print(ItemLine(stored: item, digits: digits).text(columns: columns)) }
  }
}

/// The date of the oldest items: a date, a time, or an age.
struct EarliestDate: ExpressibleByArgument {
  let date: Date

  init?(argument: String) {
    if case .duration(let age) = FetchInterval(argument) {
      date = Date() - age.inSeconds
    } else if let time = RFC3339.date(from: argument) {
      date = time
    } else {
      let parts = argument.split(separator: "-", omittingEmptySubsequences: false)
      guard argument.wholeMatch(of: /\d{4}-\d{2}-\d{2}/) != nil else { return nil }
      let numbers = parts.compactMap { Int($0) }
      let components = DateComponents(year: numbers[0], month: numbers[1], day: numbers[2])
      guard components.isValidDate(in: .current), let day = Calendar.current.date(from: components) else { return nil }
      date = day
    }
  }
}

/// The printed form of an item in JSON.
struct ItemJSON: Encodable {
  let stored: StoredItem

  private enum Keys: String, CodingKey {
    case unread
  }

  func encode(to encoder: any Encoder) throws {
    try stored.item.encode(to: encoder)
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(!stored.isRead, forKey: .unread)
  }
}

/// The printed form of an item on a line: the end of its id, N for an unread item, ! for a breaking one, its date, its title
/// and its topics.
struct ItemLine {
  /// The number of columns below which a line has a short date and no topics.
  private static let minimumColumns = 60

  let stored: StoredItem
  /// The number of printed digits of the id.
  let digits: Int

  /// Returns the line.
  ///
  /// - Parameter columns: The columns of the terminal; nil for the whole line.
  func text(columns: Int?) -> String {
    let item = stored.item
    let date = localTime(item.date)
    let isNarrow = (columns ?? .max) < Self.minimumColumns
    let head = [
      item.id.digits.suffix(digits).description, (stored.isRead ? " " : "N") + (item.breaking ? "!" : " "),
      isNarrow ? String(date.dropFirst("2026-".count)) : date,
    ].joined(separator: " ")
    let topics = item.topics.isEmpty || isNarrow ? "" : "  (\(item.topics.joined(separator: ", ").terminalSafe))"
    guard let columns else { return head + "  " + item.headline + topics }
    let room = columns - head.columns - 2
    let shortTopics = topics.shortened(columns: max(0, min(topics.columns, room / 3)))
    return (head + "  " + item.headline.shortened(columns: max(0, room - shortTopics.columns)) + shortTopics)
      .prefix(columns: columns)
  }
}

extension UUID {
  /// The 32 digits of the id, without hyphens.
  var digits: String { uuidString.lowercased().filter { $0 != "-" } }
}

extension NewsItem {
  /// The title, or the first line of the text, safe for terminals.
  var headline: String { (title ?? text.firstLine).terminalSafe }
}
