import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the pages that end an item for good: retraction, and erasure of its texts and files. Each asks on a page
/// of its own.
struct ItemEndHandlers: ConsoleHandlers {
  let services: ConsoleServices

  @Sendable func retractionForm(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response
  {
    let item = try await services.store.editorialItem(try context.itemID(), for: visit.access)
    return form(.retraction, item, visit)
  }

  @Sendable func retract(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.itemID()
    return try await asking(.retraction, id, fields, visit) { reason, precondition in
      do {
        try await services.editorial.retract(id, reason: reason, if: precondition, context)
      } catch StoreError.retracted {
        // The form was sent twice, or someone else was faster. The page of the item shows the reason.
      }
      return pages.redirect(to: ConsolePath.path(ConsolePath.item, id: id), notice: .retracted)
    }
  }

  @Sendable func erasureForm(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let item = try await services.store.editorialItem(try context.itemID(), for: visit.access)
    return form(.erasure, item, visit)
  }

  /// Erases an item. An item that is not retracted is retracted first.
  @Sendable func erase(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.itemID()
    let item = try await services.store.editorialItem(id, for: visit.access)
    // The form was sent twice.
    if item.erased != nil { return pages.redirect(to: ConsolePath.items, notice: .erased) }
    return try await asking(.erasure, id, fields, visit) { reason, precondition in
      if item.state == .retracted {
        try await services.editorial.erase(id, reason: reason, if: precondition, context)
      } else {
        try await services.editorial.retract(id, reason: reason, if: precondition, context)
        try await services.editorial.erase(id, reason: reason, if: .none, context)
      }
      return pages.redirect(to: ConsolePath.items, notice: .erased)
    }
  }

  private enum End: String {
    case retraction, erasure
  }

  /// Runs a write with the reason and the revision of a form. An invalid reason, and an item that has changed, show the form
  /// again.
  private func asking(
    _ end: End, _ id: UUID, _ fields: FormFields, _ visit: ConsoleVisit,
    _ write: (String?, WritePrecondition) async throws -> Response
  ) async throws -> Response {
    let typed = fields.text("reason") ?? ""
    do {
      guard let revision = fields.first("revision").flatMap({ Int($0) }) else { throw ProblemError.preconditionFailed }
      return try await write(try EditorialAPI.reason(typed), .revisions([revision]))
    } catch {
      let problem = try Problem(explaining: error, [412, 422])
      let item = try await services.store.editorialItem(id, for: visit.access)
      return form(end, item, visit, reason: typed, problem)
    }
  }

  private func form(
    _ end: End, _ item: EditorialItem, _ visit: ConsoleVisit, reason: String = "", _ problem: Problem? = nil
  ) -> Response {
    let id = item.item.id
    var values = PageValues()
    let path = end == .retraction ? ConsolePath.retraction : ConsolePath.erasure
    values.set("action", pages.link(ConsolePath.path(path, id: id)))
    values.set("cancel", pages.link(ConsolePath.path(ConsolePath.item, id: id)))
    values.set("itemTitle", pages.headline(of: item))
    values.set("itemLanguage", item.item.language)
    values.set("revision", item.revision)
    values.set("explanation", pages.texts.text("\(end.rawValue)-text"))
    values.set("button", pages.texts.text("\(end.rawValue)-button"))
    values.set("reason", reason)
    values.set("problem", problem.map { pages.message(of: $0) })
    let errors = problem?.errors ?? []
    values.set("problemFields", errors.map { pages.problemField($0, id: $0.field) })
    values.set("hasProblemFields", !errors.isEmpty)
    values.set("reasonError", errors.first.map { pages.text(RuleText($0)) })
    return pages.page(
      "end", title: pages.texts.text("\(end.rawValue)-title"), status: problem.map { .init(code: $0.status) } ?? .ok,
      for: visit, in: .items, values)
  }
}
