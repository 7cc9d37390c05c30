import Foundation
import NewsStore
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// The last uses of keys.
@Suite struct KeyUsesTests {
  /// Uses at a time that a test sets.
  private final class Clock: Sendable {
    let now = Mutex(ContinuousClock.now)

    var uses: KeyUses { KeyUses { self.now.withLock { $0 } } }

    func advance(_ time: Duration) { now.withLock { $0 += time } }
  }

  @Test("The first use of a key is due at once, further ones a minute after the last record")
  func interval() {
    let clock = Clock()
    let uses = clock.uses
    #expect(uses.take(all: false).isEmpty)
    uses.note("a")
    clock.advance(.seconds(2))
    #expect(uses.take(all: false) == [.init(key: "a", age: .seconds(2))])
    #expect(uses.take(all: true).isEmpty)
    for _ in 0..<59 {
      uses.note("a")
      clock.advance(.seconds(1))
      #expect(uses.take(all: false).isEmpty)
    }
    clock.advance(.seconds(1))
    #expect(uses.take(all: false) == [.init(key: "a", age: .seconds(2))])
  }

  @Test("At the end, the last use is taken although its key was just recorded")
  func end() {
    let clock = Clock()
    let uses = clock.uses
    for key in ["a", "b"] { uses.note(key) }
    #expect(uses.take(all: false).count == 2)
    clock.advance(.seconds(1))
    uses.note("b")
    #expect(uses.take(all: true) == [.init(key: "b", age: .zero)])
  }

  @Test("A use that could not be recorded is due again, and one that has followed meanwhile replaces it")
  func failure() {
    let clock = Clock()
    let uses = clock.uses
    uses.note("a")
    uses.note("b")
    let taken = uses.take(all: false)
    clock.advance(.seconds(10))
    uses.note("b")
    uses.putBack(taken)
    #expect(uses.take(all: false).isEmpty)
    clock.advance(.seconds(50))
    #expect(uses.take(all: false).map(\.age).sorted() == [.seconds(50), .seconds(60)])
  }

  @Test("A key that is no longer used occupies no memory")
  func memory() {
    let clock = Clock()
    let uses = clock.uses
    for number in 0..<100 { uses.note("\(number)") }
    _ = uses.take(all: false)
    #expect(uses.count == 100)
    uses.note("7")
    clock.advance(.seconds(60))
    _ = uses.take(all: false)
    #expect(uses.count == 1)
  }

  @Test("A use is recorded by the database's clock, without a statement of its own, and notifies nobody")
  func recorded() async throws {
    try await NewsDatabase.with { url in
      let connection = PostgresConfiguration.forBusyMachine(url)
      let store = NewsStore(connection: connection, pool: .forBusyMachine, logger: NewsDatabase.logger)
      try await withResource(store, release: { await $0.shutdown() }) { store in
        let key = try await store.createKey(name: "desk", permissions: [.itemsWrite])
        let other = try await store.createKey(name: "other", permissions: [.itemsWrite])
        try await store.revokeKey(try await store.key("other").id)
        func lastUse() async throws -> Date? { try await store.key("desk").lastUse }
        let payloads = try await notifications(url) { () async throws in
          for _ in 0..<3 { #expect(try await store.authenticate(key) != nil) }
          #expect(try await store.authenticate(other) == nil)
          #expect(try await store.authenticate(String(key.dropLast()) + "x") == nil)
          #expect(try await lastUse() == nil)
          await store.recordKeyUses()
        }
        #expect(payloads.isEmpty)
        let first = try #require(try await lastUse())
        #expect(try await store.key("other").lastUse == nil)
        #expect(try await store.keys().first?.created ?? .distantFuture <= first)

        #expect(try await store.authenticate(key) != nil)
        await store.recordKeyUses()
        #expect(try await lastUse() == first)
        await store.recordKeyUses(all: true)
        #expect(try #require(try await lastUse()) > first)
      }
    }
  }

  @Test("A server that stops records the uses of the last minute")
  func shutdown() async throws {
    try await NewsDatabase.withStore { store, _ in
      let key = try await store.createKey(name: "desk", permissions: [.itemsWrite])
      #expect(try await store.authenticate(key) != nil)
      await store.recordKeyUses()
      let first = try #require(try await store.key("desk").lastUse)
      #expect(try await store.authenticate(key) != nil)
      let following = Task { await store.follow() }
      try await eventually("it follows") { store.remembersKeys }
      following.cancel()
      await following.value
      #expect(try #require(try await store.key("desk").lastUse) > first)
    }
  }
}
