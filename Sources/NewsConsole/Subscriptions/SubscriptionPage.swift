import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsFollower
import NewsPages
import NewsStore

/// The page with the form of a subscription, and with the preview of a new one.
struct SubscriptionPage: Sendable {
  /// The maximum lengths of a title and of a text in a preview, in Unicode scalars.
  private static let titleLength = 160
  private static let textLength = 400

  var form: SubscriptionForm
  /// The subscription as it is stored; nil for a new one.
  var stored: Subscription?
  /// The number of polls of the stored subscription that have failed since the last success.
  var failures = 0
  /// The entries that the subscription would store.
  var preview: FeedPreview?
  /// The reason why there is no preview.
  var previewFailure: FeedPreviewFailure?
  /// The subscription that has the address of the form already.
  var follower: Subscription?
  private var problem: Problem?

  init(form: SubscriptionForm, stored: Subscription? = nil) {
    (self.form, self.stored) = (form, stored)
  }

  /// Whether the subscription has changed since the form was made.
  var isConflict: Bool { problem?.status == 412 }

  /// Notes the error of a write that the page explains.
  ///
  /// - Throws: Any other error.
  mutating func setError(_ error: any Error) throws {
    problem = try Problem(explaining: error)
  }

  private var status: HTTPResponse.Status {
    if previewFailure != nil { return .unprocessableContent }
    return problem.map { .init(code: $0.status) } ?? .ok
  }

  /// Renders the page.
  ///
  /// - Parameters:
  ///   - topics: All topics.
  ///   - hasPreviews: Whether a new subscription is previewed before it is stored.
  func response(_ pages: ConsolePages, _ visit: ConsoleVisit, _ topics: [PageTopic], hasPreviews: Bool) -> Response {
    var values = stored.map { pages.values(of: $0, failures: failures) } ?? PageValues()
    let path = stored.map { ConsolePath.path(ConsolePath.subscription, id: $0.id) } ?? ConsolePath.subscriptions
    values.set("action", pages.link(path))
    values.set("cancel", pages.link(ConsolePath.subscriptions))
    values.set("isStored", stored != nil)
    values.set("isConflict", isConflict)
    values.set("revision", form.revision)
    values.set("previewed", form.previewed)
    values.set("field", Dictionary(uniqueKeysWithValues: SubscriptionForm.textFields.map { ($0, form.text($0)) }))
    values.set("isDraft", form.state == Subscription.State.draft.rawValue)
    pages.setTopics(topics, selected: form.topics, in: &values)
    setErrors(in: &values, pages)
    if stored == nil {
      values.set("mayPreview", hasPreviews)
      values.set("maySubscribe", !hasPreviews || preview != nil && follower == nil)
      values.set("maySubscribeAnyway", previewFailure != nil && follower == nil)
    }
    if let preview { setPreview(preview, in: &values, pages) }
    let title = stored.map { Excerpt.of($0.title ?? $0.url, limit: Self.titleLength) }
    return pages.page(
      "subscriptions-form", title: title ?? pages.texts.text("new-subscription"), status: status, for: visit,
      in: .subscriptions, values)
  }

  private func setErrors(in values: inout PageValues, _ pages: ConsolePages) {
    var errors: [String: String] = [:]
    for error in problem?.errors ?? [] { errors[error.field] = pages.text(RuleText(error)) }
    if let previewFailure, follower == nil {
      errors["url"] = pages.previewFailureText(status: previewFailure.status)
      values.set("previewFailureDetail", pages.failureDetail(previewFailure.reason, status: previewFailure.status))
    }
    if problem?.status == 409 || follower != nil { errors["url"] = pages.texts.text("already-followed") }
    values.set("errors", errors)
    if isConflict {
      values.set("problem", pages.texts.text("subscription-changed"))
    } else if problem?.status == 422 {
      values.set("problem", pages.texts.text("error-422-text"))
      let labels = [
        ("url", "feed-url"), ("state", "new-item-state"), ("topics", "topics"), ("language", "language"),
        ("title", "feed-title"), ("user", "feed-user"), ("password", "feed-password"),
      ]
      let fields = labels.map { (id: $0, label: pages.fieldLabel($1)) }
      pages.setProblemFields(errors, of: fields, in: &values)
    }
  }

  private func setPreview(_ preview: FeedPreview, in values: inout PageValues, _ pages: ConsolePages) {
    values.set("isPreview", true)
    values.set("feedTitle", preview.title ?? preview.address)
    values.set("feedAddress", preview.address)
    values.set("feedLanguage", preview.language)
    values.set("feedCount", preview.count)
    values.set("hasEntries", preview.count > 0)
    values.set("entries", preview.items.map { entry($0, pages) })
  }

  private func entry(_ item: ItemContent, _ pages: ConsolePages) -> PageValues {
    var values = PageValues()
    let (headline, rest) = Excerpt.headline(of: item.text, limit: Self.titleLength)
    values.set("entryTitle", item.title.map { Excerpt.of($0, limit: Self.titleLength) } ?? headline)
    values.set("entryText", Excerpt.of(item.title == nil ? rest : item.summary ?? item.text, limit: Self.textLength))
    values.set("entryState", item.state.rawValue)
    values.set("entryStateTitle", pages.texts.text("state-\(item.state.rawValue)"))
    values.set("entryLanguage", item.language)
    values.set("entryTopics", item.topics.joined(separator: ", "))
    values.set("entryFiles", item.attachments.isEmpty ? nil : item.attachments.count)
    pages.setTime("entry", item.date, in: &values)
    return values
  }
}
