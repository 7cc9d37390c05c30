import FaultServer
import Foundation
import News
import NewsFeeds
import NewsFollower
import NewsStore
import TestSupport
import Testing

@Suite("The topics of a feed") struct FeedTopicTests {
  @Test("A category of a later poll does not share the topic of another name with its slug")
  func laterCategory() async throws {
    try await Followed.with { followed in
      @Sendable func feed(_ categories: [String]) -> FaultResponse {
        let items = categories.map { "<item><guid>\($0)</guid><title>\($0)</title><category>\($0)</category></item>" }
        return FaultResponse(body: Data("<rss version=\"2.0\"><channel>\(items.joined())</channel></rss>".utf8))
      }
      let id = try await followed.subscribe("/feed")
      for categories in [["C#"], ["C", "C#"]] {
        followed.server.respond { _ in feed(categories) }
        #expect(try await followed.poll(id).lastError == nil)
      }
      let items = try await followed.store.editorialItems(EditorialQuery()).items.map(\.item)
      let topics = Dictionary(uniqueKeysWithValues: items.map { ($0.title ?? "", $0.topics) })
      #expect(topics == ["C#": ["c"], "C": [Slug.distinct("C")]])
    }
  }
}
