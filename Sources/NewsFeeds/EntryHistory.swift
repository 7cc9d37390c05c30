internal import Foundation

/// The entries found in a feed so far. Without it, a repeated entry would undo the first one in every import.
///
/// The first one applies, because feeds list the newest entries first. Entries further back than `capacity` may be
/// evicted, because memory must not grow with the file.
struct EntryHistory {
  private static let capacity = 50_000

  private struct Occurrence {
    var position: FeedPosition
    var linkID: UUID?
  }

  private var recent: [UUID: Occurrence] = [:]
  private var older: [UUID: Occurrence] = [:]

  /// Replaces a repeated entry by a `skipped` event. Entries with one name and different links are different ones.
  mutating func withoutRepetition(_ events: [FeedEvent], at position: FeedPosition) -> [FeedEvent] {
    guard case .entry(var entry) = events.last else { return events }
    guard let first = occurrence(entry.id) else {
      note(entry.id, Occurrence(position: position, linkID: entry.linkID))
      return events
    }
    guard let linkID = entry.linkID, let other = first.linkID, linkID != other else {
      return [.skipped(Self.repetition(of: first, at: position))]
    }
    if let same = occurrence(linkID) { return [.skipped(Self.repetition(of: same, at: position))] }
    note(linkID, Occurrence(position: position))
    entry.sharesName = true
    return events.dropLast() + [.entry(entry)]
  }

  private func occurrence(_ id: UUID) -> Occurrence? { recent[id] ?? older[id] }

  private mutating func note(_ id: UUID, _ occurrence: Occurrence) {
    if recent.count == Self.capacity { (older, recent) = (recent, [:]) }
    recent[id] = occurrence
  }

  private static func repetition(of first: Occurrence, at position: FeedPosition) -> FeedProblem {
    FeedProblem(position: position, message: "has the same identifier as the entry at \(first.position)")
  }
}
