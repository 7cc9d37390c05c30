import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the history of an item.
struct HistoryHandlers: Sendable {
  let services: ConsoleServices

  private var pages: ConsolePages { services.pages }

  /// The number of writes on a page.
  private static let limit = 25

  @Sendable func history(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.itemID()
    var parameters = QueryParameters(request.uri.query, known: ["cursor"])
    let cursor = PageCursor(filters: ["console history", id.uuidString])
    let position = parameters.position(cursor)
    try parameters.check()
    let item = try await services.store.editorialItem(id, for: visit.access)
    let page = try await services.store.history(of: id, after: position, limit: Self.limit, for: visit.access)
    let path = ConsolePath.path(ConsolePath.history, id: id)
    var values = PageValues()
    values.set("itemLink", pages.link(ConsolePath.path(ConsolePath.item, id: id)))
    values.set("itemTitle", pages.headline(of: item))
    values.set("revision", item.revision)
    values.set("entries", page.entries.map { entry($0, item, visit) })
    values.set("first", position == nil ? nil : pages.link(path))
    values.set("older", page.next.map { pages.link("\(path)?cursor=\(cursor.text(position: $0))") })
    values.set("hasPager", position != nil || page.next != nil)
    return pages.page("history", title: pages.texts.text("history-title"), for: visit, in: .items, values)
  }

  @Sendable func restore(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.itemID()
    guard let revision = context.parameters.get("revision").flatMap({ Int($0) }), revision > 0,
      let current = fields.first("revision").flatMap({ Int($0) })
    else { throw StoreError.notFound }
    _ = try await services.editorial.restore(id, to: revision, if: .revisions([current]), context)
    return pages.redirect(to: ConsolePath.path(ConsolePath.item, id: id), notice: .restored)
  }

  private func entry(_ entry: HistoryEntry, _ item: EditorialItem, _ visit: ConsoleVisit) -> PageValues {
    var values = PageValues()
    values.set("entryRevision", entry.revision)
    let time = pages.date(entry.at)
    values.set("entryTime", time.text)
    values.set("entryMachine", time.machine)
    values.set("entryEditor", editorName(entry.editor))
    values.set("entryState", entry.state.rawValue)
    values.set("entryStateTitle", pages.texts.text("state-\(entry.state.rawValue)"))
    values.set("isCreation", entry.changes.isEmpty)
    values.set("changes", entry.changes.map(change))
    let isOver = item.state == .retracted || item.erased != nil
    let mayChange = visit.mayPublish || item.state == .draft || item.state == .review
    if entry.revision != item.revision, mayChange, !isOver {
      let path = ConsolePath.path(ConsolePath.restoration, id: item.item.id, revision: entry.revision)
      values.set("restoration", pages.link(path))
    }
    return values
  }

  private func editorName(_ editor: Editor?) -> String {
    guard let editor else { return pages.texts.text("editor-unknown") }
    return editor.name ?? pages.texts.texts["editor-\(editor.kind)"] ?? editor.kind
  }

  private func change(_ change: FieldChange) -> PageValues {
    var values = PageValues()
    values.set("changedField", pages.fieldLabel(change.field))
    let comparison =
      change.difference.map { TextComparison($0) }
      ?? TextComparison(from: text(of: change.old, change.field), to: text(of: change.new, change.field))
    values.set("difference", comparison.both(pages.texts))
    return values
  }

  private func text(of value: FieldValue?, _ field: String) -> String {
    switch value {
    case nil: ""
    case .text(let text)?: field == "state" ? pages.texts.texts["state-\(text)"] ?? text : text
    case .texts(let texts)?: texts.joined(separator: ", ")
    case .flag(let flag)?: pages.texts.text(flag ? "yes" : "no")
    case .attachments(let list)?:
      list.map { [$0.url, $0.alt, $0.caption, $0.credit].compactMap { $0 }.joined(separator: " · ") }
        .joined(separator: "\n")
    }
  }
}
