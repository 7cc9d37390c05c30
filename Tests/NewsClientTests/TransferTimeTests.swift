import BackgroundFetch
import FaultServer
import Foundation
import NewsClient
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
  /// Constraints that count how often they are read.
  private final class Counted: ConstraintSource {
    private let state = Mutex((constraints: FetchConstraints(isOnBattery: true), count: 0))

    var count: Int { state.withLock(\.count) }
    var current: FetchConstraints {
      state.withLock { state in
        state.count += 1
        return state.constraints
      }
    }

    func release() { state.withLock { $0.constraints = .none } }
  }

  /// Runs a worker to its end while the clock advances.
  private func run(_ depot: Depot, _ constraints: any ConstraintSource = FetchConstraints.none) async throws -> Double {
    let worker = try TransferWorker(
      store: depot.folder, userAgent: "tests/1", constraints: constraints, clock: depot.clock)
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
      let constraints = Counted()
      #expect(try await run(depot, constraints) < 120)
      #expect(constraints.count == 1)
      #expect(try depot.journal.transfer(number)?.obstacle == .power)
      func isNeeded() throws -> Bool {
        try TransferJournal.needsWorker(store: depot.folder, constraints: constraints, clock: depot.clock)
      }
      #expect(try isNeeded() == false)
      constraints.release()
      #expect(try isNeeded())
      _ = try await run(depot, constraints)
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

@Suite("Retry-After") struct SharedHoldTests {
  @Test("of one transfer binds the others to its server, fetches from it, and those that are resumed by hand")
  func transferBindsAll() async throws {
    try await Depot.with { depot in
      depot.spoil { _, _, _ in .busy(429, retryAfter: .seconds(3600)) }
      let first = try depot.download()
      try await depot.working {
        try await depot.eventually("it has been refused") { try depot.journal.transfer(first)?.failure != nil }
        _ = try depot.download { $0.file = depot.folder.appending(path: "other.bin") }
        try depot.journal.resume(first, at: depot.clock.now)
        let start = depot.clock.now
        try await depot.eventually("time passes") { depot.clock.now.seconds(since: start) > 20 }
      }
      #expect(depot.server.requests.count == 1)
      let server = try #require(URL(string: depot.server.url))
      let client = try NewsFetcher(
        .init(folder: depot.folder, source: Source(server: server), userAgent: "tests/1"),
        application: Application(launchReason: .fetch, clock: depot.clock), clock: depot.clock)
      #expect(await client.performFetch().result == .failed)
      #expect(depot.server.requests.count == 1)
      depot.clock.advance(by: 3600)
      #expect(await client.performFetch().requests == 1)
    }
  }

  @Test("binds one port of one host, as long as the longest of several demands, where no file can be written too")
  func origins() throws {
    let clock = ManualClock()
    let nowhere = FileManager.default.temporaryDirectory.appending(path: "tidings-none-\(UUID().uuidString)/store")
    let holds = OriginHolds(store: nowhere, clock: clock)
    func remaining(_ text: String) throws -> Double { holds.remaining(try #require(URL(string: text))) }
    let server = try #require(URL(string: "http://news.example:8080/v1/items"))
    holds.hold(server, seconds: 600)
    holds.hold(server, seconds: 60)
    #expect(try remaining("http://NEWS.example:8080/other") == 600)
    for free in ["http://news.example/", "http://news.example:8081/", "https://news.example:8080/", "http://x:8080/"] {
      #expect(try remaining(free) == 0, "\(free)")
    }
    clock.advance(by: 100)
    #expect(try remaining("http://news.example:8080/") == 500)
    holds.hold(try #require(URL(string: "https://news.example/")), seconds: 60)
    #expect(try remaining("https://news.example:443/x") == 60)
  }

  @Test("of a fetch binds transfers from its server, in other processes too, and no other server")
  func fetchBindsTransfers() async throws {
    try await Depot.with { depot in
      depot.spoil { answer, request, _ in
        request.path.hasPrefix("/v1/") ? .busy(503, retryAfter: .seconds(1000)) : answer
      }
      let server = try #require(URL(string: depot.server.url))
      let client = try NewsFetcher(
        .init(folder: depot.folder, source: Source(server: server), userAgent: "tests/1"),
        application: Application(launchReason: .fetch, clock: depot.clock), clock: depot.clock)
      #expect(await client.performFetch().result == .failed)
      let held = try depot.download()
      let file = depot.folder.appending(path: "free.bin")
      let url = try #require(URL(string: "http://localhost:\(depot.server.port)/free"))
      let free = try depot.journal.add(TransferRequest(download: url, to: file)).number
      try depot.journal.resume(free, at: depot.clock.now)
      try await depot.working {
        let transfer = try await depot.end(of: free)
        #expect(transfer.state == .finished)
      }
      #expect(depot.server.requests.map(\.path) == ["/v1/items", "/free"])
      depot.clock.advance(by: 1000)
      try await depot.working {
        let transfer = try await depot.end(of: held)
        #expect(transfer.state == .finished)
      }
    }
  }
}
