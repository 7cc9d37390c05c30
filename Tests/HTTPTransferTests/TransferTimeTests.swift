import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

/// A transport whose clock advances before each part of a response, by less than the time a transfer may idle.
private struct SlowTransport: HTTPTransport {
  let clock: ManualClock
  /// The time after which a transfer is idle, in seconds.
  let idleLimit: Double

  func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
    // The worker waits for as long as the idle timeout does.
    try await eventually("both run") { clock.sleeping.count { abs($0 - idleLimit) < 0.01 } == 2 }
    try await pause()
    let left = Mutex(4)
    let body = AsyncThrowingStream<Data, any Error> {
      let number = left.withLock { left in
        defer { left -= 1 }
        return left
      }
      guard number > 0 else { return nil }
      try await pause()
      return Data(count: 1000)
    }
    return HTTPTransportResponse(status: 200, headers: [HTTPHeader("Content-Length", "4000")], body: body)
  }

  func upload(
    _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
  ) async throws -> HTTPTransportResponse {
    for part in 0..<3 {
      file.progress(Int64(part) * 1000)
      try await pause()
    }
    return HTTPTransportResponse(status: 201, headers: [], body: AsyncThrowingStream { nil })
  }

  private func pause() async throws {
    clock.advance(by: idleLimit - 15)
    try await eventually("the idle timeout runs again") { clock.sleeping.contains { abs($0 - 15) < 0.01 } }
  }
}

@Suite("The time of a transfer") struct TransferTimeTests {
  @Test(
    "without progress begins again with each part of the file",
    arguments: [(TransferRequest.Direction.download, 60.0), (.upload, 120.0)])
  func progress(direction: TransferRequest.Direction, idleLimit: Double) async throws {
    try await TransferFixture.with { fixture in
      let number = try fixture.start(direction, bytes: 4000)
      let worker = try TransferWorker(
        store: fixture.folder, userAgent: "tests/1",
        transport: SlowTransport(clock: fixture.clock, idleLimit: idleLimit), clock: fixture.clock)
      let task = Task { try await worker.run() }
      // Only the transport advances the clock.
      try await eventually("an attempt has ended") {
        let transfer = try fixture.journal.transfer(number)
        return transfer?.state.isOver == true || transfer?.failure != nil
      }
      let transfer = try fixture.journal.transfer(number)
      #expect(transfer?.state == .finished, "\(transfer?.failure ?? "")")
      task.cancel()
      _ = try await task.value
    }
  }

