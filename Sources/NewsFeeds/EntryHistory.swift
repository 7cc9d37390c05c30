internal import Foundation

/// The entries found in a feed so far. Without it, a repeated entry would undo the first one in every import.
///
/// The first one applies, because feeds list the newest entries first. Entries further back than `capacity` may be
/// evicted, because memory must not grow with the file.
struct EntryHistory {
  private static let capacity = 50_000

  private var recent: [UUID: FeedPosition] = [:]
  private var older: [UUID: FeedPosition] = [:]

  /// Replaces a repeated entry by a `skipped` event.
  mutating func withoutRepetition(_ events: [FeedEvent], at position: FeedPosition) -> [FeedEvent] {
    guard case .entry(let entry) = events.last else { return events }
    if let first = recent[entry.id] ?? older[entry.id] {
      return [.skipped(FeedProblem(position: position, message: "has the same identifier as the entry at \(first)"))]
    }
    if recent.count == Self.capacity { (older, recent) = (recent, [:]) }
    recent[entry.id] = position
    return events
  }
}
