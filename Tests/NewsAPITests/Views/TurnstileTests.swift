import NewsAPI
import NewsStore
import Synchronization
import TestSupport
import Testing

@Suite struct TurnstileTests {
  private final class Inside: Sendable {
    private let counts = Mutex((now: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }

    func enter() {
      counts.withLock { counts in
        counts.now += 1
        counts.most = max(counts.most, counts.now)
      }
    }

    func leave() { counts.withLock { $0.now -= 1 } }
  }

  @Test("No more are inside than may be, and all come in, also after errors")
  func width() async throws {
    struct Failure: Error {}
    let turnstile = Turnstile(width: 3)
    let inside = Inside()
    let passed = Count()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          try? await turnstile.pass {
            inside.enter()
            await Task.yield()
            inside.leave()
            _ = passed.next()
            if number.isMultiple(of: 3) { throw Failure() }
          }
        }
      }
    }
    #expect(passed.value == 200)
    #expect(1...3 ~= inside.most)
  }

  @Test("Where too many wait, one more is sent away")
  func queue() async throws {
    let turnstile = Turnstile(width: 1, longestQueue: 1)
    let (door, opening) = AsyncStream.makeStream(of: Void.self)
    let (entered, entering) = AsyncStream.makeStream(of: Void.self)
    async let first: Void = turnstile.pass {
      entering.finish()
      for await _ in door {}
    }
    for await _ in entered {}
    let (outcomes, told) = AsyncStream.makeStream(of: Bool.self)
    let others = (0..<2).map { _ in
      Task { _ = told.yield((try? await turnstile.pass {}) != nil) }
    }
    var iterator = outcomes.makeAsyncIterator()
    // One of them waits, the other is sent away at once.
    #expect(await iterator.next() == false)
    opening.finish()
    try await first
    #expect(await iterator.next() == true)
    for other in others { await other.value }
  }
}
