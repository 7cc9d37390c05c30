public import Foundation

/// What an event of `GET /v1/events` says: that a scope has changed. What has become of it is for `/v1/changes` to tell.
public struct ChangeEvent: Sendable, Equatable, Codable {
  /// The current token of the scope.
  public var token: SyncToken
  /// Items that were changed since the event before, newest change first: the last 20, or none where there were too many
  /// to remember. An item that has left the scope is one of them.
  public var ids: [UUID]
  /// Topics in which something was changed, sorted.
  public var topics: [String]

  /// At most so many ids are named.
  public static let mostIDs = 20

  /// An event about changes up to a token.
  public init(token: SyncToken, ids: [UUID], topics: [String]) {
    self.token = token
    self.ids = ids
    self.topics = topics
  }

  /// Writes ids in lower case.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(token, forKey: .token)
    try container.encode(ids.map { $0.uuidString.lowercased() }, forKey: .ids)
    try container.encode(topics, forKey: .topics)
  }
}
