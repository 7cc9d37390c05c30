import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// Entries whose names have stood for other entries.
@Suite struct ImportNameTests {
  /// An item that is stored, and an entry with its name that is read later.
  private struct Case: Sendable {
    /// The property that the stored item and the entry share, or not.
    var name: String
    var isSame: Bool
    var change: @Sendable (_ stored: inout ImportedItem, _ read: inout ImportedItem) -> Void
  }

  private static let address = "https://a.example/1"

  private static func entry(_ number: Int, revision: Int, link: Int?) -> ImportedItem {
    ImportedItem(
      id: UUID(number), source: "rss:a", guid: "latest", digest: Data([UInt8(revision)]),
      content: ItemContent(state: .published, date: .newYear, text: "text \(revision)", title: "Fog"),
      linkID: link.map { UUID($0) })
  }

  private static let cases = [
    Case(name: "content", isSame: true) { stored, read in
      read.digest = stored.digest
      read.content.title = "Ice"
      read.content.url = address
    },
    Case(name: "address", isSame: true) { stored, read in
      (stored.content.url, read.content.url) = (address, address)
      read.content.title = "Ice"
      read.content.date = Date.newYear + 60
    },
    Case(name: "address of a page that names the entry", isSame: false) { stored, read in
      (stored.content.url, read.content.url, read.isNamedByLink) = (address, address, true)
      read.content.title = "Ice"
    },
    Case(name: "title and date", isSame: true) { _, _ in },
    Case(name: "title", isSame: false) { _, read in
      read.content.date = Date.newYear + 60
    },
    Case(name: "title and date, of which only the first has an address", isSame: false) { stored, _ in
      stored.content.url = address
    },
    Case(name: "title and date, of which only the second has an address", isSame: false) { _, read in
      read.content.url = address
    },
    Case(name: "text without a title", isSame: true) { stored, read in
      (stored.content.title, read.content.title) = (nil, nil)
      read.content.text = stored.content.text
      read.content.date = Date.newYear + 60
    },
    Case(name: "no title", isSame: false) { stored, read in
      (stored.content.title, read.content.title) = (nil, nil)
    },
    Case(name: "text of an item with a title", isSame: false) { stored, read in
      read.content.title = nil
      read.content.text = stored.content.text
    },
    Case(name: "content of another source", isSame: false) { stored, read in
      stored.source = "rss:b"
      read.digest = stored.digest
    },
  ]

  @Test("A name that has stood for several entries is that of an item only if something else is the same")
  func distrusted() async throws {
    try await NewsDatabase.withStore { store, sql in
      for (index, parts) in Self.cases.enumerated() {
        let number = index + 1
        var stored = Self.entry(number, revision: 1, link: nil)
        var read = Self.entry(number, revision: 2, link: number + 100)
        parts.change(&stored, &read)
        _ = try await store.importItems([stored])
        _ = try await sql.query("INSERT INTO entry_names (name, item) VALUES (\(UUID(number)), NULL)")
        let counts = try await store.importItems([read])
        #expect((counts.inserted == 0) == parts.isSame, "\(parts.name)")
      }
    }
  }

  @Test("A name stays that of its item for an entry that has not changed, and for one that nothing else identifies")
  func trusted() async throws {
    @Sendable func entry(_ revision: Int, link: Int?) -> ImportedItem {
      var entry = Self.entry(1, revision: revision, link: link)
      (entry.content.title, entry.content.url) = ("Title \(revision)", "https://a.example/\(revision)")
      entry.content.date = Date.newYear + 60 * Double(revision)
      return entry
    }
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.importItems([entry(1, link: nil)])
      let counts = try await store.importItems([entry(2, link: nil), Self.entry(2, revision: 1, link: 12)])
      #expect(counts.updated == 1 && counts.inserted == 1)
      var same = entry(3, link: 11)
      same.digest = Data([2])
      #expect(try await store.importItems([same]).unchanged == 1)
      #expect(try await sql.value("SELECT count(*) FROM entry_names") == 0)
    }
  }
}
