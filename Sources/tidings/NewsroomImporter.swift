import Foundation
import News
import NewsFollower
import NewsStore

/// Restores the records of a newsroom in the order of its export. Records of the same kind are written in chunks, one after
/// the other, because the later ones need the earlier ones.
final class NewsroomImporter {
  /// The number of records in a chunk. Other publishers wait while a chunk of items is published, for about 50 ms.
  private static let chunk = 250

  private enum Chunk {
    case none
    case topics([(slug: String, content: TopicContent, revision: Int)])
    case media([Media])
    case withdrawals([(id: UUID, reason: MediaWithdrawal)])
    case items([RestoredItem])
    case subscriptions([RestoredSubscription])
    case history([RestoredWrite])
  }

  private(set) var counts = ImportCounts()
  private let store: NewsStore
  private let now: Date
  private var chunk = Chunk.none
  private var hasHistory = false
  /// The items that this import has created. The history of others is their own.
  private var created: Set<UUID> = []

  /// - Parameter now: The latest date of a published item. A later one is replaced by it.
  init(store: NewsStore, now: Date) {
    self.store = store
    self.now = now
  }

  /// Adds a record, and writes a complete chunk.
  ///
  /// - Returns: A note for the user; nil if there is nothing to say.
  /// - Throws: `StoreError`.
  func add(_ record: NewsroomRecord) async throws -> String? {
    var note: String?
    switch (record, chunk) {
    case (.header(let history), _): hasHistory = history
    case (.topic(let slug, let content, let revision), .topics(let list)) where list.count < Self.chunk:
      chunk = .topics(list + [(slug, content, revision)])
    case (.media(let file), .media(let list)) where list.count < Self.chunk: chunk = .media(list + [file])
    case (.withdrawnMedia(let id, let reason), .withdrawals(let list)) where list.count < Self.chunk:
      chunk = .withdrawals(list + [(id, reason)])
    case (.item(let item), .items(let list)) where list.count < Self.chunk:
      let (item, reason) = dated(item)
      note = reason
      chunk = .items(list + [item])
    case (.subscription(let subscription), .subscriptions(let list)) where list.count < Self.chunk:
      chunk = .subscriptions(list + [subscription])
    case (.history(let write), .history(let list)) where list.count < Self.chunk:
      if created.contains(write.item) { chunk = .history(list + [write]) }
    default:
      try await flush()
      chunk = Self.emptyChunk(for: record)
      return try await add(record)
    }
    return note
  }

  private static func emptyChunk(for record: NewsroomRecord) -> Chunk {
    switch record {
    case .header: .none
    case .topic: .topics([])
    case .media: .media([])
    case .withdrawnMedia: .withdrawals([])
    case .item: .items([])
    case .subscription: .subscriptions([])
    case .history: .history([])
    }
  }

  /// Writes the records that have not been written yet.
  func flush() async throws {
    defer { chunk = .none }
    switch chunk {
    case .none: break
    case .topics(let topics): try await store.restoreTopics(topics)
    case .media(let files): try await store.restoreMedia(files)
    case .withdrawals(let files): try await store.restoreWithdrawals(files)
    case .items(let items): try await restore(items)
    case .subscriptions(let subscriptions): try await store.restoreSubscriptions(subscriptions)
    case .history(let writes): try await store.restoreHistory(writes)
    }
  }

  private func restore(_ items: [RestoredItem]) async throws {
    // The first of several lines with the same id counts.
    var ids: Set<UUID> = []
    let different = items.filter { ids.insert($0.id).inserted }
    let (created, existing) = try await store.restoreItems(different, keepingHistory: hasHistory)
    self.created.formUnion(created)
    counts.inserted += created.count
    counts.unchanged += existing.count
    counts.skipped += items.count - created.count - existing.count
  }

  private func dated(_ item: RestoredItem) -> (RestoredItem, String?) {
    guard item.content.state == .published, let date = item.content.date, date > now else { return (item, nil) }
    var item = item
    item.content.date = RFC3339.truncated(now)
    return (
      item,
      "\(item.id.uuidString.lowercased()): the date \(RFC3339.string(from: date)) is in the future; the current time is used"
    )
  }
}
