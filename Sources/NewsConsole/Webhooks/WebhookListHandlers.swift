import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the list of webhooks, and of the buttons that concern a whole webhook.
struct WebhookListHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// The number of webhooks on a page, which with long addresses and topics has less than 30 kB.
  private static let pageSize = 12

  @Sendable func list(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let page = try NumberedPage(request, size: Self.pageSize)
    let webhooks = try await services.store.webhooks()
    // The ones that need attention come first.
    let (rows, hasMore) = page.rows(of: webhooks.filter(\.needsAttention) + webhooks.filter { !$0.needsAttention })
    var values = PageValues()
    values.set("newWebhook", pages.link(ConsolePath.newWebhook))
    values.set("webhooks", rows.map { pages.values(of: $0, isListed: true) })
    values.set("isEmpty", webhooks.isEmpty)
    pages.setPager(page, hasMore: hasMore, path: ConsolePath.webhooks, in: &values)
    return pages.page("webhooks", title: pages.texts.text("section-webhooks"), for: visit, in: .webhooks, values)
  }

  @Sendable func pause(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.resourceID("webhook")
    let isPaused = fields.first("paused") == "true"
    // Nothing else changes, so that any revision is accepted.
    _ = try await services.editorial.modifyWebhook(
      id, ["paused": .bool(isPaused)], headers: [.ifMatch: "*"], context)
    return pages.redirect(
      to: ConsolePath.path(ConsolePath.webhook, id: id), notice: isPaused ? .webhookPaused : .webhookResumed)
  }

  @Sendable func test(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.resourceID("webhook")
    let path = ConsolePath.path(ConsolePath.webhookTest, id: id)
    _ = try await context.writeOnce(FormName(fields), at: path) {
      try await services.editorial.testWebhook(id, context)
    }
    return pages.redirect(to: ConsolePath.path(ConsolePath.webhook, id: id), notice: .webhookTested)
  }

  @Sendable func removalForm(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    removal(try await services.store.webhook(try context.resourceID("webhook")), visit)
  }

  @Sendable func remove(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.resourceID("webhook")
    do {
      guard let revision = fields.first("revision").flatMap({ Int($0) }) else { throw StoreError.preconditionFailed }
      try await services.editorial.removeWebhook(id, if: .revisions([revision]), context)
      return pages.redirect(to: ConsolePath.webhooks, notice: .webhookRemoved)
    } catch StoreError.preconditionFailed {
      return removal(try await services.store.webhook(id), visit, hasChanged: true)
    }
  }

  private func removal(_ webhook: Webhook, _ visit: ConsoleVisit, hasChanged: Bool = false) -> Response {
    var values = pages.values(of: webhook)
    values.set("action", pages.link(ConsolePath.path(ConsolePath.webhookRemoval, id: webhook.id)))
    values.set("cancel", pages.link(ConsolePath.path(ConsolePath.webhook, id: webhook.id)))
    values.set("revision", webhook.revision)
    values.set("problem", hasChanged ? pages.texts.text("webhook-removal-changed") : nil)
    return pages.page(
      "webhooks-remove", title: pages.texts.text("webhook-removal-title"),
      status: hasChanged ? .preconditionFailed : .ok, for: visit, in: .webhooks, values)
  }
}

extension Webhook {
  /// Whether requests fail, or the server has paused the webhook.
  fileprivate var needsAttention: Bool { disabledReason != nil || failingSince != nil && !paused }
}

extension ConsolePages {
  /// Returns the values of a webhook: its facts and its health.
  ///
  /// - Parameter isListed: Whether long texts are shortened, because the page has many webhooks.
  func values(of webhook: Webhook, isListed: Bool = false) -> PageValues {
    func text(_ text: String, _ limit: Int) -> String { isListed ? Excerpt.of(text, limit: limit) : text }
    var values = PageValues()
    func set(_ name: String, _ pattern: String) {
      values.set(name, link(ConsolePath.path(pattern, id: webhook.id)))
    }
    values.set("webhookURL", text(webhook.url, 96))
    set("webhookLink", ConsolePath.webhook)
    set("editLink", ConsolePath.webhookForm)
    set("rotateLink", ConsolePath.webhookRotation)
    set("pauseLink", ConsolePath.webhookPause)
    set("testLink", ConsolePath.webhookTest)
    set("removeLink", ConsolePath.webhookRemoval)
    values.set("isPaused", webhook.paused)
    let health =
      webhook.paused
      ? "paused" : webhook.failingSince != nil ? "failing" : webhook.lastSuccess != nil ? "working" : "unused"
    values.set("health", health)
    values.set("healthTitle", texts.text("webhook-\(health)"))
    values.set("disabledReason", webhook.disabledReason.map { texts.text("webhook-disabled-\($0.rawValue)") })
    values.set(
      "webhookEvents",
      webhook.events == Webhook.Event.allCases
        ? texts.text("all-events") : webhook.events.map { title(ofEvent: $0.rawValue) }.joined(separator: ", "))
    values.set(
      "webhookTopics",
      webhook.topics.map { $0.isEmpty ? texts.text("key-no-topics") : text($0.joined(separator: ", "), 120) })
    setTime("lastSuccess", webhook.lastSuccess, in: &values)
    setTime("failingSince", webhook.failingSince, in: &values)
    setTime("previousEnd", webhook.previousSecretUntil, in: &values)
    return values
  }

  /// Returns the title of an event such as `item.changed`; the name itself if this version does not know it.
  func title(ofEvent name: String) -> String { texts.texts["event-\(name.replacing(".", with: "-"))"] ?? name }
}
