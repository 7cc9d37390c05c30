import Logging
import PostgresClient

extension NewsStore {
  /// The interval between merges of new entries into the search index. A search reads all entries that are not merged.
  private static let mergeInterval: Duration = .milliseconds(500)

  /// Merges new entries into the search index whenever items were written, until the task is cancelled. Otherwise writers
  /// would do it, which delays them.
  func keepSearchIndexMerged() async {
    var merged: Writes?
    while !Task.isCancelled {
      let writes = Writes(version: stateCache.latest?.state.feedVersion, own: itemWrites.counts.entries)
      do {
        if merged != writes { try await mergeSearchIndex() }
        merged = writes
      } catch let error as PostgresError where error.sqlState == Self.insufficientPrivilege {
        logger.notice(
          "only the owner of the tables can merge the search index: writes will do so, and some of them will take longer"
        )
        return
      } catch {
        // The database is gone or busy.
      }
      try? await Task.sleep(for: Self.mergeInterval)
    }
  }

  /// The writes so far: those of all processes by the version, and those of this one also without a version.
  private struct Writes: Equatable {
    let version: FeedVersion?
    let own: Int
  }

  private static let insufficientPrivilege = "42501"

  /// Merges new entries into the search index (PostgreSQL, chapter 70.4.1).
  func mergeSearchIndex() async throws {
    _ = try await database.query("SELECT gin_clean_pending_list('items_by_search_and_day')")
  }
}