  @Test(
    "is measured by the monotonic clock: a jump of the time of day neither ends nor delays it", arguments: [8.0, -8])
  func jumps(days: Double) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, number in number < 2 ? .busy(503, retryAfter: nil) : response }
      let number = try fixture.download()
      try await fixture.working {
        try await fixture.eventually("it has been refused") { fixture.server.requests.count >= 1 }
        fixture.clock.setDate(by: days * 86_400)
        let start = fixture.clock.now
        #expect(try await fixture.end(of: number).state == .finished)
        #expect(fixture.clock.now.seconds(since: start) < 60)
      }
    }
  }

  @Test("is measured by the time of day across a reboot")
  func restart() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in .busy(503, retryAfter: nil) }
      let number = try fixture.download()
      try await fixture.working {
        try await fixture.eventually("it has been refused") { try fixture.journal.transfer(number)?.failure != nil }
      }
      fixture.clock.setDate(by: 8 * 86_400)
      fixture.clock.reboot()
      try await fixture.working {
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .failed)
      }
    }
  }

  @Test("includes a backoff after attempts that transfer a few bytes")
  func drops() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, request, _ in response.truncated(at: .body(16)) }
      _ = try fixture.download()
      try await fixture.working {
        let start = fixture.clock.now
        try await fixture.eventually("twenty seconds are over") { fixture.clock.now.seconds(since: start) > 20 }
      }
      // The delays are at most 0.5, 1, 2, 4 and 8 s, and at least half of that.
      #expect(fixture.server.requests.count <= 8)
    }
  }

  @Test("ends at once if the file cannot be written, with a reason for users")
  func storage() async throws {
    try await TransferFixture.with { fixture in
      let file = fixture.folder.appending(path: "occupied")
      try Data().write(to: file)
      let number = try fixture.download { $0.file = file.appending(path: "out.bin") }
      try await fixture.working {
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .failed)
        let failure = transfer.failure ?? ""
        #expect(failure.hasPrefix("cannot write to the folder \(file.path)"), "\(failure)")
        #expect(failure.hasSuffix(": not a directory"), "\(failure)")
        #expect(fixture.server.requests.isEmpty)
      }
    }
  }

  @Test("ends after the noResponseTimeout of the request")
  func silence() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in response.resetting(at: .start) }
      let number = try fixture.download { $0.noResponseTimeout = .seconds(30) }
      try await fixture.working {
        let start = fixture.clock.now
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .failed)
        #expect(transfer.failure?.hasPrefix("no response from 127.0.0.1:") == true, "\(transfer.failure ?? "")")
        #expect(fixture.clock.now.seconds(since: start) < 300)
      }
    }
  }

  @Test("without any response ends with the sixth attempt at the earliest")
  func sixAttempts() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in response.resetting(at: .start) }
      let number = try fixture.download { $0.noResponseTimeout = .zero }
      try await fixture.working {
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .failed)
      }
      #expect(fixture.server.requests.count == 6)
    }
  }

  @Test("without a response counts with several attempts only, because a machine may sleep between two")
  func asleep() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, number in number < 2 ? response.resetting(at: .start) : response }
      let number = try fixture.download { $0.noResponseTimeout = .seconds(30) }
      try await fixture.working {
        try await fixture.eventually("it has been tried") { try fixture.journal.transfer(number)?.failure != nil }
        // Earlier builds use the same name.
        let stored = try JSONEncoder().encode(try fixture.journal.transfer(number))
        #expect(String(decoding: stored, as: UTF8.self).contains(#""silentSince":"#))
        fixture.clock.advance(by: 3600)
        try await fixture.finish(number)
      }
    }
  }

  @Test("between two attempts is at most ten minutes")
  func longestWait() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in .busy(503, retryAfter: nil) }
      // A refusal is a response.
      let number = try fixture.download { $0.noResponseTimeout = .seconds(30) }
      func wait() throws -> Double {
        fixture.journal.delay(of: try #require(try fixture.journal.transfer(number)), clock: fixture.clock)
      }
      for attempt in 1...12 {
        fixture.clock.advance(by: 700)
        try await fixture.working { try await fixture.eventually("attempt \(attempt) has failed") { try wait() > 0 } }
        #expect(try wait() <= 600)
      }
      #expect(try wait() > 250)
      #expect(try fixture.journal.transfer(number)?.state == .running)
    }
  }

  @Test("between two attempts is short again after a resume by the user")
  func resumedWait() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in .busy(503, retryAfter: nil) }
      let number = try fixture.download()
      func wait() throws -> Double {
        fixture.journal.delay(of: try #require(try fixture.journal.transfer(number)), clock: fixture.clock)
      }
      for attempt in 1...6 {
        fixture.clock.advance(by: 700)
        try await fixture.working { try await fixture.eventually("attempt \(attempt) has failed") { try wait() > 0 } }
      }
      #expect(try wait() > 8)
      try fixture.journal.suspend(number)
      try fixture.journal.resume(number, at: fixture.clock.now)
      #expect(try wait() == 0)
      #expect(try fixture.journal.transfer(number)?.failure == nil)
      try await fixture.working { try await fixture.eventually("it has failed again") { try wait() > 0 } }
      #expect(try wait() <= 1)
    }
  }

  @Test("without any response is a day unless the request sets another one")
  func silentDay() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in response.resetting(at: .start) }
      let number = try fixture.download()
      let start = fixture.clock.now
      func attempt() async throws -> Transfer.State? {
        try await fixture.working {
          try await fixture.eventually("an attempt has failed") {
            let transfer = try #require(try fixture.journal.transfer(number))
            return transfer.state.isOver || fixture.journal.delay(of: transfer, clock: fixture.clock) > 0
          }
        }
        return try fixture.journal.transfer(number)?.state
      }
      for _ in 0..<7 {
        #expect(try await attempt() == .running)
        fixture.clock.advance(by: 700)
      }
      fixture.clock.advance(by: 86_000 - fixture.clock.now.seconds(since: start))
      #expect(try await attempt() == .running)
      fixture.clock.advance(by: 700)
      #expect(try await attempt() == .failed)
    }
  }

  @Test("until it is given up begins anew with a resume after its failure, and with no other one")
  func resumed() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in .busy(503, retryAfter: nil) }
      let number = try fixture.download { $0.timeout = .seconds(30) }
      let start = fixture.clock.now
      try await fixture.working {
        try await fixture.eventually("twenty seconds are over") { fixture.clock.now.seconds(since: start) > 20 }
      }
      try fixture.journal.suspend(number)
      try fixture.journal.resume(number, at: fixture.clock.now)
      try await fixture.working {
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .failed)
      }
      #expect(fixture.clock.now.seconds(since: start) < 45)
      fixture.modify { response, _, _ in response }
      #expect(try fixture.journal.resume(number, at: fixture.clock.now))
      try await fixture.working { try await fixture.finish(number) }
    }
  }
}

@Suite("A worker that waits") struct WaitingWorkerTests {
  /// A condition that counts how often it is read.
  private final class Counted: Sendable {
    private let state = Mutex((obstacles: Set([Transfer.Obstacle.power]), count: 0))

    var count: Int { state.withLock(\.count) }
    var current: Set<Transfer.Obstacle> {
      state.withLock { state in
        state.count += 1
        return state.obstacles
      }
    }

