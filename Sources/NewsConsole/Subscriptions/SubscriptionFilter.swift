import Foundation
import News
import NewsAPI
import NewsStore

/// The filter and the page of the list of subscriptions.
struct SubscriptionFilter: Sendable {
  /// The number of subscriptions on a page, which with long titles and errors has less than 30 kB.
  private static let pageSize = 10

  private(set) var health: SubscriptionQuery.Health?
  private(set) var search: String?
  private(set) var page: NumberedPage

  /// Reads the query of the list. Empty parameters are ignored: a form sends its empty fields too.
  ///
  /// - Throws: `ProblemError`, 400, which names the invalid parameters.
  init(query: String?) throws {
    var parameters = QueryParameters(
      formQuery: query, known: ["health", "q", NumberedPage.parameter, Notice.parameter])
    health = parameters.value("health", rule: "must be failing or paused") { text in
      SubscriptionQuery.Health.allCases.first { $0.rawValue.utf8.elementsEqual(text.utf8) }
    }
    search = parameters.text("q", maximumBytes: 256)
    page = NumberedPage(&parameters, size: Self.pageSize)
    try parameters.check()
  }

  /// The query of the store.
  var query: SubscriptionQuery {
    SubscriptionQuery(health: health, search: search, limit: page.size, offset: page.offset)
  }

  /// The path of the first page.
  var path: String { path(health: health) }

  /// The path of the first page without the search.
  var pathWithoutSearch: String { Self.path(Self.query(health, nil)) }

  /// The query of this page; nil for the first page without a filter.
  var text: String? {
    let query = Self.query(health, search) + (page.number > 1 ? ["\(NumberedPage.parameter)=\(page.number)"] : [])
    return query.isEmpty ? nil : query.joined(separator: "&")
  }

  /// Returns the path of the first page with this search and another health.
  func path(health: SubscriptionQuery.Health?) -> String { Self.path(Self.query(health, search)) }

  /// Returns the path of the list from which a form was sent.
  ///
  /// - Parameter text: The query, as `text` returns it. An invalid one is the first page.
  static func path(returningTo text: String?) -> String {
    path((text.flatMap { try? SubscriptionFilter(query: $0) }?.text).map { [$0] } ?? [])
  }

  private static func path(_ query: [String]) -> String {
    ConsolePath.subscriptions + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
  }

  private static func query(_ health: SubscriptionQuery.Health?, _ search: String?) -> [String] {
    let search = search.map { $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
    return [health.map { "health=\($0.rawValue)" }, search.map { "q=\($0)" }].compactMap { $0 }
  }
}
