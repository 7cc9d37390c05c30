import Foundation
import HTTPConditions
import HTTPTypes
package import News
package import NewsStore

/// `/v1/items`: a page of a list of items, newest first.
package struct ItemListView: PublicView {
  let query: ItemQuery

  package init(_ query: ItemQuery = ItemQuery()) { self.query = query }

  /// - Throws: `ProblemError` that names the parameters and rules.
  static func read(_ query: String?) throws -> PublicRead {
    var parameters = QueryParameters(
      query,
      known: ["limit", "cursor", "topics", "language", "author", "from", "to", "breaking", "q", "include", "at"])
    var query = ItemQuery(
      scope: parameters.scope(),
      limit: parameters.integer("limit", in: 1...200, default: 50),
      language: parameters.value("language", rule: .languageTag) {
        LanguageTag.isValid($0) ? $0 : nil
      },
      author: parameters.text("author", maximumBytes: 256),
      from: parameters.date("from"),
      to: parameters.date("to"),
      isBreaking: parameters.bool("breaking"),
      search: parameters.text("q", maximumBytes: 256).map(SearchQuery.init),
      includesHTML: parameters.includesHTML())
    let at = parameters.token("at")
    query.after = parameters.cursor(PageCursor(query))
    try parameters.check()
    return PublicRead(ItemListView(query), at: at)
  }

  package var route: String { APIPath.items }
  package var scope: Scope { query.scope }
  package var dependency: ResponseDependency { .scope(query.scope) }
  package var windowScope: Scope? { query.search == nil ? query.scope : nil }
  package var isPolled: Bool { true }

  package func isUncommon(in snapshot: FeedSnapshot) -> Bool { query.after != nil || query.search != nil }

  package func inMemory(_ snapshot: FeedSnapshot, _ sources: ViewSources) -> View? { snapshot.page(query).map(view) }

  package func load(from sources: ViewSources, in snapshot: FeedSnapshot) async throws -> View {
    view(try await sources.store.page(query))
  }

  private func view(_ page: ListPage) -> View {
    var fields: HTTPFields = [.syncToken: page.token.description]
    fields[.link] = page.next.map { "<\(target(of: $0))>; rel=\"next\"" }
    let body = PageBody(page.items, in: ListFrame(html: query.includesHTML), epoch: page.feedVersion.epoch)
    return View(
      representation: Representation(
        body, lastModified: page.modified.map { LastModified($0, page.read) }, fields: fields),
      feedVersion: page.feedVersion)
  }

  /// The target of another page of the list. It is relative, so it is valid under any public name of the server. It
  /// omits `at`, which concerns the first page only.
  ///
  /// - Parameter start: The position after which the page begins.
  private func target(of start: Keyset) -> String {
    var parameters = ["limit=\(query.limit)"]
    if !scope.topics.isEmpty { parameters.append("topics=\(scope.topics.joined(separator: ","))") }
    let texts = [
      ("language", query.language), ("author", query.author), ("from", query.from.map(RFC3339.string)),
      ("to", query.to.map(RFC3339.string)), ("breaking", query.isBreaking.map { "\($0)" }),
      ("q", query.search?.text), ("include", query.includesHTML ? "html" : nil),
    ]
    for case (let name, let text?) in texts { parameters.append("\(name)=\(text.percentEncoded)") }
    parameters.append("cursor=\(PageCursor(query).text(start))")
    return "\(APIPath.items)?\(parameters.joined(separator: "&"))"
  }
}

/// The JSON of a list.
private struct ListFrame: BodyFrame {
  let html: Bool

  var forms: FragmentForms { .json(html: html) }

  func appendIdentity(_ items: [ItemVersion], to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "l"))
    bytes.append(identitiesOf: items)
  }

  func body(_ fragments: [[UInt8]]) -> [UInt8] {
    var json = JSONWriter(capacity: fragments.reduce(256) { $0 + $1.count + 32 })
    json.object { json in
      json.field("items") { $0.array(fragments) { $0.write(json: $1) } }
    }
    return json.bytes
  }
}

extension String {
  /// The text with all characters but the unreserved ones (RFC 3986 section 2.3) encoded.
  fileprivate var percentEncoded: String {
    var encoded = ""
    for byte in utf8 {
      let isUnreserved =
        byte.isASCIIDigit || byte.isASCIILetter || [UInt8(ascii: "-"), 0x2E, 0x5F, 0x7E].contains(byte)
      if isUnreserved {
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }
}
