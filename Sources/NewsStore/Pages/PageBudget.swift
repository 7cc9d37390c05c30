import PostgresClient

/// The size limit of a JSON page, 1 MiB. A page is cut by the sizes in the log, which are upper bounds. All replicas
/// therefore cut a page alike, whatever each has in memory.
enum PageBudget {
  /// The limit in bytes: 1 MiB less the JSON around the items.
  static let bytes = 1_048_576 - 1024

  /// Returns the number of leading entries that a page can have.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of entries.
  ///   - size: The maximum size of an entry in bytes. The first one always fits, because writes limit a single item.
  static func count<Entry>(_ entries: some Collection<Entry>, limit: Int, size: (Entry) -> Int) -> Int {
    var (count, total) = (0, 0)
    for entry in entries.prefix(limit) {
      total += size(entry)
      guard count == 0 || total <= bytes else { break }
      count += 1
    }
    return count
  }
}
