import NewsStore
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// Keys that are remembered between requests.
@Suite struct SecretLookupsTests {
  /// Look-ups in a table of keys by id, at a time that a test sets.
  private final class Lookups: Sendable {
    let now = Mutex(ContinuousClock.now)
    let keys = Mutex(["a": "key"])
    let queries = Mutex(0)
    /// The time after which a key changes by itself.
    let unchangedTime = Mutex<Duration?>(nil)
    /// Runs during a query, after it has read the table.
    let interruption = Mutex<@Sendable () -> Void>({})

    var lookups: SecretLookups<String, String> {
      SecretLookups(now: { self.now.withLock { $0 } }, unchangedTime: { _ in self.unchangedTime.withLock { $0 } }) {
        ids in
        self.queries.withLock { $0 += 1 }
        let found = self.keys.withLock { keys in keys.filter { ids.contains($0.key) } }
        self.interruption.withLock { $0 }()
        return found
      }
    }

    func count() -> Int { queries.withLock { $0 } }
  }

  @Test("A key is remembered for less than a second, and only while revocations are heard of")
  func lifetime() async throws {
    let table = Lookups()
    let lookups = table.lookups
    func find() async throws -> String? { try await lookups.value("a", waitingAtMost: .seconds(60)) }
    #expect(try await (find(), find()) == ("key", "key"))
    #expect(table.count() == 2)
    lookups.remembers = true
    _ = try await find()
    #expect(table.count() == 3)
    table.now.withLock { $0 += .milliseconds(999) }
    #expect(try await find() == "key")
    #expect(table.count() == 3)
    table.now.withLock { $0 += .milliseconds(1) }
    #expect(try await find() == "key")
    #expect(table.count() == 4)
    lookups.remembers = false
    _ = try await find()
    #expect(table.count() == 5)
  }

  @Test("The second begins with the query, not with its answer")
  func slowQuery() async throws {
    let table = Lookups()
    let lookups = table.lookups
    lookups.remembers = true
    table.interruption.withLock { $0 = { table.now.withLock { $0 += .milliseconds(1500) } } }
    _ = try await lookups.value("a", waitingAtMost: .seconds(60))
    _ = try await lookups.value("a", waitingAtMost: .seconds(60))
    #expect(table.count() == 2)
  }

  @Test("A revocation is effective at once, also for a key that a running query has read before it")
  func revocation() async throws {
    let table = Lookups()
    let lookups = table.lookups
    lookups.remembers = true
    func find() async throws -> String? { try await lookups.value("a", waitingAtMost: .seconds(60)) }
    _ = try await find()
    table.keys.withLock { $0 = [:] }
    lookups.forget()
    #expect(try await find() == nil)
    table.keys.withLock { $0 = ["a": "key"] }
    table.interruption.withLock {
      $0 = {
        table.keys.withLock { $0 = [:] }
        lookups.forget()
      }
    }
    #expect(try await find() == "key")
    #expect(try await find() == nil)
  }

  @Test("A key is not remembered beyond the time at which it changes by itself, as by its expiry")
  func expiry() async throws {
    let table = Lookups()
    let lookups = table.lookups
    lookups.remembers = true
    func find() async throws -> String? { try await lookups.value("a", waitingAtMost: .seconds(60)) }
    table.unchangedTime.withLock { $0 = .milliseconds(300) }
    _ = try await find()
    table.now.withLock { $0 += .milliseconds(299) }
    _ = try await find()
    #expect(table.count() == 1)
    table.now.withLock { $0 += .milliseconds(1) }
    _ = try await find()
    #expect(table.count() == 2)
    // A time that is far ahead does not prolong the memory.
    lookups.forget()
    table.unchangedTime.withLock { $0 = .seconds(3600) }
    _ = try await find()
    table.now.withLock { $0 += .seconds(1) }
    _ = try await find()
    #expect(table.count() == 4)
  }

  @Test("Ids that arrive during queries share the next ones, in the order of their arrival and not too many at a time")
  func batches() async throws {
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    let gateIsOpen = Task { for await _ in gate {} }
    let queries = Mutex<[[Int]]>([])
    let lookups = SecretLookups<Int, Int> { ids in
      queries.withLock { $0.append(ids) }
      await gateIsOpen.value
      return ids.reduce(into: [:]) { $0[$1] = -$1 }
    }
    let count = 2 + SecretLookups<Int, Int>.maximumIDs + 10
    var callers: [Task<Int?, any Error>] = []
    for id in 0..<count {
      callers.append(Task { try await lookups.value(id, waitingAtMost: .seconds(60)) })
      try await eventually("it waits") { lookups.callers == id + 1 }
    }
    let again = Task { try await lookups.value(count - 1, waitingAtMost: .seconds(60)) }
    try await eventually("it waits, too") { lookups.callers == count + 1 }
    opening.finish()
    for (id, caller) in callers.enumerated() { #expect(try await caller.value == -id) }
    #expect(try await again.value == 1 - count)
    let found = queries.withLock { $0 }.sorted { $0[0] < $1[0] }
    #expect(found == [[0], [1], Array(2..<count - 10), Array(count - 10..<count)])
  }

  @Test("A key that does not exist is never remembered")
  func unknownKey() async throws {
    let table = Lookups()
    let lookups = table.lookups
    lookups.remembers = true
    #expect(try await lookups.value("b", waitingAtMost: .seconds(60)) == nil)
    table.keys.withLock { $0["b"] = "new" }
    #expect(try await lookups.value("b", waitingAtMost: .seconds(60)) == "new")
  }

  @Test("A remembered key needs no query, and is refused when it expires and soon after any process has revoked it")
  func otherProcess() async throws {
    try await NewsDatabase.with { url in
      let connection = PostgresConfiguration.forBusyMachine(url)
      let store = NewsStore(
        connection: connection, pool: .forBusyMachine, waits: NewsStore.WaitLimits(), keyLifetime: .seconds(3600),
        logger: NewsDatabase.logger)
      let sql = PostgresPool(configuration: connection, pool: .forBusyMachine, logger: NewsDatabase.logger)
      try await withResource(sql, release: { await $0.shutdown() }) { sql in
        try await withResource(store, release: { await $0.shutdown() }) { store in
          let following = Task { await store.follow() }
          defer { following.cancel() }
          let key = try await store.createKey(name: "desk", permissions: [.itemsWrite])
          try await eventually("revocations are heard of") { store.remembersKeys }
          #expect(try await store.authenticate(key)?.name == "desk")
          try await sql.transaction { transaction in
            _ = try await transaction.query("LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE")
            #expect(try await store.authenticate(key)?.name == "desk")
          }
          // It expires, or its secret ends, while it is remembered.
          for change: PostgresQuery in [
            "expires_at = clock_timestamp() + interval '1 second'",
            "previous_digest = digest, digest = 'x', previous_until = clock_timestamp() + interval '1 second'",
          ] {
            _ = try await sql.query("UPDATE api_keys SET \(query: change)")
            try await eventually("the key is refused") { try await store.authenticate(key) == nil }
            _ = try await sql.query(
              """
              UPDATE api_keys SET expires_at = NULL, digest = coalesce(previous_digest, digest), previous_digest = NULL,
                previous_until = NULL
              """)
            try await eventually("the key works again") { try await store.authenticate(key) != nil }
          }
          _ = try await sql.query("UPDATE api_keys SET revoked_at = clock_timestamp()")
          try await eventually("the key is refused") { try await store.authenticate(key) == nil }
        }
      }
    }
  }
}
