import BackgroundFetch
import Foundation
import News

/// The pushes that a store has received. It is written together with the schedule.
struct PushHistory: Codable, Equatable {
  /// A report that the server has asked for and not received.
  struct Report: Codable, Equatable {
    var push: UUID
    /// The result of the fetch; nil while the push waits for one.
    var result: FetchResult?
  }

  /// The maximum number of ids. A push service repeats a push within minutes, if at all.
  private static let maximumIDs = 100

  /// The ids of the last pushes, oldest first.
  private(set) var ids: [UUID] = []
  /// The token that a pending push has announced.
  var pending: SyncToken?
  /// The report for the last push that has asked for one.
  var report: Report?

  /// Adds a push.
  ///
  /// - Returns: Whether it is new. A push without an id is always new.
  mutating func add(_ id: UUID?) -> Bool {
    guard let id else { return true }
    if ids.contains(id) { return false }
    ids = ids.suffix(Self.maximumIDs - 1) + [id]
    return true
  }

  /// Records that a push waits for a later fetch.
  mutating func owe(_ token: SyncToken?) {
    guard let token else { return }
    if let pending, pending.epoch == token.epoch, pending.version >= token.version { return }
    pending = token
  }

  /// Records the end of a fetch.
  ///
  /// - Parameter token: The token of the stored items.
  /// - Returns: Whether the token of the pending push is still missing. One of another epoch has no meaning any more.
  mutating func fetched(_ token: SyncToken?, _ result: FetchResult) -> Bool {
    if report?.result == nil { report?.result = result }
    guard result != .failed, let pending else { return false }
    if let token, token.epoch == pending.epoch, token.version < pending.version { return true }
    self.pending = nil
    return false
  }
}
