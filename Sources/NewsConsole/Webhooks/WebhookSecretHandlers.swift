import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the page that replaces the secret of a webhook.
struct WebhookSecretHandlers: ConsoleHandlers {
  let services: ConsoleServices

  @Sendable func rotationForm(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    rotation(of: try await services.store.webhook(try context.resourceID("webhook")), visit)
  }

  @Sendable func rotate(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.resourceID("webhook")
    let outcome = try await context.writeOnce(
      FormName(fields), at: ConsolePath.path(ConsolePath.webhookRotation, id: id)
    ) {
      try await services.editorial.rotateWebhook(id, context)
    }
    switch outcome {
    case .written(let webhook): return pages.secret(of: webhook, "webhook-rotated", visit)
    case .repeated: return rotation(of: try await services.store.webhook(id), visit, isRepeated: true)
    }
  }

  /// Returns the page that asks.
  ///
  /// - Parameter isRepeated: Whether the form has replaced the secret before.
  private func rotation(of webhook: Webhook, _ visit: ConsoleVisit, isRepeated: Bool = false) -> Response {
    var values = pages.values(of: webhook)
    values.set("action", pages.link(ConsolePath.path(ConsolePath.webhookRotation, id: webhook.id)))
    values.set("cancel", pages.link(ConsolePath.path(ConsolePath.webhook, id: webhook.id)))
    values.set("once", FormName().text)
    values.set("problem", isRepeated ? pages.texts.text("webhook-rotated-before") : nil)
    return pages.page(
      "webhooks-rotate", title: pages.texts.text("webhook-rotation-title"), status: isRepeated ? .conflict : .ok,
      for: visit, in: .webhooks, values)
  }
}

extension ConsolePages {
  /// Returns the page that shows the secret of a webhook.
  ///
  /// - Parameters:
  ///   - webhook: The webhook with its secret.
  ///   - textKey: The key of the sentence about what has happened.
  func secret(of webhook: Webhook, _ textKey: String, _ visit: ConsoleVisit) -> Response {
    var values = values(of: webhook)
    values.set("notice", texts.text(textKey))
    values.set("secret", webhook.secret)
    return page(
      "webhooks-secret", title: texts.text("webhook-secret-title"), for: visit, in: .webhooks, values)
  }
}
