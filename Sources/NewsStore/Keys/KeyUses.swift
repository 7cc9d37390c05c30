import PostgresClient
import Synchronization

/// The last uses of keys in this process, on their way to the database. A use costs no statement: a key is recorded at
/// most once in an interval.
package final class KeyUses: Sendable {
  /// A use that is to be recorded.
  package struct Use: Equatable, Sendable {
    /// The id of the key.
    package let key: String
    /// The time since the use.
    package let age: Duration

    package init(key: String, age: Duration) {
      self.key = key
      self.age = age
    }
  }

  private struct Entry {
    var used: ContinuousClock.Instant
    var isRecorded = false
    /// The time of the last record.
    var recorded: ContinuousClock.Instant?
  }

  /// The minimum time between two records of a key.
  package static var interval: Duration { .seconds(60) }

  private let entries = Mutex<[String: Entry]>([:])
  private let now: @Sendable () -> ContinuousClock.Instant

  package init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    self.now = now
  }

  /// The number of keys in memory, which were used or recorded within the last interval.
  package var count: Int { entries.withLock { $0.count } }

  /// Notes the use of an existing key.
  package func note(_ key: String) {
    let now = now()
    entries.withLock { $0[key] = Entry(used: now, recorded: $0[key]?.recorded) }
  }

  /// Takes the uses that are to be recorded now.
  ///
  /// - Parameter all: Whether to take a use although its key was recorded less than an interval ago.
  package func take(all: Bool) -> [Use] {
    let now = now()
    return entries.withLock { entries in
      var uses: [Use] = []
      for (key, entry) in entries {
        let isDue = entry.recorded.map { now - $0 >= Self.interval } ?? true
        if !entry.isRecorded, isDue || all {
          uses.append(Use(key: key, age: now - entry.used))
          entries[key] = Entry(used: entry.used, isRecorded: true, recorded: now)
        } else if entry.isRecorded, isDue {
          entries[key] = nil
        }
      }
      return uses
    }
  }

  /// Puts uses back that could not be recorded. They are due after the next interval.
  package func putBack(_ uses: [Use]) {
    entries.withLock { entries in
      for use in uses { entries[use.key]?.isRecorded = false }
    }
  }
}

extension NewsStore {
  /// The interval at which due uses are looked for. It bounds the delay of a key's first use.
  private static let keyUseStep: Duration = .seconds(5)

  /// Records the last uses of keys until the task is cancelled, and the remaining ones at the end.
  func keepKeyUses() async {
    while (try? await Task.sleep(for: Self.keyUseStep)) != nil { await recordKeyUses() }
    // The statements of a cancelled task are cancelled.
    await Task { await recordKeyUses(all: true) }.value
  }

  /// Records the last uses of keys that are due. Uses that cannot be recorded now are recorded later.
  ///
  /// - Parameter all: Whether to record keys that were recorded less than a minute ago too.
  package func recordKeyUses(all: Bool = false) async {
    let uses = keyUses.take(all: all)
    guard !uses.isEmpty else { return }
    do {
      // In a transaction, which is repeated after a deadlock with another process.
      try await database.transaction { transaction in
        _ = try await transaction.query(
          """
          UPDATE api_keys AS k
          SET used_at = greatest(k.used_at, clock_timestamp() - make_interval(secs => u.age))
          FROM unnest(\(uses.map(\.key)), \(uses.map { $0.age / .seconds(1) })) AS u (id, age) WHERE k.id = u.id
          """)
      }
    } catch {
      keyUses.putBack(uses)
    }
  }
}
