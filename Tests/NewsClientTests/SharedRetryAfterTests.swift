import BackgroundFetch
import FaultServer
import Foundation
import HTTPTransfer
import NewsClient
import TestKit
import Testing

@Suite("Retry-After of a server") struct SharedRetryAfterTests {
  /// A store whose fetches and transfers use the same server.
  private struct Store {
    let server: FaultServer
    let folder: URL
    var clock = ManualClock()

    /// Runs the body with an empty store and a server with the handler.
    static func with(
      _ handler: @escaping @Sendable (FaultRequest) -> FaultResponse, _ body: (Store) async throws -> Void
    ) async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-shared-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      try await FaultServer.with(handler) { try await body(Store(server: $0, folder: folder)) }
    }

    func client() throws -> NewsFetcher {
      let url = try #require(URL(string: server.url))
      return try NewsFetcher(
        .init(folder: folder, feed: FollowedFeed(server: url), userAgent: "tests/1"),
        application: ApplicationLifecycle(launchReason: .fetch, clock: clock), clock: clock)
    }

    /// Starts a download to a file of the store.
    func download(_ address: String, to name: String) throws -> Int64 {
      let url = try #require(URL(string: address))
      let journal = try TransferJournal(store: folder)
      let number = try journal.add(TransferRequest(download: url, to: folder.appending(path: name))).number
      try journal.resume(number, at: clock.now)
      return number
    }

    /// Runs a worker until a condition is true, while the clock advances.
    func work(until what: String, _ condition: () async throws -> Bool) async throws {
      let worker = try TransferWorker(store: folder, userAgent: "tests/1", clock: clock)
      let task = Task { try await worker.run() }
      try await eventually(what) {
        clock.advance(by: 0.2)
        return try await condition()
      }
      task.cancel()
      _ = try await task.value
    }

    func state(_ number: Int64) throws -> Transfer.State? {
      try TransferJournal(store: folder).transfer(number)?.state
    }
  }

  @Test("in a response to a transfer delays other transfers and fetches from that server")
  func transferDelaysFetches() async throws {
    try await Store.with({ _ in .busy(429, retryAfter: .seconds(3600)) }) { store in
      let url = try #require(URL(string: store.server.url + "/file"))
      let waits = RetryAfterStore(store: store.folder, clock: store.clock)
      _ = try store.download(store.server.url + "/file", to: "output.bin")
      // The worker must have received the response, not only sent the request.
      try await store.work(until: "the transfer has been refused") { waits.remaining(for: url) > 0 }
      #expect(store.server.requests.count == 1)
      _ = try store.download(store.server.url + "/file", to: "other.bin")
      let start = store.clock.now
      try await store.work(until: "20 seconds have passed") { store.clock.now.seconds(since: start) > 20 }
      #expect(store.server.requests.count == 1)
      let client = try store.client()
      #expect(await client.performFetch().result == .failed)
      #expect(store.server.requests.count == 1)
      store.clock.advance(by: 3600)
      #expect(await client.performFetch().requests == 1)
    }
  }

  @Test("binds no other server that the same store follows, and is shown")
  func otherServer() async throws {
    try await Store.with({ _ in .busy(503, retryAfter: .text("99999999999999999999")) }) { wrong in
      let feed = FaultFeed()
      feed.publish("one")
      try await FaultServer.with(feed.respond) { server in
        let right = Store(server: server, folder: wrong.folder, clock: wrong.clock)
        let client = try right.client()
        try client.updateSchedule { $0.setInterval(.minimum) }
        #expect(await client.performFetch().inserted == 1)
        let report = await (try wrong.client()).performFetch()
        #expect(report.failure?.kind == .refused(until: wrong.clock.now.date + 86_400))
        wrong.clock.advance(by: 3600)
        feed.publish("two")
        #expect(await client.performFetch().inserted == 1)
        if case .wait(_, .hold) = try client.schedule.decision(at: wrong.clock.now) {
          Issue.record("the wait of the other server binds the schedule")
        }
        #expect(try client.schedule.holdRemaining(at: wrong.clock.now) == .zero)
        #expect(try wrong.client().schedule.holdRemaining(at: wrong.clock.now) == .seconds(82_800))
        let waits = client.serverWaits
        #expect(waits.map(\.origin) == [wrong.server.url])
        #expect(waits.map(\.until) == [wrong.clock.now.date + 82_800])
        let busy = try #require(URL(string: "https://busy.example/"))
        RetryAfterStore(store: wrong.folder, clock: wrong.clock).delay(busy, seconds: 86_400)
        #expect(client.serverWaits.map(\.origin) == ["https://busy.example:443", wrong.server.url])
        wrong.clock.advance(by: 82_800)
        #expect(client.serverWaits.map(\.origin) == ["https://busy.example:443"])
      }
    }
  }

  @Test("in a response to a fetch delays transfers from that server, in other processes too, and from no other server")
  func fetchDelaysTransfers() async throws {
    let handler: @Sendable (FaultRequest) -> FaultResponse = { request in
      request.path.hasPrefix("/v1/")
        ? .busy(503, retryAfter: .seconds(1000))
        : FaultResponse(headers: [("Content-Type", "application/octet-stream")], body: Data("content".utf8))
    }
    try await Store.with(handler) { store in
      #expect(await (try store.client()).performFetch().result == .failed)
      let held = try store.download(store.server.url + "/file", to: "output.bin")
      let free = try store.download("http://localhost:\(store.server.port)/free", to: "free.bin")
      try await store.work(until: "the other server has answered") { try store.state(free) == .finished }
      #expect(store.server.requests.map(\.path) == ["/v1/items", "/free"])
      store.clock.advance(by: 1000)
      try await store.work(until: "the wait is over") { try store.state(held) == .finished }
    }
  }
}
