import Foundation
import News
import NewsAPI
import NewsStore

/// The filter of a list of items, as its form has it.
struct ItemFilter: Sendable {
  /// The number of items on a page.
  static let limit = 25

  var state: EditorialItem.State?
  var topic: String?
  var search: String?
  /// The first and the last day of the dates of items, `YYYY-MM-DD`, in UTC.
  var firstDay: String?
  var lastDay: String?
  /// The end of the previous page; nil for the first page.
  private(set) var after: Keyset?
  /// The sentence at the top of the page.
  private(set) var notice: Notice?

  private static let names = ["state", "topic", "q", "from", "to"]

  /// Reads the query of a list. Empty parameters are ignored: a form sends its empty fields too.
  ///
  /// - Throws: `ProblemError`, 400, which names the invalid parameters.
  init(query: String?) throws {
    var parameters = QueryParameters(formQuery: query, known: Set(Self.names + ["cursor", Notice.parameter]))
    state = parameters.value("state", rule: "must be a state") { text in
      EditorialItem.State.allCases.first { $0.rawValue.utf8.elementsEqual(text.utf8) }
    }
    topic = parameters.value("topic", rule: .slug) { TopicSlug.isValid($0) ? $0 : nil }
    search = parameters.text("q", maximumBytes: 256)
    firstDay = parameters.value("from", rule: Self.dayRule) { Self.date(ofDay: $0) == nil ? nil : $0 }
    lastDay = parameters.value("to", rule: Self.dayRule) { Self.date(ofDay: $0) == nil ? nil : $0 }
    notice = parameters.notice()
    after = parameters.cursor(cursor)
    try parameters.check()
  }

  /// The cursor of the list, whatever its page.
  var cursor: PageCursor { PageCursor(filters: ["console items", state?.rawValue, topic, search, firstDay, lastDay]) }

  /// Returns the query of the store for the items that someone has access to.
  func query(for access: ItemAccess) -> EditorialQuery {
    EditorialQuery(
      state: state, scope: Scope(topics: topic.map { [$0] } ?? []), from: firstDay.flatMap(Self.date),
      to: lastDay.flatMap(Self.date).map { $0.addingTimeInterval(86_400) }, search: search.map(SearchQuery.init),
      limit: Self.limit, after: after, access: access)
  }

  /// Returns the path of the list with this filter and another state, at its first page.
  func path(state: EditorialItem.State?) -> String {
    var other = self
    other.state = state
    return other.path()
  }

  /// Returns the path of the list.
  ///
  /// - Parameter cursor: The cursor of the page; nil for the first one.
  func path(cursor: String? = nil) -> String {
    let values = [state?.rawValue, topic, search, firstDay, lastDay, cursor]
    let pairs = zip(Self.names + ["cursor"], values).compactMap { name, value in
      value.map { "\(name)=\($0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
    }
    return ConsolePath.items + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
  }

  private static let dayRule: FieldRule = "must be a day such as 2026-11-21"

  private static func date(ofDay day: String) -> Date? {
    day.utf8.count == 10 ? RFC3339.date(from: day + "T00:00:00Z") : nil
  }
}

extension QueryParameters {
  /// Reads the query that a form makes. Its empty fields are ignored.
  init(formQuery query: String?, known: Set<String>) {
    let pairs = (query ?? "").utf8.split(separator: UInt8(ascii: "&")).filter { $0.last != UInt8(ascii: "=") }
    self.init(pairs.map { String(Substring($0)) }.joined(separator: "&"), known: known)
  }
}
