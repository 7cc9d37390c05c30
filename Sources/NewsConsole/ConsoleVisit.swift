import HTTPTypes
import NewsAPI
import NewsStore

/// A request of someone who has signed in.
struct ConsoleVisit: Sendable {
  let session: ConsoleSession
  /// The token that each form of the session sends back.
  let formToken: FormToken
  /// Whether pages may be sent with gzip.
  var acceptsGzip = false

  var key: APIKey { session.key }
  var access: ItemAccess { key.access }
  var mayWrite: Bool { key.allows(.itemsWrite) }
  var mayPublish: Bool { key.allows(.itemsPublish) }
  var mayUpload: Bool { key.allows(.mediaWrite) }
  var isAdministrator: Bool { key.allows(.admin) }
  /// Whether the key may create, change and delete topics.
  var mayChangeTopics: Bool { mayPublish && key.topics == nil }

  /// Whether the key has one of some permissions; true for an empty list.
  func allows(oneOf permissions: [APIKey.Permission]) -> Bool {
    permissions.isEmpty || permissions.contains { key.allows($0) }
  }

  /// - Throws: `ProblemError`, 403, if the key has none of the permissions.
  func require(oneOf permissions: [APIKey.Permission]) throws {
    guard allows(oneOf: permissions) else { throw ProblemError.forbidden(permissions[0]) }
  }

  /// - Throws: `ProblemError`, 403, if the key may not change topics.
  func requireTopicRights() throws {
    guard mayChangeTopics else { throw ProblemError.topicRights }
  }
}

extension ProblemError {
  static let topicRights = ProblemError(
    .forbidden, "topic-rights", "The key may not change topics",
    detail: "A key with the scope items:publish is required that is not restricted to topics.")
}