    func release() { state.withLock { $0.obstacles = [] } }
  }

  /// Runs a worker to its end while the clock advances.
  private func run(_ fixture: TransferFixture, _ condition: Counted? = nil) async throws -> Double {
    let worker = try TransferWorker(
      store: fixture.folder, userAgent: "tests/1", obstacles: { condition?.current ?? [] }, clock: fixture.clock)
    let start = fixture.clock.now
    let isOver = Mutex(false)
    let task = Task {
      defer { isOver.withLock { $0 = true } }
      return try await worker.run()
    }
    try await fixture.eventually("the worker has ended") { isOver.withLock(\.self) }
    #expect(try await task.value)
    return fixture.clock.now.seconds(since: start)
  }

  @Test("for external power ends within seconds, queries the machine once, and is needed again with power")
  func power() async throws {
    try await TransferFixture.with { fixture in
      let number = try fixture.download { $0.isDiscretionary = true }
      let condition = Counted()
      #expect(try await run(fixture, condition) < 120)
      #expect(condition.count == 1)
      #expect(try fixture.journal.transfer(number)?.obstacle == .power)
      func isNeeded() throws -> Bool {
        try TransferJournal.needsWorker(store: fixture.folder, obstacles: { condition.current }, clock: fixture.clock)
      }
      #expect(try isNeeded() == false)
      condition.release()
      #expect(try isNeeded())
      _ = try await run(fixture, condition)
      #expect(try fixture.journal.transfer(number)?.state == .finished)
      #expect(try fixture.journal.transfer(number)?.obstacle == nil)
    }
  }

  @Test("for a Retry-After of an hour ends, and is needed again after the hour")
  func retryAfter() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, number in number == 0 ? .busy(503, retryAfter: .seconds(3600)) : response }
      let number = try fixture.download()
      #expect(try await run(fixture) < 120)
      #expect(try TransferJournal.needsWorker(store: fixture.folder, clock: fixture.clock) == false)
      #expect(try await run(fixture) < 120)
      #expect(fixture.server.requests.count == 1)
      fixture.clock.advance(by: 3600)
      #expect(try TransferJournal.needsWorker(store: fixture.folder, clock: fixture.clock))
      _ = try await run(fixture)
      #expect(try fixture.journal.transfer(number)?.state == .finished)
    }
  }

  @Test("for a Retry-After of an hour is needed at the timeout of the transfer")
  func timeout() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in .busy(503, retryAfter: .seconds(3600)) }
      let number = try fixture.download { $0.timeout = .seconds(600) }
      _ = try await run(fixture)
      #expect(try TransferJournal.needsWorker(store: fixture.folder, clock: fixture.clock) == false)
      fixture.clock.advance(by: 600)
      #expect(try TransferJournal.needsWorker(store: fixture.folder, clock: fixture.clock))
      _ = try await run(fixture)
      #expect(try fixture.journal.transfer(number)?.state == .failed)
    }
  }

  @Test("for work ends after three seconds, also if the next attempt is more than a minute away", arguments: [nil, 70])
  func idle(seconds: Int?) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in .busy(503, retryAfter: .seconds(seconds ?? 0)) }
      if seconds != nil { _ = try fixture.download() }
      let worker = try TransferWorker(store: fixture.folder, userAgent: "tests/1", clock: fixture.clock)
      let task = Task { try await worker.run() }
      try await eventually("it waits for work") { fixture.clock.sleeping == [3] }
      fixture.clock.advance(by: 3)
      #expect(try await task.value)
    }
  }

  @Test("for another one to end takes over from it within five seconds")
  func takingOver() async throws {
    try await TransferFixture.with { fixture in
      let other = try FetchLock(path: fixture.folder.appending(path: "transfers/worker.lock").path).acquire()
      let held = try #require(other)
      let number = try fixture.download()
      try await fixture.working {
        try await eventually("it waits") { !fixture.clock.sleeping.isEmpty }
        held.release()
        try await fixture.finish(number)
      }
    }
  }

  @Test("starts a new transfer at once, even during a long sleep")
  func signalled() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, number in number == 0 ? .busy(503, retryAfter: .seconds(50)) : response }
      let first = try fixture.download()
      try await fixture.working {
        try await fixture.eventually("it has been refused") { try fixture.journal.transfer(first)?.failure != nil }
        // The clock stands still from here on, so only the journal itself can wake the worker.
        let file = fixture.folder.appending(path: "other.bin")
        let url = try #require(URL(string: "http://localhost:\(fixture.server.port)/other"))
        let second = try fixture.journal.add(TransferRequest(download: url, to: file)).number
        try fixture.journal.resume(second, at: fixture.clock.now)
        try await eventually("it is whole") { try fixture.journal.transfer(second)?.state == .finished }
      }
    }
  }
}
