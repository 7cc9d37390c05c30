package import Foundation
import HTTPTypes
import News
package import NewsStore

/// `/v1/items/{id}`: a published item.
package struct ItemView: PublicView {
  let id: UUID
  let html: Bool

  package init(_ id: UUID, html: Bool = false) {
    self.id = id
    self.html = html
  }

  /// - Throws: `ProblemError` that names the parameters and rules.
  static func read(_ id: UUID, _ query: String?) throws -> PublicRead {
    var parameters = QueryParameters(query, known: ["include", "at"])
    let html = parameters.includesHTML()
    let at = parameters.token("at")
    try parameters.check()
    return PublicRead(ItemView(id, html: html), at: at)
  }

  package var route: String { APIPath.item }
  package var dependency: ResponseDependency { .item(id) }
  package var itemID: UUID? { id }

  package func inMemory(_ snapshot: FeedSnapshot, _ sources: ViewSources) -> View? { snapshot.item(id).map(view) }

  package func load(from sources: ViewSources, in snapshot: FeedSnapshot) async throws -> View {
    view(try await sources.store.item(id))
  }

  private func view(_ current: CurrentItem) -> View {
    let body = PageBody([current.item], in: ItemFrame(html: html), epoch: current.feedVersion.epoch)
    return View(
      representation: Representation(body, lastModified: LastModified(current.item.updatedDate, current.read)),
      feedVersion: current.feedVersion)
  }
}

/// The JSON of an item without anything around it.
private struct ItemFrame: BodyFrame {
  let html: Bool

  var forms: FragmentForms { .json(html: html) }

  func appendIdentity(_ items: [ItemVersion], to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "i"))
    bytes.append(identitiesOf: items)
  }

  func body(_ fragments: [[UInt8]]) -> [UInt8] { fragments.first ?? [] }
}
