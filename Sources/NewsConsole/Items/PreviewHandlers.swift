import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of previews: the page of an item as readers will see it, with a note that leads back to the editor.
struct PreviewHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// Renders the form that was sent, without saving it.
  @Sendable func preview(_ parts: MultipartReader, _ visit: ConsoleVisit, context: APIContext) async throws -> Response
  {
    let sent = try await EditorSubmission(parts, services.editorial, context)
    let item = try await services.editorial.preview(sent.form.creation, at: Date(), context)
    // An existing item has its id in the path.
    let isNew = sent.form.id != nil
    let path = isNew ? ConsolePath.items : ConsolePath.path(ConsolePath.item, id: try context.itemID())
    return try await page(of: item, visit) {
      var values = PageValues()
      values.set("noteText", pages.texts.text("preview-unsaved"))
      values.set("action", pages.link(path))
      values.set("csrf", visit.formToken.masked())
      let state = sent.state.map { [(name: "state", value: $0.rawValue)] } ?? []
      values.set("hidden", pages.hiddenFields(sent.form.hiddenFields + state))
      return values
    }
  }

  @Sendable func savedPreview(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let item = try await services.store.editorialItem(try context.itemID(), for: visit.access)
    return try await page(of: item.item, visit) {
      var values = PageValues()
      values.set("noteText", pages.texts.text("preview-saved"))
      values.set("editorLink", pages.link(ConsolePath.path(ConsolePath.item, id: item.item.id)))
      return values
    }
  }

  /// - Parameter note: Returns the values of the note.
  private func page(
    of item: NewsItem, _ visit: ConsoleVisit, note: @escaping @Sendable () -> PageValues
  ) async throws -> Response {
    guard services.api.settings.servesReaderPages else { throw StoreError.notFound }
    let topics = try await services.store.topicTitles().topics.map { PageTopic(slug: $0.slug, titles: $0.titles) }
    return try await services.compute(for: visit) {
      let html = PageRenderer(pages.site).preview(
        of: item, topics: topics, note: pages.part("preview-note", note()))
      // Readers cannot get the files of an unpublished item.
      let path = ConsolePath.file.prefix { $0 != "{" }
      let own = html.replacing(/((?:src|href)="[^"]*)\/v1\/media\/([0-9a-f-]{36})/) { "\($0.1)\(path)\($0.2)" }
      return pages.html(own, for: visit)
    }
  }
}
