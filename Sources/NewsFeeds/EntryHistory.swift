internal import Foundation

/// Which entries a feed has had, so that one that is there twice does not undo itself in every import.
///
/// The first counts, because feeds have the newest first. What is further away than `capacity` is forgotten: memory
/// must not grow with the file.
struct EntryHistory {
  private static let capacity = 50_000

  private var recent: [UUID: FeedPosition] = [:]
  private var older: [UUID: FeedPosition] = [:]

  /// Replaces an entry that there has been by a report.
  mutating func withoutRepetition(_ events: [FeedEvent], at position: FeedPosition) -> [FeedEvent] {
    guard case .entry(let entry) = events.last else { return events }
    if let first = recent[entry.id] ?? older[entry.id] {
      return [.skipped(FeedProblem(position: position, message: "has the same name as the entry of \(first)"))]
    }
    if recent.count == Self.capacity { (older, recent) = (recent, [:]) }
    recent[entry.id] = position
    return events
  }
}
