import FaultServer
import Foundation
import GRDB
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("The launch of an app whose transfers have ended") struct LaunchTests {
  /// A delegate that records the ends of transfers.
  private final class Ends: TransferDelegate {
    private let states = Mutex<[Transfer.State]>([])
    var all: [Transfer.State] { states.withLock(\.self) }
    func transfer(_ task: TransferTask, didEndAs transfer: Transfer) { states.withLock { $0.append(transfer.state) } }
  }

  /// The sessions whose apps were launched.
  private final class Launches: Sendable {
    private let sessions = Mutex<[String]>([])
    var all: [String] { sessions.withLock(\.self) }
    func add(_ session: String) { sessions.withLock { $0.append(session) } }
  }

  private func session(
    _ fixture: TransferFixture, _ identifier: String = "media", _ ends: Ends = Ends(), sendsLaunchEvents: Bool = true
  ) throws -> TransferSession {
    try TransferSession(
      identifier: identifier, store: fixture.folder, delegate: ends, sendsLaunchEvents: sendsLaunchEvents
    ) {}
  }

  /// Adds transfers to a session, and ends the app.
  private func leave(
    _ fixture: TransferFixture, _ identifier: String = "media", count: Int = 1, sendsLaunchEvents: Bool = true
  ) async throws {
    let app = try session(fixture, identifier, sendsLaunchEvents: sendsLaunchEvents)
    for _ in 0..<count { try app.transfer(TransferRequest(download: fixture.url)).resume() }
    await app.invalidate()
  }

  /// Runs a worker to its end.
  private func work(_ fixture: TransferFixture, _ launches: Launches) async throws {
    try await work(fixture) { launches.add($0) }
  }

  private func work(_ fixture: TransferFixture, launching launch: @escaping @Sendable (String) -> Void) async throws {
    let worker = try TransferWorker(
      store: fixture.folder, userAgent: "tests/1", clock: fixture.clock, launchOwner: launch)
    let hasEnded = Mutex(false)
    let task = Task {
      defer { hasEnded.withLock { $0 = true } }
      try await worker.run()
    }
    try await fixture.eventually("the worker ends") { hasEnded.withLock(\.self) }
    try await task.value
  }

  private func isWorkerNeeded(_ fixture: TransferFixture) throws -> Bool {
    try TransferJournal.needsWorker(store: fixture.folder, clock: fixture.clock)
  }

  @Test("happens once, when all transfers of the session have ended, and not while the app runs")
  func once() async throws {
    try await TransferFixture.with { fixture in
      let launches = Launches()
      try await leave(fixture, count: 2)
      let open = try session(fixture, "open")
      try open.transfer(TransferRequest(download: fixture.url)).resume()
      try await work(fixture, launches)
      #expect(try fixture.journal.transfers().allSatisfy { $0.state == .finished })
      #expect(launches.all == ["media"])
      let ends = Ends()
      let again = try session(fixture, "media", ends)
      try await eventually("the events arrive") { ends.all == [.finished, .finished] }
      await again.invalidate()
      await open.invalidate()
    }
  }

  @Test("waits for the last transfer of the session, and for no transfer without a session")
  func last() async throws {
    try await TransferFixture.with { fixture in
      let launches = Launches()
      let isBusy = Mutex(true)
      fixture.modify { response, request, _ in
        request.path == "/busy" && isBusy.withLock(\.self) ? .busy(503, retryAfter: .seconds(3600)) : response
      }
      let busy = try #require(URL(string: "http://localhost:\(fixture.server.port)/busy"))
      let held = try #require(URL(string: "http://held.example/file"))
      RetryAfterStore(store: fixture.folder, clock: fixture.clock).delay(held, seconds: 80_000)
      _ = try fixture.download { $0.url = held }
      let app = try session(fixture)
      for url in [fixture.url, busy] { try app.transfer(TransferRequest(download: url)).resume() }
      await app.invalidate()
      try await work(fixture, launches)
      #expect(try fixture.journal.transfers(of: "media").map(\.state) == [.finished, .running])
      #expect(try launches.all.isEmpty && !isWorkerNeeded(fixture))
      isBusy.withLock { $0 = false }
      fixture.clock.advance(by: 3600)
      try await work(fixture, launches)
      #expect(try fixture.journal.transfers(of: "media").map(\.state) == [.finished, .finished])
      #expect(launches.all == ["media"])
    }
  }

  @Test("is made up for by the next worker, once, if the worker has ended before it")
  func madeUpFor() async throws {
    try await TransferFixture.with { fixture in
      let launches = Launches()
      try await leave(fixture)
      // An app that is suspended holds the lock of its session and receives no events.
      let lock = FetchLock(path: fixture.folder.appending(path: "transfers/session-media.lock").path)
      let suspended = try #require(try lock.acquire())
      try await work(fixture, launches)
      #expect(try fixture.journal.transfers().map(\.state) == [.finished])
      #expect(launches.all.isEmpty)
      #expect(try isWorkerNeeded(fixture) == false)
      // The launch of another app is not that of this one.
      let others = Launches()
      let other = try fixture.journal.add(TransferRequest(download: fixture.url), session: "other").number
      try fixture.journal.cancel(other)
      try await work(fixture, others)
      #expect(others.all == ["other"])
      // The system ends the app while no worker runs.
      suspended.release()
      #expect(try isWorkerNeeded(fixture))
      try await work(fixture, launches)
      #expect(launches.all == ["media"])
      #expect(try isWorkerNeeded(fixture) == false)
      try await work(fixture, launches)
      #expect(launches.all == ["media"], "although the app has not received its events")
      // The next end of a transfer launches it again.
      try fixture.journal.resume(
        try fixture.journal.add(TransferRequest(download: fixture.url), session: "media").number, at: fixture.clock.now)
      try await work(fixture, launches)
      #expect(launches.all == ["media", "media"])
    }
  }

  @Test("happens in the order in which the sessions have ended")
  func order() async throws {
    try await TransferFixture.with { fixture in
      let launches = Launches()
      for session in ["quay", "pier", "dock"] {
        let transfer = try fixture.journal.add(TransferRequest(download: fixture.url), session: session)
        try fixture.journal.cancel(transfer.number)
      }
      // A suspended transfer holds nothing up.
      _ = try fixture.journal.add(TransferRequest(download: fixture.url), session: "quay")
      try await work(fixture, launches)
      #expect(launches.all == ["quay", "pier", "dock"])
    }
  }

  @Test("does not happen for an end that an earlier build has stored, which knew no launches")
  func earlierBuild() async throws {
    try await TransferFixture.with { fixture in
      let transfer = try fixture.journal.add(TransferRequest(download: fixture.url), session: "media")
      try fixture.journal.cancel(transfer.number)
      #expect(try isWorkerNeeded(fixture))
      let queue = try DatabaseQueue(path: fixture.folder.appending(path: "transfers/journal.sqlite").path)
      try await queue.write { db in
        try db.execute(sql: "ALTER TABLE events DROP COLUMN launches")
        try db.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = 'launches'")
      }
      try queue.close()
      #expect(try isWorkerNeeded(fixture) == false)
    }
  }

  @Test("happens again for a transfer that ends during it")
  func later() async throws {
    try await TransferFixture.with { fixture in
      let (launches, journal, request) = (Launches(), fixture.journal, TransferRequest(download: fixture.url))
      try await leave(fixture)
      try await work(fixture) { session in
        launches.add(session)
        guard launches.all.count == 1, let other = try? journal.add(request, session: session) else { return }
        try? journal.cancel(other.number)
      }
      #expect(launches.all == ["media", "media"])
    }
  }

  @Test("does not happen for a transfer that was continued at an offset, and is suspended now")
  func suspended() async throws {
    try await TransferFixture.with { fixture in
      let (launches, journal) = (Launches(), fixture.journal)
      fixture.modify { response, _, number in response.hanging(at: .body(number == 0 ? 100_000 : 50_000)) }
      let number = try journal.add(TransferRequest(download: fixture.url), session: "media").number
      try journal.resume(number, at: fixture.clock.now)
      try await fixture.working {
        try await fixture.eventually("a part is stored") { try fixture.partialSize() == 100_000 }
        await fixture.server.closeConnections()
        try await fixture.eventually("it has continued") { try (fixture.partialSize() ?? 0) >= 150_000 }
      }
      #expect(fixture.server.requests.prefix(2).map { $0["Range"] } == [nil, "bytes=100000-"])
      // No worker has seen it suspended.
      try journal.suspend(number)
      #expect(try !isWorkerNeeded(fixture))
      try await work(fixture, launches)
      #expect(launches.all.isEmpty)
    }
  }

  @Test("does not end the worker before a transfer whose attempt fails during it")
  func failedAttempt() async throws {
    try await TransferFixture.with { fixture in
      let (journal, clock) = (fixture.journal, fixture.clock)
      fixture.modify { response, _, number in number == 0 ? response.hanging(at: .body(150_000)) : response }
      let number = try fixture.download()
      let other = try journal.add(TransferRequest(download: fixture.url), session: "media").number
      let cancelling = Task {
        try await eventually("a part is there") { try fixture.partialSize() == 150_000 }
        try journal.cancel(other)
      }
      try await work(fixture) { _ in
        clock.advance(by: 61)
        for _ in 0..<1000 where (try? journal.transfer(number)?.failure) == nil { Thread.sleep(forTimeInterval: 0.01) }
        // The failure is stored just before the attempt ends.
        Thread.sleep(forTimeInterval: 0.1)
      }
      try await cancelling.value
      #expect(try journal.transfer(number)?.state == .finished)
      #expect(fixture.server.requests.count == 2)
    }
  }

  @Test("does not happen for a session without launch events, whose events wait for the app")
  func optOut() async throws {
    try await TransferFixture.with { fixture in
      let launches = Launches()
      try await leave(fixture, "quiet", sendsLaunchEvents: false)
      try await leave(fixture, "media")
      try await work(fixture, launches)
      #expect(launches.all == ["media"])
      #expect(try isWorkerNeeded(fixture) == false)
      let ends = Ends()
      let quiet = try session(fixture, "quiet", ends)
      try await eventually("the event arrives") { ends.all == [.finished] }
      await quiet.invalidate()
    }
  }
}
