import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the page that deletes a topic or merges it into another one.
struct TopicRemovalHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// The name of the field with the slug of the other topic.
  private static let other = "mergeInto"

  @Sendable func form(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    try visit.requireTopicRights()
    return try await page(try context.topicSlug(), other: "", visit)
  }

  @Sendable func remove(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    try visit.requireTopicRights()
    let slug = try context.topicSlug()
    let other = fields.first(Self.other) ?? ""
    guard other.isEmpty || TopicSlug.isValid(other) else {
      return try await page(slug, other: other, visit, status: .unprocessableContent, error: "rule-other-topic")
    }
    do {
      guard let revision = fields.first("revision").flatMap({ Int($0) }) else { throw StoreError.preconditionFailed }
      try await services.editorial.removeTopic(
        slug, mergingInto: other.isEmpty ? nil : other, if: .revisions([revision]), context)
      return pages.redirect(to: ConsolePath.topics, notice: other.isEmpty ? .topicRemoved : .topicMerged)
    } catch StoreError.topicInUse(let items) {
      return try await page(
        slug, other: other, visit, status: .conflict, error: "topic-in-use", ["count": "\(items)"])
    } catch StoreError.preconditionFailed {
      return try await page(slug, other: other, visit, status: .preconditionFailed)
    } catch let error as ProblemError where error.problem.status == 400 {
      return try await page(slug, other: other, visit, status: .unprocessableContent, error: "rule-other-topic")
    }
  }

  /// Returns the page that asks.
  ///
  /// - Parameters:
  ///   - other: The slug of the topic that is selected; empty for none.
  ///   - error: The key of the sentence beside the list of topics.
  private func page(
    _ slug: String, other: String, _ visit: ConsoleVisit, status: HTTPResponse.Status = .ok, error: String? = nil,
    _ errorValues: [String: String] = [:]
  ) async throws -> Response {
    let topics = try await services.store.topics().topics
    guard let topic = topics.first(where: { $0.slug == slug }) else { throw StoreError.notFound }
    var values = PageValues()
    values.set("action", pages.link(ConsolePath.path(ConsolePath.topicRemoval, slug: slug)))
    values.set("cancel", pages.link(ConsolePath.topics))
    values.set("topicTitle", pages.title(of: topic))
    values.set("slug", slug)
    values.set("revision", topic.revision)
    values.set("publishedItems", topic.items)
    values.set("problem", status == .preconditionFailed ? pages.texts.text("topic-removal-changed") : nil)
    values.set("otherError", error.map { pages.texts.text($0, errorValues) })
    let others = topics.filter { $0.slug != slug }
    values.set("isTyped", others.count > TopicChoices.maximum)
    values.set("other", other)
    values.set(
      "others",
      others.prefix(TopicChoices.maximum).map { topic -> PageValues in
        var values = PageValues()
        values.set("otherSlug", topic.slug)
        values.set("otherTitle", Excerpt.of(pages.title(of: topic), limit: TopicChoices.titleLength))
        values.set("isSelected", topic.slug == other)
        return values
      })
    return pages.page(
      "topics-remove", title: pages.texts.text("topic-removal-title"), status: status, for: visit, in: .topics, values)
  }
}
