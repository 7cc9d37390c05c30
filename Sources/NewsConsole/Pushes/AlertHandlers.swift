import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the page that alerts readers to an item, which is possible once. Before, the page shows the number of
/// devices and the texts of the alert.
struct AlertHandlers: ConsoleHandlers {
  let services: ConsoleServices

  @Sendable func form(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    var parameters = QueryParameters(request.uri.query, known: [Notice.parameter])
    let notice = parameters.notice()
    try parameters.check()
    let item = try await item(visit, context)
    if let alert = try await services.store.alert(of: item.item.id), !alert.isUnused {
      return page(of: item, visit, alert: alert, notice)
    }
    if item.state == .retracted || item.state == .expired {
      throw StoreError.retracted(
        reason: item.state == .retracted ? .retracted : .expired, detail: item.retractionReason)
    }
    var values = PageValues()
    guard let content = try await services.store.alertContent(of: item.item.id) else { throw StoreError.notFound }
    values.set("alertTitle", content.title.isEmpty ? pages.texts.text("untitled") : content.title)
    values.set("alertText", content.body)
    values.set("isBreaking", content.breaking)
    set(try await services.store.alertAudience(of: item.item.id, access: visit.access), of: item, in: &values)
    return page(of: item, visit, notice, values)
  }

  /// Requests the alert. A repetition has no effect.
  @Sendable func request(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let item = try await item(visit, context)
    let request = try await services.editorial.requestAlert(item.item.id, context)
    return pages.redirect(
      to: ConsolePath.path(ConsolePath.alert, id: item.item.id),
      notice: request.isNew ? .alertRequested : .alertRequestedBefore)
  }

  /// Returns the item. A key that may not read drafts alerts to what readers see.
  ///
  /// - Throws: `StoreError.notFound`.
  private func item(_ visit: ConsoleVisit, _ context: APIContext) async throws -> EditorialItem {
    let item = try await services.store.editorialItem(try context.itemID(), for: visit.access)
    guard visit.mayWrite || item.state == .published else { throw StoreError.notFound }
    return item
  }

  private func set(_ audience: PushAudience, of item: EditorialItem, in values: inout PageValues) {
    let numbers = NumberText(pages.texts)
    values.set("isAsking", true)
    values.set("isPublished", item.state == .published)
    values.set("devices", numbers.whole(audience.devices))
    values.set("hasNoDevices", audience.devices == 0)
    values.set("quietDevices", audience.quiet > 0 ? numbers.whole(audience.quiet) : nil)
    values.set("hasNoServices", services.pushServices.isEmpty)
    values.set(
      "services",
      PushProvider.allCases.compactMap { provider -> PageValues? in
        guard let count = audience.providers[provider] else { return nil }
        var values = PageValues()
        values.set("serviceName", pages.name(of: provider))
        values.set("serviceDevices", numbers.whole(count))
        return values
      })
  }

  /// - Parameter alert: The request that was made before; nil for none.
  private func page(
    of item: EditorialItem, _ visit: ConsoleVisit, alert: AlertRequest? = nil, _ notice: Notice?,
    _ values: PageValues = PageValues()
  ) -> Response {
    var values = values
    let id = item.item.id
    values.set("notice", notice.map { pages.texts.text($0.textKey) })
    values.set("itemTitle", pages.headline(of: item))
    values.set("itemLanguage", item.item.language)
    if let alert { pages.set(alert, of: item, in: &values) }
    values.set("action", pages.link(ConsolePath.path(ConsolePath.alert, id: id)))
    values.set("cancel", pages.link(visit.mayWrite ? ConsolePath.path(ConsolePath.item, id: id) : ConsolePath.pushes))
    return pages.page("alert", title: pages.texts.text("alert-readers"), for: visit, in: .items, values)
  }
}

extension ConsolePages {
  /// Sets the state of an item's alert. The alert of a published item is waiting only until it is sent, in a moment.
  func set(_ alert: AlertRequest, of item: EditorialItem, in values: inout PageValues) {
    let isSending = alert.state == .waiting && item.state == .published
    values.set("alertState", texts.text(isSending ? "alert-sending" : "alert-\(alert.state.rawValue)"))
    values.set("alertPush", alert.push.map { link(ConsolePath.path(ConsolePath.push, id: $0)) })
  }
}
