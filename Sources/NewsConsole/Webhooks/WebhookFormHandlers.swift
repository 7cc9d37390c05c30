import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the form of a webhook. The secret of a new one is shown once, in the response to the form.
struct WebhookFormHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// The length of the title of a page, in Unicode scalars.
  private static let titleLength = 120

  @Sendable func newWebhook(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    try await page(WebhookForm(), nil, visit)
  }

  @Sendable func create(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let form = WebhookForm(fields)
    do {
      let outcome = try await context.writeOnce(form.name, at: ConsolePath.webhooks) {
        try await services.editorial.createWebhook(form.creation, context)
      }
      switch outcome {
      case .written(let webhook): return pages.secret(of: webhook, "webhook-created", visit)
      case .repeated(let answer): return try await existing(answer, visit)
      }
    } catch {
      return try await page(form, nil, visit, problem: try Problem(explaining: error))
    }
  }

  @Sendable func webhook(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let webhook = try await services.store.webhook(try context.resourceID("webhook"))
    return try await page(WebhookForm(webhook), webhook, visit)
  }

  @Sendable func save(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.resourceID("webhook")
    var form = WebhookForm(fields)
    do {
      guard form.revision != nil else { throw StoreError.preconditionFailed }
      _ = try await services.editorial.modifyWebhook(id, form.patch, context)
      return pages.redirect(to: ConsolePath.path(ConsolePath.webhook, id: id), notice: .webhookSaved)
    } catch {
      let problem = try Problem(explaining: error)
      let current = try await services.store.webhook(id)
      if problem.status == 412 { form.revision = current.revision }
      return try await page(form, current, visit, problem: problem)
    }
  }

  /// Returns the page after a form that has created its webhook before. The secret was shown then, and cannot be shown
  /// again.
  private func existing(_ answer: StoredAnswer, _ visit: ConsoleVisit) async throws -> Response {
    let created = try NewsJSON.decode(Webhook.self, from: answer.body)
    let webhook = try await services.store.webhook(created.id)
    var values = pages.values(of: webhook)
    values.set("problem", pages.texts.text("webhook-exists-text"))
    values.set("newWebhook", pages.link(ConsolePath.newWebhook))
    values.set("webhooksLink", pages.link(ConsolePath.webhooks))
    return pages.page(
      "webhooks-exists", title: pages.texts.text("webhook-exists-title"), status: .conflict, for: visit,
      in: .webhooks, values)
  }

  /// - Parameters:
  ///   - stored: The webhook as it is stored; nil for a new one.
  ///   - problem: The reason why the form was not saved. With 412, the page shows the stored webhook.
  private func page(
    _ form: WebhookForm, _ stored: Webhook?, _ visit: ConsoleVisit, problem: Problem? = nil
  ) async throws -> Response {
    let topics = try await services.store.consoleTopics(for: visit.access)
    var values = stored.map { pages.values(of: $0) } ?? PageValues()
    let path = stored.map { ConsolePath.path(ConsolePath.webhookForm, id: $0.id) } ?? ConsolePath.webhooks
    let back = stored.map { ConsolePath.path(ConsolePath.webhook, id: $0.id) } ?? ConsolePath.webhooks
    values.set("action", pages.link(path))
    values.set("cancel", pages.link(back))
    values.set("isStored", stored != nil)
    values.set("isConflict", problem?.status == 412)
    values.set("revision", form.revision)
    values.set("once", form.name.text)
    values.set("url", form.url)
    values.set("events", Webhook.Event.allCases.map { event($0, isSelected: form.events.contains($0.rawValue)) })
    pages.setTopics(topics, selected: form.topics, in: &values)
    values.set("lostTopics", form.hasLostTopics)
    values.set("isForAllItems", form.isForAllItems)
    if let problem { setErrors(problem, in: &values) }
    let title = stored.map { Excerpt.of($0.url, limit: Self.titleLength) }
    return pages.page(
      "webhooks-form", title: title ?? pages.texts.text("new-webhook"),
      status: problem.map { .init(code: $0.status) } ?? .ok, for: visit, in: .webhooks, values)
  }

  private func setErrors(_ problem: Problem, in values: inout PageValues) {
    guard problem.status == 422 else {
      let text = problem.status == 412 ? pages.texts.text("webhook-changed") : pages.message(of: problem)
      return values.set("problem", text)
    }
    let sentences = (problem.errors ?? []).map { error in
      // The rules of the API about these lists are for programs.
      switch (error.field, error.brokenRule) {
      case ("events", _): (error.field, pages.texts.text("rule-events"))
      case ("topics", .other): (error.field, pages.texts.text("rule-webhook-topics"))
      default: (error.field, pages.text(RuleText(error)))
      }
    }
    let errors = Dictionary(sentences) { first, _ in first }
    values.set("errors", errors)
    values.set("problem", pages.texts.text("error-422-text"))
    let labels = [("url", "field-webhook-url"), ("events", "field-events"), ("topics", "only-topics")]
    pages.setProblemFields(errors, of: labels.map { (id: $0, label: pages.texts.text($1)) }, in: &values)
  }

  private func event(_ event: Webhook.Event, isSelected: Bool) -> PageValues {
    var values = PageValues()
    values.set("eventName", event.rawValue)
    values.set("eventID", event.rawValue.replacing(".", with: "-"))
    values.set("eventTitle", pages.title(ofEvent: event.rawValue))
    values.set("isSelectedEvent", isSelected)
    return values
  }
}
