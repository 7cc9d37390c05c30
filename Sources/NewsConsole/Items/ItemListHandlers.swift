import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handler of the list of items.
struct ItemListHandlers: Sendable {
  let services: ConsoleServices

  private var pages: ConsolePages { services.pages }

  @Sendable func list(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let filter = try ItemFilter(query: request.uri.query)
    let page = try await services.store.editorialItems(filter.query(for: visit.access))
    let topics = try await services.store.consoleTopics(for: visit.access)
    var values = PageValues()
    values.set("notice", filter.notice.map { pages.texts.text($0.textKey) })
    values.set("newItem", visit.mayWrite ? pages.link(ConsolePath.newItem) : nil)
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
    values.set("topics", topics.map { pages.values(of: $0, isSelected: $0.slug == filter.topic) })
    let isFiltered = filter.search != nil || filter.topic != nil || filter.firstDay != nil || filter.lastDay != nil
    values.set("unfiltered", isFiltered ? pages.link(ItemFilter.path(ofState: filter.state)) : nil)
    values.set("isFiltered", isFiltered)
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
      item.item.topics.map { slug -> PageValues in
        var values = PageValues()
        values.set("itemTopic", topics.first { $0.slug == slug }?.title(in: pages.site.language).text ?? slug)
        return values
      })
    values.set("hasTopics", !item.item.topics.isEmpty)
    let edited = pages.date(item.edited)
    values.set("edited", edited.text)
    values.set("editedMachine", edited.machine)
    if item.state == .scheduled, let time = item.publishAt.map(pages.date) {
      values.set("publishTime", time.text)
      values.set("publishMachine", time.machine)
    }
    return values
  }
}

extension ItemFilter {
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
  func headline(of item: EditorialItem) -> String {
    let headline = Excerpt.of(PageRenderer.headline(of: item.item).headline, limit: Self.titleLength)
    return headline.isEmpty ? texts.text("untitled") : headline
  }

  /// Returns the values of a topic in a form.
  func values(of topic: PageTopic, isSelected: Bool) -> PageValues {
    let title = topic.title(in: site.language)
    var values = PageValues()
    values.set("topicSlug", topic.slug)
    values.set("topicTitle", title.text)
    values.set("topicLanguage", title.language)
    values.set("isSelected", isSelected)
    return values
  }
}
