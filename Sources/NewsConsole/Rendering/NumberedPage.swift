import Hummingbird
import NewsAPI
import NewsPages

/// A page of a list whose pages are numbered.
struct NumberedPage: Sendable, Equatable {
  /// The name of the query parameter.
  static let parameter = "page"

  /// The number, 1...100,000.
  let number: Int
  /// The maximum number of rows on a page.
  let size: Int
  /// The sentence at the top of the page.
  let notice: Notice?

  /// Reads the number of the page, and the notice. Without a number, the page is the first one.
  init(_ parameters: inout QueryParameters, size: Int) {
    number = parameters.integer(Self.parameter, in: 1...100_000, default: 1)
    self.size = size
    notice = parameters.notice()
  }

  /// Reads the query of a list without further parameters.
  ///
  /// - Throws: `ProblemError`, 400, which names the invalid parameters.
  init(_ request: Request, size: Int) throws {
    var parameters = QueryParameters(request.uri.query, known: [Self.parameter, Notice.parameter])
    self.init(&parameters, size: size)
    try parameters.check()
  }

  /// The number of rows on the pages before.
  var offset: Int { (number - 1) * size }

  /// Returns the rows of the page, and whether further ones follow.
  func rows<Row>(of all: [Row]) -> (rows: [Row], hasMore: Bool) {
    (Array(all.dropFirst(offset).prefix(size)), all.count > offset + size)
  }
}

extension ConsolePages {
  /// Sets the notice, and the links to other pages of a list.
  ///
  /// - Parameters:
  ///   - path: The path and query of the first page.
  ///   - hasMore: Whether rows follow that are not on the page.
  func setPager(_ page: NumberedPage, hasMore: Bool, path: String, in values: inout PageValues) {
    values.set("notice", page.notice.map { texts.text($0.textKey) })
    values.set("firstPage", page.number == 1 ? nil : link(path))
    let next = "\(path)\(path.contains("?") ? "&" : "?")\(NumberedPage.parameter)=\(page.number + 1)"
    values.set("nextPage", hasMore ? link(next) : nil)
    values.set("hasPager", page.number > 1 || hasMore)
  }
}
