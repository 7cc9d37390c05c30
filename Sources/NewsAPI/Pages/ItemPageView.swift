package import Foundation
import News
import NewsPages
package import NewsStore

/// `/items/{id}`: the page of an item for readers.
package struct ItemPageView: PublicView {
  let id: UUID

  package var route: String { APIPath.itemPage }
  package var dependency: ResponseDependency { .titled(.item(id)) }
  package var itemID: UUID? { id }
  package var isPage: Bool { true }

  package func inMemory(_ snapshot: FeedSnapshot, _ sources: ViewSources) -> View? {
    guard let topics = sources.pages?.topicsInMemory(in: snapshot) else { return nil }
    return snapshot.item(id).map { view($0, topics) }
  }

  package func load(from sources: ViewSources, in snapshot: FeedSnapshot) async throws -> View {
    let topics = try await sources.requirePages().topics(in: snapshot)
    if let item = snapshot.item(id) { return try topics.checked(view(item, topics)) }
    return try topics.checked(view(try await sources.store.item(id), topics))
  }

  private func view(_ current: CurrentItem, _ topics: PageTopics) -> View {
    View(
      representation: Representation(
        PageBody([current.item], in: ItemPageFrame(topics: topics), epoch: current.feedVersion.epoch),
        lastModified: LastModified(max(current.item.updatedDate, topics.changed), current.read),
        fields: PageViews.fields),
      feedVersion: topics.version(of: current.feedVersion))
  }
}

/// The page of an item, which is a form of it as a whole.
private struct ItemPageFrame: BodyFrame {
  let topics: PageTopics

  var forms: FragmentForms { FragmentForms(topics.page) }
  var contentType: String { Representation.pageContentType }

  func minimumBytes(_ items: [ItemVersion]) -> Int { PageViews.minimumBytes }

  func appendIdentity(_ items: [ItemVersion], to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "p"))
    bytes.append(identitiesOf: items)
    bytes += topics.identity
  }

  func body(_ fragments: [[UInt8]]) -> [UInt8] { fragments.first ?? [] }
}
