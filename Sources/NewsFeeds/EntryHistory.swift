internal import Foundation

/// The entries found in a feed so far. Without it, a repeated entry would undo the first one in every import.
///
/// The first one applies, because feeds list the newest entries first. Entries further back than `capacity` may be
/// evicted, because memory must not grow with the file. In JSON Lines, which systems append to, the last one applies.
struct EntryHistory {
  static let capacity = 50_000

  private struct Occurrence {
    var position: FeedPosition
    var linkID: UUID?
    var hasWeakMark = false
    var title: Int?
    var text = 0
    var date: Date?

    init(position: FeedPosition) { self.position = position }

    init(_ entry: FeedEntry, at position: FeedPosition) {
      self.position = position
      linkID = entry.linkID
      hasWeakMark = entry.hasWeakMark
      title = entry.title.map(Self.hash)
      text = Self.hash(entry.text)
      date = entry.isDateFirstSeen ? nil : entry.date
    }

    /// Hashes the bytes: hashing characters takes time quadratic in their combining marks.
    private static func hash(_ text: String) -> Int {
      var hasher = Hasher()
      Array(text.utf8).withUnsafeBytes { hasher.combine(bytes: $0) }
      return hasher.finalize()
    }

    /// Whether two entries with one name are different ones. Links and files decide, or else nothing may have stayed.
    func isOther(than first: Occurrence) -> Bool {
      guard let linkID, let other = first.linkID, linkID != other else { return false }
      guard hasWeakMark || first.hasWeakMark else { return true }
      return (title == nil || title != first.title) && text != first.text && (date == nil || date != first.date)
    }
  }

  private let skipsRepetitions: Bool
  private let capacity: Int

  private var recent: [UUID: Occurrence] = [:]
  private var older: [UUID: Occurrence] = [:]

  init(skipsRepetitions: Bool, capacity: Int) {
    self.skipsRepetitions = skipsRepetitions
    self.capacity = capacity
  }

  /// Replaces a repeated entry by a `skipped` event.
  mutating func withoutRepetition(_ events: [FeedEvent], at position: FeedPosition) -> [FeedEvent] {
    guard case .entry(var entry) = events.last else { return events }
    guard let first = occurrence(entry.id) else {
      note(entry.id, Occurrence(entry, at: position))
      return events
    }
    guard Occurrence(entry, at: position).isOther(than: first), let linkID = entry.linkID else {
      return skipsRepetitions ? [.skipped(Self.repetition(of: first, at: position))] : events
    }
    if skipsRepetitions, let same = occurrence(linkID) {
      return [.skipped(Self.repetition(of: same, at: position))]
    }
    note(linkID, Occurrence(position: position))
    entry.sharesName = true
    return events.dropLast() + [.entry(entry)]
  }

  private func occurrence(_ id: UUID) -> Occurrence? { recent[id] ?? older[id] }

  private mutating func note(_ id: UUID, _ occurrence: Occurrence) {
    if recent.count == capacity { (older, recent) = (recent, [:]) }
    recent[id] = occurrence
  }

  private static func repetition(of first: Occurrence, at position: FeedPosition) -> FeedProblem {
    FeedProblem(position: position, message: "has the same identifier as the entry at \(first.position)")
  }
}
