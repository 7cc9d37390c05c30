import Foundation
import News
import PostgresClient
import TestSupport
import Testing

private let realFeeds = Project.root.deletingLastPathComponent().appending(path: "shared/data")

/// Real posts in all four formats, stored beside the repository. Without them the suite is disabled.
@Suite("Importing real feeds", .enabled(if: FileManager.default.fileExists(atPath: realFeeds.path)))
struct RealFeedTests {
  @Test("Each format is a separate source, imported completely and once")
  func formats() async throws {
    try await Installation.with { installation in
      let names = ["swift-blog.rss.xml", "swift-blog.atom.xml", "swift-blog.feed.json", "swift-blog.jsonl"]
      for expected in [ImportTests.Counts(read: 172, inserted: 172), ImportTests.Counts(read: 172, unchanged: 172)] {
        for name in names {
          let before = try await installation.counter()
          let result = try await installation.run("import", "--json", realFeeds.appending(path: name).path)
          #expect(result.status == 0, "\(name): \(result.errors)")
          let counts = try JSONDecoder().decode(ImportTests.Counts.self, from: Data(result.output.utf8))
          #expect(counts == expected, "\(name)")
          #expect(try await installation.counter() == before + expected.inserted)
        }
      }
      #expect(try await installation.value("SELECT items FROM scopes WHERE scope = ''") == 172 * names.count)
    }
  }
}
