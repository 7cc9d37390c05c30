import HTTPEdge
import News
import NewsFollower
import NewsStore

/// The fields of a subscription's form, as they were typed.
struct SubscriptionForm: Sendable, Equatable {
  /// The names of the fields that are one text.
  static let textFields = ["url", "title", "language", "user"]

  /// The texts by name of their field. An absent one is empty.
  private(set) var texts: [String: String] = [:]
  /// The password as it was typed. No page shows it again.
  private var password: String?
  var topics: [String] = []
  /// The state of new items, `draft` or `published`.
  var state = Subscription.State.published.rawValue
  /// The revision that the form was made from; nil for a new subscription.
  var revision: Int?
  /// The address that was requested before the form was sent, for a preview or in vain; nil without one.
  private(set) var previewed: String?

  /// Creates the form of a new subscription.
  init() {}

  /// Creates the form of a subscription.
  init(_ subscription: Subscription) {
    texts = [
      "url": subscription.url, "title": subscription.title, "language": subscription.language,
      "user": subscription.user,
    ].compactMapValues { $0 }
    topics = subscription.topics
    state = subscription.state.rawValue
    revision = subscription.revision
  }

  /// Creates the form that was sent.
  init(_ fields: FormFields) {
    for name in Self.textFields {
      if let text = fields.first(name), !text.isBlank { texts[name] = text }
    }
    password = fields.first("password").flatMap { $0.isEmpty ? nil : $0 }
    topics = TopicChoices.slugs(chosen: fields.all("topics"), typed: fields.all("otherTopics"))
    state = fields.first("state") ?? ""
    revision = fields.first("revision").flatMap { Int($0) }
    previewed = fields.first("previewed")
  }

  /// Returns the text of a field; empty without one.
  func text(_ name: String) -> String { texts[name] ?? "" }

  /// Returns the form after a preview, with the address of the feed that was found.
  ///
  /// - Parameter user: The user, whom the typed address may have named.
  func previewing(_ preview: FeedPreview, user: String?) -> SubscriptionForm {
    var form = self
    form.texts["url"] = preview.address
    form.texts["user"] = user
    form.previewed = preview.address
    return form
  }

  /// Returns the form after a preview that has failed.
  ///
  /// - Parameter address: The normalised address of the form.
  func previewing(inVain address: String) -> SubscriptionForm {
    var form = self
    form.previewed = address
    return form
  }

  /// The members of a JSON Merge Patch with all fields of the form. An empty field is null.
  var patch: [String: JSONValue] {
    var patch: [String: JSONValue] = [:]
    for name in Self.textFields { patch[name] = texts[name].map { .string($0) } ?? .null }
    // An empty address breaks its rule. It is not removed.
    patch["url"] = .string(text("url"))
    patch["topics"] = .array(topics.map { .string($0) })
    patch["state"] = .string(state)
    patch["password"] = password.map { .string($0) }
    if let revision { patch["revision"] = .integer(revision) }
    return patch
  }

  /// The members of a new subscription.
  var creation: [String: JSONValue] {
    var members = patch.filter { $0.value != .null }
    members["revision"] = nil
    if text("url").isEmpty { members["url"] = nil }
    return members
  }
}
