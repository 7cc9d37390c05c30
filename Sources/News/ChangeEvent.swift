public import Foundation

/// The data of an event of `GET /v1/events`: notice that a scope has changed. The changes themselves come from `GET
/// /v1/changes`.
///
///     let json = #"{"ids":[],"token":"1k3x9qam9pkx.10","topics":["harbour"]}"#
///     let event = try NewsJSON.decode(ChangeEvent.self, from: Data(json.utf8))
///     print(event.topics)  // ["harbour"]
public struct ChangeEvent: Sendable, Equatable, Codable {
  /// The current token of the scope.
  public var token: SyncToken
  /// The items changed since the previous event, including those that left the scope. The newest change comes first,
  /// and at most ``maximumIDs`` are listed. Empty if the server no longer remembers all of these changes.
  public var ids: [UUID]
  /// The topics with changes, sorted.
  public var topics: [String]

  /// The maximum number of ids in an event.
  public static let maximumIDs = 20

  /// Creates an event for the changes up to a token.
  public init(token: SyncToken, ids: [UUID], topics: [String]) {
    self.token = token
    self.ids = ids
    self.topics = topics
  }
}
