import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handler of the list of topics.
struct TopicListHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// The number of topics on a page.
  private static let pageSize = 25
  /// The maximum number of titles that the list shows of each topic.
  private static let maximumTitles = 4
  /// The length of a title, in Unicode scalars.
  private static let titleLength = 80

  @Sendable func list(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let page = try NumberedPage(request, size: Self.pageSize)
    let topics = try await services.store.topics().topics
    let (rows, hasMore) = page.rows(of: topics)
    var values = PageValues()
    values.set("newTopic", visit.mayChangeTopics ? pages.link(ConsolePath.newTopic) : nil)
    values.set("isProtected", !visit.mayChangeTopics)
    values.set("topics", rows.map { row($0, visit) })
    pages.setPager(page, hasMore: hasMore, path: ConsolePath.topics, in: &values)
    values.set("isEmpty", topics.isEmpty)
    return pages.page("topics", title: pages.texts.text("section-topics"), for: visit, in: .topics, values)
  }

  private func row(_ topic: Topic, _ visit: ConsoleVisit) -> PageValues {
    var values = PageValues()
    values.set("topicSlug", topic.slug)
    values.set("topicItems", topic.items)
    values.set("topicPosition", topic.position)
    // For a restricted key, the list of another topic would be empty.
    if visit.access.topics?.contains(topic.slug) ?? true {
      values.set("topicItemsLink", pages.link("\(ConsolePath.items)?state=published&topic=\(topic.slug)"))
    }
    let titles = topic.titles.sorted { $0.key < $1.key }
    values.set("topicTitles", titles.prefix(Self.maximumTitles).map { title($0.key, $0.value) })
    values.set("hasTitles", !titles.isEmpty)
    if visit.mayChangeTopics {
      values.set("editTopic", pages.link(ConsolePath.path(ConsolePath.topic, slug: topic.slug)))
      values.set("removeTopic", pages.link(ConsolePath.path(ConsolePath.topicRemoval, slug: topic.slug)))
    }
    return values
  }

  private func title(_ language: String, _ text: String) -> PageValues {
    var values = PageValues()
    values.set("titleLanguage", language)
    values.set("titleText", Excerpt.of(text, limit: Self.titleLength))
    return values
  }
}
