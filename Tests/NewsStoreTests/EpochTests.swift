import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct EpochTests {
  /// Runs the body with a store and plain SQL on a database.
  private func withStore<Value: Sendable>(
    _ url: String, _ body: @Sendable (NewsStore, PostgresPool) async throws -> Value
  ) async throws -> Value {
    let connection = PostgresConfiguration(connectionString: url)
    let store = NewsStore(connection: connection, logger: NewsDatabase.logger)
    let sql = PostgresPool(configuration: connection, logger: NewsDatabase.logger)
    return try await withResource(store, release: { await $0.shutdown() }) { store in
      try await withResource(sql, release: { await $0.shutdown() }) { try await body(store, $0) }
    }
  }

  /// Copies a database without connections, as a clone for staging is made.
  private func withClone<Value: Sendable>(
    of url: String, _ body: @Sendable (String) async throws -> Value
  ) async throws -> Value {
    let name = try #require(URLComponents(string: url)).path.dropFirst()
    return try await withTestDatabase(template: String(name), body)
  }

  private func expiry(_ store: NewsStore, _ token: SyncToken) async -> TokenExpiry? {
    do {
      _ = try await store.changeList(ChangeQuery(since: token))
    } catch StoreError.tokenExpired(let reason, _) {
      return reason
    } catch {
      Issue.record(error)
    }
    return nil
  }

  /// Returns the token of the feed. Retries once, because the pool may still return a connection that has just ended.
  private func stateOnceAvailable(_ store: NewsStore) async throws -> SyncToken {
    do {
      return try await store.snapshot().state(of: .feed).feed
    } catch StoreError.unavailable {
      return try await store.snapshot().state(of: .feed).feed
    }
  }

  private func texts(_ list: ChangeList) -> [String] {
    list.changes.map { change in
      if case .put(let item) = change { item.text } else { "gone" }
    }
  }

  @Test("The token of a page that omits items changed later expires in a history that forked before those changes")
  func forkInTheMiddle() async throws {
    try await NewsDatabase.with { original in
      try await withStore(original) { _, sql in
        for number in 1...3 { try await sql.publish([UUID(number)], text: "\(number)") }
      }
      try await withClone(of: original) { clone in
        let tokens = try await withStore(original) { store, sql in
          _ = try await sql.transaction { transaction in
            _ = try await transaction.query("UPDATE items SET text = '1 again' WHERE id = \(UUID(1))")
            _ = try await transaction.query("SELECT publish(\([UUID(1)]))")
          }
          let epoch = try await store.snapshot().state(of: .feed).feed.epoch
          let start = SyncToken(epoch: epoch, scope: .feed, version: 0)
          let snapshot = try await store.changeList(ChangeQuery(limit: 1))
          let delta = try await store.changeList(ChangeQuery(since: start, limit: 1))
          for page in [snapshot, delta] {
            #expect(texts(page) == ["2"])
            #expect(page.token.isPartial)
            #expect(try await texts(store.changeList(ChangeQuery(since: page.token))) == ["3", "1 again"])
          }
          return [snapshot.token, delta.token]
        }
        try await withStore(clone) { store, _ in
          // In the clone, the version of the first item is below the position.
          for token in tokens { #expect(await expiry(store, token) == .epoch) }
        }
      }
    }
  }

  @Test("A copy begins an epoch at the first connection; tokens of the original are valid only up to the fork")
  func clone() async throws {
    try await NewsDatabase.with { original in
      let fork = try await withStore(original) { store, sql in
        for number in 1...3 { try await sql.publish([UUID(number)], text: "\(number)") }
        return try await store.snapshot().state(of: .feed).feed
      }
      try await withClone(of: original) { clone in
        let later = try await withStore(original) { store, sql in
          try await sql.publish([UUID(4)], text: "original")
          return try await store.snapshot().state(of: .feed).feed
        }
        #expect(later.epoch == fork.epoch)
        try await withStore(clone) { store, sql in
          let epochs = { try await sql.value("SELECT count(*) FROM epochs", as: Int.self) }
          let before = try await epochs()
          let state = try await store.snapshot().state(of: .feed).feed
          #expect(state.epoch != fork.epoch)
          #expect(state.version == fork.version)
          #expect(try await epochs() == before + 1)
          // The token is refused at once, and also after the clone has used the same version for another change.
          #expect(await expiry(store, later) == .epoch)
          try await sql.publish([UUID(5)], text: "clone")
          #expect(await expiry(store, later) == .epoch)
          #expect(texts(try await store.changeList(ChangeQuery(since: fork))) == ["clone"])
        }
      }
    }
  }

  @Test("In a chain of copies, a token is valid up to the first fork after it")
  func chain() async throws {
    try await NewsDatabase.with { original in
      let first = try await withStore(original) { store, sql in
        try await sql.publish([UUID(1)], text: "1")
        return try await store.snapshot().state(of: .feed).feed
      }
      try await withClone(of: original) { clone in
        let second = try await withStore(clone) { store, sql in
          try await sql.publish([UUID(2)], text: "2")
          return try await store.snapshot().state(of: .feed).feed
        }
        try await withClone(of: clone) { copy in
          try await withStore(copy) { store, sql in
            try await sql.publish([UUID(3)], text: "3")
            #expect(texts(try await store.changeList(ChangeQuery(since: first))) == ["2", "3"])
            #expect(texts(try await store.changeList(ChangeQuery(since: second))) == ["3"])
            let beyond = SyncToken(epoch: first.epoch, scope: .feed, version: first.version + 1)
            #expect(await expiry(store, beyond) == .epoch)
            #expect(await expiry(store, SyncToken(epoch: second.epoch, scope: .feed, version: 3)) == .epoch)
          }
        }
      }
    }
  }

  @Test("A cut ends the chain: older tokens expire, and newer ones are valid")
  func cut() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.publish([UUID(1)])
      let old = try await store.snapshot().state(of: .feed).feed
      let epoch: String = try await sql.value("SELECT begin_epoch(true)")
      #expect(await expiry(store, old) == .epoch)
      #expect(await expiry(store, SyncToken(epoch: old.epoch, scope: .feed, version: 0)) == .epoch)
      let new = try await store.snapshot().state(of: .feed).feed
      #expect(new.epoch == epoch)
      #expect(new.version == old.version)
      #expect(try await store.changeList(ChangeQuery(since: new)).changes.isEmpty)
    }
  }

  @Test("Eight stores that connect to a copy at once begin one epoch")
  func concurrentStores() async throws {
    try await NewsDatabase.with { url in
      let connection = PostgresConfiguration(connectionString: url)
      let sql = PostgresPool(configuration: connection, logger: NewsDatabase.logger)
      let before: Int = try await sql.value("SELECT count(*) FROM epochs")
      let epochs = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 1...8 {
          group.addTask {
            try await withStore(url) { store, _ in try await store.snapshot().state(of: .feed).feed.epoch }
          }
        }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(epochs.count == 1)
      #expect(try await sql.value("SELECT count(*) FROM epochs") == before + 1)
      await sql.shutdown()
    }
  }

  @Test("A further connection to the same history begins no epoch")
  func sameHistory() async throws {
    try await NewsDatabase.with { url in
      let first = try await withStore(url) { store, _ in try await store.snapshot().state(of: .feed).feed }
      let second = try await withStore(url) { store, _ in try await store.snapshot().state(of: .feed).feed }
      #expect(first == second)
    }
  }

  @Test("A store that has seen a higher version begins an epoch after a rewind, even on a new connection")
  func rewound() async throws {
    try await NewsDatabase.withStore { store, sql in
      for number in 1...3 { try await sql.publish([UUID(number)], text: "\(number)") }
      let seen = try await store.snapshot().state(of: .feed).feed
      _ = try await sql.query("DELETE FROM change_log WHERE version > 1")
      _ = try await sql.query("UPDATE scopes SET version = 1")
      try await sql.endOtherSessions()
      let now = try await stateOnceAvailable(store)
      #expect(now.epoch != seen.epoch)
      #expect(now.version == 1)
      #expect(await expiry(store, seen) == .epoch)
      let shared = SyncToken(epoch: seen.epoch, scope: .feed, version: 1)
      #expect(try await store.changeList(ChangeQuery(since: shared)).changes.isEmpty)
    }
  }
}
