package import Foundation
package import News
package import NewsStore

/// A page of a list with its items.
package struct ItemPage: Sendable {
  package var items: [NewsItem]
  package var next: Keyset?
  package var token: SyncToken
  package var modified: Date?
  package var feedVersion: FeedVersion
}

/// Reads with contents, as responses have them.
extension NewsStore {
  /// Reads a page from the database. If the windows have it too, both must be equal.
  package func items(_ query: ItemQuery) async throws -> ItemPage {
    while true {
      let page = try await page(query)
      // The primary may be away.
      if let snapshot = try? await snapshot(withWindowsOf: query.scope), snapshot.feedVersion == page.feedVersion,
        let other = snapshot.page(query), !other.isEqual(to: page)
      {
        throw TestResponse.Unexpected(description: "the windows give another page than the database")
      }
      guard let items = try await contents(page.items, html: query.includesHTML, page.feedVersion) else { continue }
      return ItemPage(
        items: items, next: page.next, token: page.token, modified: page.modified, feedVersion: page.feedVersion)
    }
  }

  /// Returns the current state, with the windows of a scope if they may be loaded.
  package func snapshot(withWindowsOf scope: Scope) async throws -> FeedSnapshot {
    let known = try await snapshot()
    return try await snapshot(after: known, withWindowsOf: scope) ?? known
  }

  /// Reads an item from the database.
  package func newsItem(_ id: UUID, html: Bool = false) async throws -> (item: NewsItem, feedVersion: FeedVersion) {
    while true {
      let found = try await item(id)
      guard let items = try await contents([found.item], html: html, found.feedVersion) else { continue }
      return (items[0], found.feedVersion)
    }
  }

  /// Reads changes as a client does that has checked its token: from memory if there are none.
  package func changeList(_ query: ChangeQuery) async throws -> ChangeList {
    while true {
      let since = query.since.flatMap { $0.position == nil ? $0 : nil }
      let snapshot = try await snapshot(in: query.scope, since: since)
      var page = snapshot.changes(query)
      if page == nil { page = try await changes(query) }
      guard let page else { continue }
      let wanted = page.changes.compactMap { change -> ItemVersion? in
        if case .put(let item) = change { item } else { nil }
      }
      guard var items = try await contents(wanted, html: query.includesHTML, page.feedVersion)?[...] else { continue }
      let changes = page.changes.map { change -> Change in
        switch change {
        case .put: .put(items.removeFirst())
        case .remove(let id, let reason): .remove(id: id, reason: reason)
        }
      }
      return ChangeList(
        changes: changes, more: page.more, snapshot: page.isSnapshot ? true : nil, token: page.token)
    }
  }

  private func contents(_ items: [ItemVersion], html: Bool, _ feedVersion: FeedVersion) async throws -> [NewsItem]? {
    let fragments = try await fragments(of: items, as: .json(html: html), epoch: feedVersion.epoch)
    return try fragments?.map { try NewsJSON.decode(NewsItem.self, from: Data($0)) }
  }
}

extension ListPage {
  /// Whether both pages give the same response.
  fileprivate func isEqual(to other: ListPage) -> Bool {
    items == other.items && next == other.next && token == other.token && modified == other.modified
  }
}
