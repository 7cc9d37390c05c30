import Foundation
import NewsFeeds
import Testing

private let sampleFolder: URL? = {
  let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  let folder = root.deletingLastPathComponent().appending(path: "shared/data")
  return FileManager.default.fileExists(atPath: folder.path()) ? folder : nil
}()

/// Real posts in all four formats, stored beside the repository. Without them the suite is disabled.
@Suite("Sample feeds", .enabled(if: sampleFolder != nil))
struct SampleFeedTests {
  private func read(_ name: String) throws -> [FeedEvent] {
    events(try Data(contentsOf: try #require(sampleFolder).appending(path: name)), pieces: 10_000)
  }

  @Test(
    "are read completely",
    arguments: ["swift-blog.atom.xml", "swift-blog.rss.xml", "swift-blog.feed.json", "swift-blog.jsonl"])
  func whole(name: String) throws {
    let events = try read(name)
    #expect(events.complaints == [])
    #expect(events.entries.count == 172)
    #expect(Set(events.entries.map(\.id)).count == 172)
    #expect(events.entries.allSatisfy { $0.title != nil && $0.url != nil && $0.categories.count == 1 })
    #expect(events.entries.allSatisfy { $0.language == "en" })
  }

  @Test("have equal content in the three formats with HTML")
  func agree() throws {
    let rss = try read("swift-blog.rss.xml").entries
    for name in ["swift-blog.atom.xml", "swift-blog.feed.json"] {
      let other = try read(name).entries
      #expect(other.map(\.guid) == rss.map(\.guid))
      #expect(Set(other.map(\.id)).isDisjoint(with: rss.map(\.id)))
      #expect(other.map(\.date) == rss.map(\.date))
      #expect(other.map(\.title) == rss.map(\.title))
      #expect(other.map(\.text) == rss.map(\.text))
      #expect(other.map(\.html) == rss.map(\.html))
      #expect(other.map(\.attachments) == rss.map(\.attachments))
    }
  }
}
