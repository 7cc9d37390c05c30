import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("The time of a transfer") struct TransferTimeTests {
  @Test(
    "is measured by the steady clock: a wall clock that jumps neither ends it nor puts it off", arguments: [8.0, -8])
  func jumps(days: Double) async throws {
    try await Depot.with { depot in
      depot.spoil { answer, _, number in number < 2 ? .busy(503, retryAfter: nil) : answer }
      let number = try depot.download()
      try await depot.working {
        try await depot.eventually("it has been refused") { depot.server.requests.count >= 1 }
        depot.clock.setDate(by: days * 86_400)
        let start = depot.clock.now
        #expect(try await depot.end(of: number).state == .finished)
        #expect(depot.clock.now.seconds(since: start) < 60)
      }
    }
  }

  @Test("goes on over a restart of the machine by the time of day")
  func restart() async throws {
    try await Depot.with { depot in
      depot.spoil { _, _, _ in .busy(503, retryAfter: nil) }
      let number = try depot.download()
      try await depot.working {
        try await depot.eventually("it has been refused") { try depot.journal.transfer(number)?.failure != nil }
      }
      depot.clock.setDate(by: 8 * 86_400)
      depot.clock.reboot()
      try await depot.working {
        let transfer = try await depot.end(of: number)
        #expect(transfer.state == .failed)
      }
    }
  }

  @Test("is not lengthened by attempts that move a few bytes")
  func drops() async throws {
    try await Depot.with { depot in
      depot.spoil { answer, request, _ in answer.truncated(at: .body(16)) }
      _ = try depot.download()
      try await depot.working {
        let start = depot.clock.now
        try await depot.eventually("twenty seconds are over") { depot.clock.now.seconds(since: start) > 20 }
      }
      // The delays are at most 0.5, 1, 2, 4 and 8 s, and at least half of that.
      #expect(depot.server.requests.count <= 8)
    }
  }

  @Test("is over at once where the file cannot be written, and the reason is a sentence")
  func storage() async throws {
    try await Depot.with { depot in
      let file = depot.folder.appending(path: "occupied")
      try Data().write(to: file)
      let number = try depot.download { $0.file = file.appending(path: "out.bin") }
      try await depot.working {
        let transfer = try await depot.end(of: number)
        #expect(transfer.state == .failed)
        #expect(transfer.failure?.contains("occupied/ cannot be written: ") == true, "\(transfer.failure ?? "")")
        #expect(depot.server.requests.isEmpty)
      }
    }
  }

  @Test("is over when there was no answer for as long as the request allows")
  func silence() async throws {
    try await Depot.with { depot in
      depot.spoil { answer, _, _ in answer.resetting(at: .start) }
      let number = try depot.download { $0.silencePatience = 30 }
      try await depot.working {
        let start = depot.clock.now
        let transfer = try await depot.end(of: number)
        #expect(transfer.state == .failed)
        #expect(transfer.failure?.hasPrefix("no answer from 127.0.0.1:") == true, "\(transfer.failure ?? "")")
        #expect(depot.clock.now.seconds(since: start) < 300)
      }
    }
  }
}

@Suite("A worker that waits") struct WaitingWorkerTests {
  /// A condition that counts how often it is read.
  private final class Counted: Sendable {
    private let state = Mutex((obstacle: Transfer.Obstacle?.some(.power), count: 0))

    var count: Int { state.withLock(\.count) }
    var current: Transfer.Obstacle? {
      state.withLock { state in
        state.count += 1
        return state.obstacle
      }
    }

    func release() { state.withLock { $0.obstacle = nil } }
  }

  /// Runs a worker to its end while the clock advances.
  private func run(_ depot: Depot, _ condition: Counted? = nil) async throws -> Double {
    let worker = try TransferWorker(
      store: depot.folder, userAgent: "tests/1", obstacle: { condition?.current }, clock: depot.clock)
    let start = depot.clock.now
    let isOver = Mutex(false)
    let task = Task {
      defer { isOver.withLock { $0 = true } }
      return try await worker.run()
    }
    try await depot.eventually("the worker has ended") { isOver.withLock(\.self) }
    #expect(try await task.value)
    return depot.clock.now.seconds(since: start)
  }

  @Test("for external power ends within seconds, asks the machine once, and is needed again when there is power")
  func power() async throws {
    try await Depot.with { depot in
      let number = try depot.download { $0.isDiscretionary = true }
      let condition = Counted()
      #expect(try await run(depot, condition) < 120)
      #expect(condition.count == 1)
      #expect(try depot.journal.transfer(number)?.obstacle == .power)
      func isNeeded() throws -> Bool {
        try TransferJournal.needsWorker(store: depot.folder, obstacle: { condition.current }, clock: depot.clock)
      }
      #expect(try isNeeded() == false)
      condition.release()
      #expect(try isNeeded())
      _ = try await run(depot, condition)
      #expect(try depot.journal.transfer(number)?.state == .finished)
      #expect(try depot.journal.transfer(number)?.obstacle == nil)
    }
  }

  @Test("for Retry-After of an hour ends, and is needed again when the hour is over and not before")
  func retryAfter() async throws {
    try await Depot.with { depot in
      depot.spoil { answer, _, number in number == 0 ? .busy(503, retryAfter: .seconds(3600)) : answer }
      let number = try depot.download()
      #expect(try await run(depot) < 120)
      #expect(try TransferJournal.needsWorker(store: depot.folder, clock: depot.clock) == false)
      #expect(try await run(depot) < 120)
      #expect(depot.server.requests.count == 1)
      depot.clock.advance(by: 3600)
      #expect(try TransferJournal.needsWorker(store: depot.folder, clock: depot.clock))
      _ = try await run(depot)
      #expect(try depot.journal.transfer(number)?.state == .finished)
    }
  }

  @Test("learns of a new transfer at once, however long it would have slept")
  func signalled() async throws {
    try await Depot.with { depot in
      depot.spoil { answer, _, number in number == 0 ? .busy(503, retryAfter: .seconds(50)) : answer }
      let first = try depot.download()
      try await depot.working {
        try await depot.eventually("it has been refused") { try depot.journal.transfer(first)?.failure != nil }
        // The clock stands still from here on, so only the journal itself can wake the worker.
        let file = depot.folder.appending(path: "other.bin")
        let url = try #require(URL(string: "http://localhost:\(depot.server.port)/other"))
        let second = try depot.journal.add(TransferRequest(download: url, to: file)).number
        try depot.journal.resume(second, at: depot.clock.now)
        try await eventually("it is whole") { try depot.journal.transfer(second)?.state == .finished }
      }
    }
  }
}
