import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the page of a webhook, which has the log of its deliveries.
struct WebhookLogHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// The number of deliveries on a page.
  private static let limit = 20
  /// The size of the deliveries on a page, in bytes of HTML.
  private static let maximumBytes = 18_000
  /// The length of the reason of a failure, in Unicode scalars.
  private static let reasonLength = 120
  private static let cursorField = "cursor"

  private static func cursor(of id: UUID) -> PageCursor { PageCursor(filters: ["console webhook", id.uuidString]) }

  @Sendable func webhook(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.resourceID("webhook")
    var parameters = QueryParameters(request.uri.query, known: [Self.cursorField, Notice.parameter])
    let notice = parameters.notice()
    let cursor = Self.cursor(of: id)
    let position = parameters.cursor(cursor)
    try parameters.check()
    let webhook = try await services.store.webhook(id)
    let page = try await services.store.webhookDeliveries(of: id, after: position, limit: Self.limit)
    let path = ConsolePath.path(ConsolePath.webhook, id: id)
    var values = pages.values(of: webhook)
    values.set("notice", notice.map { pages.texts.text($0.textKey) })
    values.set("once", FormName().text)
    values.set("webhooksLink", pages.link(ConsolePath.webhooks))
    let rows = rows(page.deliveries, of: webhook, visit)
    values.set("deliveries", rows)
    values.set("isEmpty", rows.isEmpty)
    values.set(Self.cursorField, position.map { cursor.text($0) })
    let isCut = rows.count < page.deliveries.count
    let next = isCut ? page.deliveries[rows.count - 1].position : page.next
    values.set("first", position == nil ? nil : pages.link(path))
    values.set("older", next.map { pages.link("\(path)?\(Self.cursorField)=\(cursor.text($0))") })
    values.set("hasPager", position != nil || next != nil)
    return pages.page("webhooks-log", title: pages.texts.text("webhook-title"), for: visit, in: .webhooks, values)
  }

  /// Sends an event again.
  @Sendable func replay(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.resourceID("webhook")
    guard let delivery = context.parameters.get("delivery").flatMap({ UUID(uuidString: $0) }) else {
      throw StoreError.notFound
    }
    _ = try await context.writeOnce(FormName(fields), at: ConsolePath.path(ofReplay: delivery, of: id)) {
      try await services.editorial.replayDelivery(delivery, of: id, context)
    }
    let path = ConsolePath.path(ConsolePath.webhook, id: id)
    let cursor = fields.first(Self.cursorField).flatMap { Self.cursor(of: id).keyset($0) }
    let query = cursor.map { "?\(Self.cursorField)=\(Self.cursor(of: id).text($0))" } ?? ""
    return pages.redirect(to: path + query, notice: .webhookReplayed)
  }

  /// Returns the first deliveries of a page of the store, as many as fit into a page, and at least one.
  private func rows(_ deliveries: [WebhookDelivery], of webhook: Webhook, _ visit: ConsoleVisit) -> [PageValues] {
    var rows: [PageValues] = []
    var size = 0
    for delivery in deliveries {
      let reasons = delivery.attempts.map { Excerpt.of(detail(of: $0) ?? "", limit: Self.reasonLength) }
      // The markup has about 900 bytes for each delivery and 380 for each attempt.
      size += reasons.reduce(900) { $0 + 380 + $1.utf8.count }
      if size > Self.maximumBytes, !rows.isEmpty { break }
      rows.append(row(delivery, reasons, of: webhook, visit))
    }
    return rows
  }

  private func row(
    _ delivery: WebhookDelivery, _ reasons: [String], of webhook: Webhook, _ visit: ConsoleVisit
  ) -> PageValues {
    var values = PageValues()
    values.set("deliveryID", delivery.id.uuidString.lowercased())
    values.set("deliveryEvent", pages.title(ofEvent: delivery.event))
    values.set("deliveryState", delivery.state.rawValue)
    values.set("deliveryStateTitle", pages.texts.text("delivery-\(delivery.state.rawValue)"))
    if let item = delivery.item, visit.mayWrite {
      values.set("deliveryItem", pages.link(ConsolePath.path(ConsolePath.item, id: item)))
    }
    values.set("deliveryVersion", delivery.version)
    pages.setTime("delivery", delivery.created, in: &values)
    if !webhook.paused {
      pages.setTime("nextAttempt", delivery.nextAttempt, in: &values)
      values.set("replay", pages.link(ConsolePath.path(ofReplay: delivery.id, of: webhook.id)))
      values.set("replayName", FormName().text)
    }
    values.set("attemptCount", delivery.attempts.last?.number)
    values.set("attempts", zip(delivery.attempts, reasons).reversed().map(attempt))
    return values
  }

  private func attempt(_ attempt: WebhookAttempt, _ reason: String) -> PageValues {
    var values = PageValues()
    values.set("attemptNumber", attempt.number)
    pages.setTime("attempt", attempt.at, in: &values)
    values.set("attemptStatus", attempt.status)
    values.set("attemptDuration", NumberText(pages.texts).milliseconds(.milliseconds(attempt.milliseconds)))
    if attempt.error != nil { values.set("attemptFailure", failureText(status: attempt.status)) }
    values.set("attemptReason", reason)
    return values
  }

  /// Returns the sentence about an attempt that has failed.
  ///
  /// - Parameter status: The status of the response; nil if there was none.
  private func failureText(status: Int?) -> String {
    switch status {
    case nil: pages.texts.text("attempt-failed")
    case 410?: pages.texts.text("attempt-failed-gone")
    case let status?:
      pages.texts.text(
        (300..<400).contains(status) ? "attempt-failed-redirect" : "attempt-failed-status", ["status": "\(status)"])
    }
  }

  /// Returns the exact reason of a failure; nil if the status says it all. It is in English, with the words of other programs.
  private func detail(of attempt: WebhookAttempt) -> String? { attempt.status == nil ? attempt.error : nil }
}

extension WebhookDelivery {
  /// The position after which the next page of the log begins.
  fileprivate var position: Keyset { Keyset(date: created, id: id) }
}
