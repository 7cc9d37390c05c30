internal import News

/// Turns the raw entries of a document into events, each entry once.
///
/// A date such as `8/9/2026` is decided by the other dates of the document. The first entries wait until one of them proves
/// the order of day and month, or until the end or a limit.
struct EntryQueue {
  private enum Waiting {
    case entry(RawEntry, [WrittenDate])
    case event(FeedEvent)
  }

  private static let maximumCount = 1000
  private static let maximumBytes = 4 * 1024 * 1024

  private var builder: EntryBuilder
  private var history: EntryHistory
  private var waiting: [Waiting] = []
  private var bytes = 0

  /// - Parameters:
  ///   - skipsRepetitions: Whether an entry with the identifier of an earlier one is skipped. Otherwise the last one applies.
  ///   - rememberedEntries: The minimum number of last entries among which repetitions are found.
  init(missingDate: MissingDate, skipsRepetitions: Bool, rememberedEntries: Int = EntryHistory.capacity) {
    builder = EntryBuilder(missingDate: missingDate)
    history = EntryHistory(skipsRepetitions: skipsRepetitions, capacity: rememberedEntries)
  }

  /// Adds an entry.
  ///
  /// - Returns: The events that are complete, in the order of the document.
  mutating func add(_ raw: RawEntry) -> [FeedEvent] {
    let dates = raw.writtenDates
    builder.learn(from: dates)
    if waiting.isEmpty, raw.exclusion != nil || !builder.isUndecided(dates) { return events(for: raw, dates) }
    waiting.append(.entry(raw, dates))
    bytes += raw.size
    let isDecided = !builder.orders.isEmpty
    return isDecided || waiting.count >= Self.maximumCount || bytes > Self.maximumBytes ? finish() : []
  }

  /// Adds an event that is not an entry.
  mutating func add(_ event: FeedEvent) -> [FeedEvent] {
    if waiting.isEmpty { return [event] }
    waiting.append(.event(event))
    return []
  }

  /// Notes a date of the document that is not that of an entry.
  mutating func learn(from date: String) { builder.learn(from: [WrittenDate(date, language: nil)]) }

  /// Returns the events of the entries that wait.
  mutating func finish() -> [FeedEvent] {
    let all = waiting
    (waiting, bytes) = ([], 0)
    return all.flatMap { waiting in
      switch waiting {
      case .entry(let raw, let dates): events(for: raw, dates)
      case .event(let event): [event]
      }
    }
  }

  private mutating func events(for raw: RawEntry, _ dates: [WrittenDate]) -> [FeedEvent] {
    history.withoutRepetition(builder.events(for: raw, dates), at: raw.position)
  }
}

extension RawEntry {
  /// The approximate number of bytes in memory.
  fileprivate var size: Int {
    let texts = [title?.value, summary?.value, content?.value, text, link, guid]
    return 1024 + texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
      + (categories + authors).reduce(0) { $0 + $1.utf8.count } + attachments.reduce(0) { $0 + $1.url.utf8.count }
  }
}
