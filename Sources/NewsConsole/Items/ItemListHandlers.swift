import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handler of the list of items.
struct ItemListHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// The number of items below which the list links to the first steps.
  private static let firstItems = 4
  /// The maximum number of topics that the list shows of each item.
  private static let maximumTopics = 4

  @Sendable func list(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let filter = try ItemFilter(query: request.uri.query)
    let page = try await services.store.editorialItems(filter.query(for: visit.access))
    let topics = try await services.store.consoleTopics(for: visit.access)
    var values = PageValues()
    values.set("notice", filter.notice.map { pages.texts.text($0.textKey) })
    values.set("newItem", visit.mayWrite ? pages.link(ConsolePath.newItem) : nil)
    let isNew = visit.key.topics == nil && !filter.isFiltered && page.counts.values.reduce(0, +) < Self.firstItems
    values.set("firstRun", isNew ? pages.link(ConsolePath.firstRun) : nil)
    setFilter(filter, topics, in: &values)
    values.set("tabs", tabs(filter, page.counts))
    values.set("items", page.items.map { row($0, topics) })
    values.set("isEmpty", page.items.isEmpty)
    values.set("first", filter.after == nil ? nil : pages.link(filter.path()))
    values.set("older", page.next.map { pages.link(filter.path(cursor: filter.cursor.text($0))) })
    values.set("hasPager", filter.after != nil || page.next != nil)
    return pages.page("items", title: pages.texts.text("section-items"), for: visit, in: .items, values)
  }

  private func setFilter(_ filter: ItemFilter, _ topics: [PageTopic], in values: inout PageValues) {
    values.set("listLink", pages.link(ConsolePath.items))
    values.set("stateName", filter.state?.rawValue)
    values.set("search", filter.search)
    values.set("firstDay", filter.firstDay)
    values.set("lastDay", filter.lastDay)
    // Lists of the other topics are behind the links of the topics' page.
    let offered = TopicChoices(topics, selected: filter.topic.map { [$0] } ?? []).offered
    values.set("topics", offered.map { pages.values(of: $0, isSelected: $0.slug == filter.topic) })
    values.set("unfiltered", filter.isFiltered ? pages.link(ItemFilter.path(ofState: filter.state)) : nil)
    values.set("isFiltered", filter.isFiltered)
  }

  private func tabs(_ filter: ItemFilter, _ counts: [EditorialItem.State: Int]) -> [PageValues] {
    let states: [EditorialItem.State?] = [nil, .draft, .review, .scheduled, .published, .expired, .retracted]
    return states.map { state in
      var values = PageValues()
      values.set("tabLink", pages.link(filter.path(state: state)))
      values.set("tabTitle", pages.texts.text("state-\(state?.rawValue ?? "all")"))
      values.set("tabCount", state.map { counts[$0] ?? 0 } ?? counts.values.reduce(0, +))
      values.set("isCurrentTab", state == filter.state)
      return values
    }
  }

  private func row(_ item: EditorialItem, _ topics: [PageTopic]) -> PageValues {
    var values = PageValues()
    values.set("itemLink", pages.link(ConsolePath.path(ConsolePath.item, id: item.item.id)))
    values.set("itemTitle", pages.headline(of: item))
    values.set("itemLanguage", item.item.language)
    values.set("itemState", item.state.rawValue)
    values.set("itemStateTitle", pages.texts.text("state-\(item.state.rawValue)"))
    values.set("isBreaking", item.item.breaking)
    values.set(
      "itemTopics",
      item.item.topics.prefix(Self.maximumTopics).map { slug -> PageValues in
        var values = PageValues()
        let title = topics.first { $0.slug == slug }?.title(in: pages.site.language).text ?? slug
        values.set("itemTopic", Excerpt.of(title, limit: TopicChoices.titleLength))
        return values
      })
    let others = item.item.topics.count - Self.maximumTopics
    values.set("otherTopicCount", others > 0 ? others : nil)
    pages.setTime("edited", item.edited, in: &values)
    if item.state == .scheduled { pages.setTime("publish", item.publishAt, in: &values) }
    return values
  }
}

extension ItemFilter {
  /// Whether there is a filter besides the state.
  var isFiltered: Bool { search != nil || topic != nil || firstDay != nil || lastDay != nil }

  /// Returns the path of the list of a state, without other filters.
  static func path(ofState state: EditorialItem.State?) -> String {
    state.map { "\(ConsolePath.items)?state=\($0.rawValue)" } ?? ConsolePath.items
  }
}

extension NewsStore {
  /// Reads the topics that someone may give an item, in the order of the navigation.
  func consoleTopics(for access: ItemAccess) async throws -> [PageTopic] {
    try await topicTitles().topics.filter { access.topics?.contains($0.slug) ?? true }
      .map { PageTopic(slug: $0.slug, titles: $0.titles) }
  }
}

extension ConsolePages {
  /// The length of a title in lists and headings, in Unicode scalars.
  private static let titleLength = 120

  /// Returns the title of an item, or the beginning of its text.
  func headline(of item: EditorialItem) -> String { headline(title: item.item.title, text: item.item.text) }

  /// Returns a title on one line, or the beginning of a text without one.
  func headline(title: String?, text: String) -> String {
    // A headline needs no more of a text, which may be long. A list has many of them.
    let beginning = String(text.unicodeScalars.drop { $0.properties.isWhitespace }.prefix(1000))
    let headline = Excerpt.of(PageRenderer.headline(title: title, text: beginning).headline, limit: Self.titleLength)
    return headline.isEmpty ? texts.text("untitled") : headline
  }

  /// Sets the topics of a form.
  func setTopics(_ topics: [PageTopic], selected: [String], in values: inout PageValues) {
    let choices = TopicChoices(topics, selected: selected)
    values.set(
      "topics",
      choices.offered.enumerated().map { number, topic -> PageValues in
        var values = self.values(of: topic, isSelected: selected.contains(topic.slug))
        values.set("topicNumber", number)
        return values
      })
    values.set("hasTopics", !choices.offered.isEmpty)
    values.set("hasOtherTopics", choices.hasOthers)
  }

  /// Returns the values of a topic in a form.
  func values(of topic: PageTopic, isSelected: Bool) -> PageValues {
    let title = topic.title(in: site.language)
    var values = PageValues()
    values.set("topicSlug", topic.slug)
    values.set("topicTitle", Excerpt.of(title.text, limit: TopicChoices.titleLength))
    values.set("topicLanguage", title.language)
    values.set("isSelected", isSelected)
    return values
  }
}
