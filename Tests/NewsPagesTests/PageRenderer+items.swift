import News
import NewsPages

extension PageRenderer {
  /// Renders a page of a list with the stories of items.
  func page(of list: List, items: [NewsItem], topics: [PageTopic]) -> String {
    let stories = items.enumerated().map { Array(story($1, isFirst: $0 == 0, topics: topics).utf8) }
    return page(of: list, stories: stories, topics: topics)
  }
}
