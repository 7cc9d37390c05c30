import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the editor: the form of a new item, and of an existing one.
struct EditorHandlers: ConsoleHandlers {
  let services: ConsoleServices

  @Sendable func newItem(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    var form = ItemForm(newItem: .version7(at: Date()))
    // A key of one topic writes about nothing else.
    if let topics = visit.key.topics, topics.count == 1 { form.topics = topics }
    return try await editor(EditorPage(form: form), visit)
  }

  @Sendable func item(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    var parameters = QueryParameters(request.uri.query, known: [Notice.parameter])
    let notice = parameters.notice()
    let item = try await services.store.editorialItem(try context.itemID(), for: visit.access)
    var page = EditorPage(form: ItemForm(item), item: item)
    page.notice = notice
    return try await editor(page, visit)
  }

  @Sendable func create(_ parts: MultipartReader, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let sent = try await EditorSubmission(parts, services.editorial, context)
    guard !sent.isUnsaved else { return try await editor(EditorPage(unsaved: sent), visit) }
    do {
      let (item, _) = try await services.editorial.create(sent.members(changing: nil), context)
      return redirect(to: item, sent.action)
    } catch StoreError.alreadyExists {
      // The form was sent before, and the browser went back to it.
      guard let id = sent.form.id else { throw StoreError.alreadyExists }
      return try await conflict(sent, with: try await services.store.editorialItem(id, for: visit.access), visit)
    } catch {
      guard let problem = ProblemError(expected: error)?.problem else { throw error }
      return try await editor(EditorPage(form: sent.form, problem: problem), visit)
    }
  }

  @Sendable func save(_ parts: MultipartReader, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.itemID()
    let item = try await services.store.editorialItem(id, for: visit.access)
    let sent = try await EditorSubmission(parts, services.editorial, context)
    guard !sent.isUnsaved else { return try await editor(EditorPage(unsaved: sent, item: item), visit) }
    if sent.action == .withdraw, item.state == .published, !sent.isConfirmed, visit.mayPublish {
      return ConfirmationPage(withdrawing: item, sent).response(pages, visit)
    }
    do {
      return redirect(
        to: try await services.editorial.modify(id, sent.members(changing: item), context), sent.action)
    } catch {
      guard let problem = ProblemError(expected: error)?.problem else { throw error }
      let current = try await services.store.editorialItem(id, for: visit.access)
      guard problem.status == 412 else {
        return try await editor(EditorPage(form: sent.form, item: current, problem: problem), visit)
      }
      return try await conflict(sent, with: current, visit)
    }
  }

  /// Shows a form of an earlier session again, with the token of the present one. Nothing is stored.
  @Sendable func showAgain(
    _ parts: MultipartReader, _ visit: ConsoleVisit, context: APIContext
  ) async throws -> Response {
    let sent = try await EditorSubmission(parts, services.editorial, storesFiles: false, context)
    var item: EditorialItem?
    if sent.form.id == nil { item = try await services.store.editorialItem(try context.itemID(), for: visit.access) }
    return try await editor(
      EditorPage(unsaved: sent, item: item, problem: ProblemError.formShownAgain.problem), visit)
  }

  /// Returns the comparison of a form with the stored item. A form that has been saved already leads to the item.
  private func conflict(
    _ sent: EditorSubmission, with stored: EditorialItem, _ visit: ConsoleVisit
  ) async throws -> Response {
    let entries = try await services.store.history(of: stored.item.id, limit: 1, for: visit.access).entries
    let page = ConflictPage(sent: sent, stored: stored, editor: entries.first?.editor)
    let bytes = sent.form.textBytes + ItemForm(stored).textBytes
    return try await services.compute(for: visit, bytes: bytes) {
      page.isResolved ? redirect(to: stored, sent.action) : page.response(pages, visit)
    }
  }

  private func redirect(to item: EditorialItem, _ action: EditorSubmission.Action) -> Response {
    pages.redirect(to: ConsolePath.path(ConsolePath.item, id: item.item.id), notice: action.notice)
  }

  private func editor(_ page: EditorPage, _ visit: ConsoleVisit) async throws -> Response {
    var page = page
    if visit.key.allows(.pushSend) {
      page.mayAlert = !services.pushServices.isEmpty
      if let item = page.item { page.alert = try await services.store.alert(of: item.item.id) }
    }
    let topics = try await services.store.consoleTopics(for: visit.access)
    var files: [UsedMedia] = []
    if services.editorial.keepsFiles {
      files = try await services.store.editorialMedia(
        MediaQuery(limit: EditorPage.fileCount, access: visit.access)
      ).files
    }
    return try await services.compute(for: visit, bytes: page.form.textBytes) { [page, files] in
      page.response(
        pages, visit, topics, files,
        maximumBytes: services.editorial.keepsFiles ? services.editorial.maximumMediaBytes : 0,
        hasPreview: services.api.settings.servesReaderPages)
    }
  }
}
