import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of previews: the page of an item as readers will see it.
struct PreviewHandlers: Sendable {
  let services: ConsoleServices

  /// Renders the form that was sent, without saving it.
  @Sendable func preview(_ parts: MultipartReader, _ visit: ConsoleVisit, context: APIContext) async throws -> Response
  {
    let sent = try await EditorSubmission(parts, services.editorial, context)
    return try await page(of: try await services.editorial.preview(sent.form.creation, at: Date()))
  }

  @Sendable func savedPreview(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let item = try await services.store.editorialItem(try context.itemID(), for: visit.access)
    return try await page(of: item.item)
  }

  private func page(of item: NewsItem) async throws -> Response {
    guard services.api.settings.servesReaderPages else { throw StoreError.notFound }
    let topics = try await services.store.topicTitles().topics.map { PageTopic(slug: $0.slug, titles: $0.titles) }
    let html = PageRenderer(services.pages.site).page(of: item, topics: topics)
    // Readers cannot get the files of an unpublished item.
    let path = ConsolePath.file.prefix { $0 != "{" }
    return services.pages.html(html.replacing(/\/v1\/media\/([0-9a-f-]{36})/) { "\(path)\($0.1)" })
  }
}
