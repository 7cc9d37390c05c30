import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the form of a topic.
struct TopicFormHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// The value of the button that adds titles to the form.
  private static let more = "more"

  @Sendable func newTopic(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    try visit.requireTopicRights()
    return page(TopicForm(language: pages.site.language.tag), nil, visit)
  }

  @Sendable func topic(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    try visit.requireTopicRights()
    let topic = try await services.store.topic(try context.topicSlug()).topic
    return page(TopicForm(topic), topic, visit)
  }

  @Sendable func create(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    try visit.requireTopicRights()
    let form = TopicForm(fields)
    if fields.first("action") == Self.more { return page(form, nil, visit) }
    let errors = form.errors(isNew: true)
    guard errors.isEmpty else { return page(form, nil, visit, errors: errors) }
    do {
      _ = try await services.editorial.createTopic(form.members(isNew: true), context)
      return pages.redirect(to: ConsolePath.topics, notice: .topicSaved)
    } catch StoreError.alreadyExists {
      return page(form, nil, visit, errors: ["slug": RuleText("rule-slug-taken")], status: .conflict)
    }
  }

  @Sendable func save(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    try visit.requireTopicRights()
    let slug = try context.topicSlug()
    let topic = try await services.store.topic(slug).topic
    var form = TopicForm(fields)
    if fields.first("action") == Self.more { return page(form, topic, visit) }
    let errors = form.errors(isNew: false)
    guard errors.isEmpty else { return page(form, topic, visit, errors: errors) }
    do {
      guard form.revision != nil else { throw StoreError.preconditionFailed }
      _ = try await services.editorial.replaceTopic(slug, form.members(isNew: false), context)
      return pages.redirect(to: ConsolePath.topics, notice: .topicSaved)
    } catch StoreError.preconditionFailed {
      let current = try await services.store.topic(slug).topic
      form.revision = current.revision
      return page(form, current, visit, status: .preconditionFailed)
    }
  }

  /// Returns the page with the form.
  ///
  /// - Parameters:
  ///   - topic: The topic as it is stored; nil for a new one.
  ///   - errors: The broken rules by name of their field.
  ///   - status: 412 shows the stored topic, which has changed since the form was made.
  private func page(
    _ form: TopicForm, _ topic: Topic?, _ visit: ConsoleVisit, errors: [String: RuleText] = [:],
    status: HTTPResponse.Status? = nil
  ) -> Response {
    var values = PageValues()
    let form = form.withSpareTitles
    let path = topic.map { ConsolePath.path(ConsolePath.topic, slug: $0.slug) } ?? ConsolePath.topics
    values.set("action", pages.link(path))
    values.set("cancel", pages.link(ConsolePath.topics))
    values.set("isNew", topic == nil)
    values.set("slug", topic?.slug ?? form.slug)
    values.set("revision", form.revision)
    values.set("position", form.position)
    values.set("titles", form.titles.enumerated().map { title($1, $0, errors) })
    values.set("slugError", errors["slug"].map { pages.text($0) })
    values.set("positionError", errors["position"].map { pages.text($0) })
    values.set("titlesError", errors["titles"].map { pages.text($0) })
    if status == .preconditionFailed, let topic {
      values.set("isConflict", true)
      values.set("problem", pages.texts.text("topic-changed"))
      values.set("storedPosition", topic.position)
      values.set("storedTitles", topic.titles.sorted { $0.key < $1.key }.map { storedTitle($0.key, $0.value) })
    } else if !errors.isEmpty {
      values.set("problem", pages.texts.text("error-422-text"))
      var sentences = errors.mapValues { pages.text($0) }
      // The rule about all titles is shown above the first one.
      if let sentence = sentences["titles"] { sentences[TopicForm.languageField(0)] = sentence }
      pages.setProblemFields(sentences, of: fields(of: form), in: &values)
    }
    return pages.page(
      "topics-form", title: topic.map { pages.title(of: $0) } ?? pages.texts.text("new-topic"),
      status: status ?? (errors.isEmpty ? .ok : .unprocessableContent), for: visit, in: .topics, values)
  }

  /// Returns the ids and labels of the fields, in the order of the form.
  private func fields(of form: TopicForm) -> [(id: String, label: String)] {
    var fields = [(id: "slug", label: pages.fieldLabel("slug"))]
    let (title, language) = (pages.fieldLabel("title"), pages.fieldLabel("language"))
    for index in form.titles.indices {
      fields.append((id: TopicForm.languageField(index), label: "\(title) \(index + 1), \(language)"))
      fields.append((id: TopicForm.textField(index), label: "\(title) \(index + 1)"))
    }
    return fields + [(id: "position", label: pages.fieldLabel("position"))]
  }

  private func title(_ title: TopicForm.Title, _ index: Int, _ errors: [String: RuleText]) -> PageValues {
    var values = PageValues()
    values.set("titleIndex", index)
    values.set("titleNumber", index + 1)
    values.set("titleLanguage", title.language)
    values.set("titleText", title.text)
    values.set("languageError", errors[TopicForm.languageField(index)].map { pages.text($0) })
    values.set("textError", errors[TopicForm.textField(index)].map { pages.text($0) })
    return values
  }

  private func storedTitle(_ language: String, _ text: String) -> PageValues {
    var values = PageValues()
    values.set("storedLanguage", language)
    values.set("storedTitle", text)
    return values
  }
}

extension ConsolePages {
  /// Returns the title of a topic in the language of the console.
  func title(of topic: Topic) -> String {
    PageTopic(slug: topic.slug, titles: topic.titles).title(in: site.language).text
  }
}
