import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsFollower
import NewsPages
import NewsStore
import OutgoingHTTP

/// The handlers of the form of a subscription. A new one is previewed before it is stored. If its feed cannot be read at
/// present, it can be followed all the same.
struct SubscriptionFormHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// The value of the button that stores a new subscription.
  private static let subscribe = "subscribe"

  @Sendable func newSubscription(
    _ request: Request, _ visit: ConsoleVisit, context: APIContext
  ) async throws -> Response {
    try await page(SubscriptionPage(form: SubscriptionForm()), visit)
  }

  /// Shows what a subscription would store, or creates it.
  @Sendable func create(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let form = SubscriptionForm(fields)
    var page = SubscriptionPage(form: form)
    do {
      let content = try EditorialAPI.subscriptionContent(form.creation)
      if let previewer = services.feedPreviewer {
        let isKnown = fields.first("action") == Self.subscribe && form.previewed == content.url
        guard isKnown else { return try await preview(content, form, previewer, visit) }
      }
      _ = try await services.editorial.createSubscription(form.creation, context)
      return pages.redirect(to: ConsolePath.subscriptions, notice: .subscribed)
    } catch {
      try page.setError(error)
      return try await self.page(page, visit)
    }
  }

  @Sendable func subscription(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let subscription = try await services.store.subscription(try context.resourceID("subscription"))
    return try await page(SubscriptionPage(form: SubscriptionForm(subscription), stored: subscription), visit)
  }

  @Sendable func save(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.resourceID("subscription")
    var page = SubscriptionPage(form: SubscriptionForm(fields))
    do {
      guard page.form.revision != nil else { throw StoreError.preconditionFailed }
      _ = try await services.editorial.modifySubscription(id, page.form.patch, context)
      return pages.redirect(to: ConsolePath.subscriptions, notice: .subscriptionSaved)
    } catch {
      try page.setError(error)
      let current = try await services.store.subscription(id)
      page.stored = current
      if page.isConflict { page.form.revision = current.revision }
      return try await self.page(page, visit)
    }
  }

  /// Returns the form with the entries that the subscription would store. Nothing is stored.
  private func preview(
    _ content: SubscriptionContent, _ form: SubscriptionForm, _ previewer: FeedPreviewer, _ visit: ConsoleVisit
  ) async throws -> Response {
    var page = SubscriptionPage(form: form)
    let assignment = ImportBatch.Assignment(
      topics: content.topics, language: content.language, state: content.state == .draft ? .draft : .published)
    do {
      let url = try OutgoingURL(content.url)
      let credentials = content.user.map {
        FeedCredentials(origin: url.origin, user: $0, password: content.password ?? "")
      }
      let preview = try await previewer.preview(of: url, credentials: credentials, assignment: assignment, at: Date())
      page.form = form.previewing(preview, user: content.user)
      page.preview = preview
      page.follower = try await services.store.subscription(withURL: preview.address)
    } catch let failure as FeedPreviewFailure {
      page.form = form.previewing(inVain: content.url)
      page.previewFailure = failure
      page.follower = try await services.store.subscription(withURL: content.url)
    }
    return try await self.page(page, visit)
  }

  private func page(_ page: SubscriptionPage, _ visit: ConsoleVisit) async throws -> Response {
    let topics = try await services.store.consoleTopics(for: visit.access)
    var page = page
    if let stored = page.stored { page.failures = try await services.store.failedPolls(of: stored.id) }
    return page.response(pages, visit, topics, hasPreviews: services.feedPreviewer != nil)
  }
}
