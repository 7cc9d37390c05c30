import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the history of an item.
struct HistoryHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// The number of writes on a page.
  private static let limit = 25
  /// The size of the writes on a page, in bytes of HTML. A larger write has a page of its own.
  private static let maximumBytes = 24_000

  private static func cursor(of id: UUID) -> PageCursor { PageCursor(filters: ["console history", id.uuidString]) }

  @Sendable func history(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.itemID()
    var parameters = QueryParameters(request.uri.query, known: ["cursor"])
    let position = parameters.position(Self.cursor(of: id))
    try parameters.check()
    return try await page(of: id, after: position, visit)
  }

  /// - Parameters:
  ///   - position: The end of the previous page; nil for the first page.
  ///   - problem: The reason why an earlier version was not restored.
  private func page(
    of id: UUID, after position: Int?, _ visit: ConsoleVisit, _ problem: Problem? = nil
  ) async throws -> Response {
    let item = try await services.store.editorialItem(id, for: visit.access)
    let page = try await services.store.history(
      of: id, after: position, limit: Self.limit, for: visit.access, owner: visit.key.id)
    return try await services.compute(for: visit) {
      response(with: page, of: item, isFirst: position == nil, visit, problem)
    }
  }

  private func response(
    with page: HistoryPage, of item: EditorialItem, isFirst: Bool, _ visit: ConsoleVisit, _ problem: Problem?
  ) -> Response {
    let id = item.item.id
    let path = ConsolePath.path(ConsolePath.history, id: id)
    var values = PageValues()
    values.set("itemLink", pages.link(ConsolePath.path(ConsolePath.item, id: id)))
    values.set("itemTitle", pages.headline(of: item))
    values.set("revision", item.revision)
    let entries = entries(page, item, visit)
    let next = entries.count < page.entries.count ? page.positions[entries.count - 1] : page.next
    values.set("entries", entries)
    values.set("first", isFirst ? nil : pages.link(path))
    values.set("older", next.map { pages.link("\(path)?cursor=\(Self.cursor(of: id).text(position: $0))") })
    values.set("hasPager", !isFirst || next != nil)
    values.set("isIncomplete", page.isIncomplete && next == nil)
    values.set("problem", problem.map { pages.message(of: $0) })
    return pages.page(
      "history", title: pages.texts.text("history-title"), status: problem.map { .init(code: $0.status) } ?? .ok,
      for: visit, in: .items, values)
  }

  @Sendable func restore(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.itemID()
    guard let revision = context.parameters.get("revision").flatMap({ Int($0) }), revision > 0,
      let current = fields.first("revision").flatMap({ Int($0) })
    else { throw StoreError.notFound }
    guard fields.first(ConfirmationPage.field) != nil else {
      let item = try await services.store.editorialItem(id, for: visit.access)
      guard item.revision == current else {
        return try await page(of: id, after: nil, visit, ProblemError.preconditionFailed.problem)
      }
      return ConfirmationPage(restoring: revision, of: item).response(pages, visit)
    }
    do {
      _ = try await services.editorial.restore(id, to: revision, if: .revisions([current]), context)
    } catch StoreError.preconditionFailed {
      return try await page(of: id, after: nil, visit, ProblemError.preconditionFailed.problem)
    }
    return pages.redirect(to: ConsolePath.path(ConsolePath.item, id: id), notice: .restored)
  }

  /// Returns the first writes of a page of the store, as many as fit into a page.
  private func entries(_ page: HistoryPage, _ item: EditorialItem, _ visit: ConsoleVisit) -> [PageValues] {
    var entries: [PageValues] = []
    var size = 0
    for entry in page.entries {
      let comparisons = entry.changes.map(comparison)
      // The markup has about 600 bytes for each write and 150 for each of its changes.
      size += comparisons.reduce(600) { $0 + 150 + $1.size }
      if size > Self.maximumBytes, !entries.isEmpty { break }
      entries.append(self.entry(entry, comparisons, item, visit))
    }
    return entries
  }

  private func entry(
    _ entry: HistoryEntry, _ comparisons: [TextComparison], _ item: EditorialItem, _ visit: ConsoleVisit
  ) -> PageValues {
    var values = PageValues()
    values.set("entryRevision", entry.revision)
    pages.setTime("entry", entry.at, in: &values)
    values.set("entryEditor", pages.name(of: entry.editor))
    values.set("entryState", entry.state.rawValue)
    values.set("entryStateTitle", pages.texts.text("state-\(entry.state.rawValue)"))
    values.set("isCreation", entry.changes.isEmpty)
    values.set("changes", zip(entry.changes, comparisons).map(change))
    let isOver = item.state == .retracted || item.erased != nil
    let mayChange = visit.mayPublish || item.state == .draft || item.state == .review
    if entry.revision != item.revision, mayChange, !isOver {
      let path = ConsolePath.path(ConsolePath.restoration, id: item.item.id, revision: entry.revision)
      values.set("restoration", pages.link(path))
    }
    return values
  }

  private func comparison(_ change: FieldChange) -> TextComparison {
    change.difference.map { TextComparison($0) }
      ?? TextComparison(from: text(of: change.old, change.field), to: text(of: change.new, change.field))
  }

  private func change(_ change: FieldChange, _ comparison: TextComparison) -> PageValues {
    var values = PageValues()
    values.set("changedField", pages.fieldLabel(change.field))
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
