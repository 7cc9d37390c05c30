import HTTPEdge
import News

/// The fields of a webhook's form, as they were typed.
struct WebhookForm: Sendable, Equatable {
  /// The name of the form.
  let name: FormName
  var url = ""
  /// The types of the events.
  var events = Webhook.Event.allCases.map(\.rawValue)
  var topics: [String] = []
  /// The revision that the form was made from; nil for a new webhook.
  var revision: Int?
  /// Whether the webhook has lost all of its topics, so that it receives nothing.
  private(set) var hasLostTopics = false
  /// Whether a webhook that has lost its topics is to receive the events of all items.
  private(set) var isForAllItems = false

  /// Creates the form of a new webhook.
  init() {
    name = FormName()
  }

  /// Creates the form of a webhook.
  init(_ webhook: Webhook) {
    self.init()
    url = webhook.url
    events = webhook.events.map(\.rawValue)
    topics = webhook.topics ?? []
    hasLostTopics = webhook.topics == []
    revision = webhook.revision
  }

  /// Creates the form that was sent.
  init(_ fields: FormFields) {
    name = FormName(fields)
    url = fields.first("url") ?? ""
    events = fields.all("events")
    topics = TopicChoices.slugs(chosen: fields.all("topics"), typed: fields.all("otherTopics"))
    revision = fields.first("revision").flatMap { Int($0) }
    hasLostTopics = fields.contains("lostTopics")
    isForAllItems = fields.contains("allItems")
  }

  /// The members of a JSON Merge Patch with all fields of the form. Without topics, the webhook is for all items.
  var patch: [String: JSONValue] {
    var patch: [String: JSONValue] = [
      "url": .string(url), "events": .array(events.map { .string($0) }),
      "topics": topics.isEmpty ? .null : .array(topics.map { .string($0) }),
    ]
    // A webhook that has lost its topics stays without any, unless somebody decides otherwise.
    if hasLostTopics, topics.isEmpty, !isForAllItems { patch["topics"] = nil }
    if let revision { patch["revision"] = .integer(revision) }
    return patch
  }

  /// The members of a new webhook.
  var creation: [String: JSONValue] {
    var members = patch.filter { $0.value != .null }
    members["revision"] = nil
    if url.isBlank { members["url"] = nil }
    return members
  }
}
