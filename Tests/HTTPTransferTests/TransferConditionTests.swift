import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("The conditions of a transfer") struct TransferConditionTests {
  /// A request and the conditions under which it waits.
  enum Kind: CaseIterable {
    case plain, unmetered, discretionary

    func change(_ request: inout TransferRequest) {
      request.isDiscretionary = self == .discretionary
      request.allowsMeteredNetwork = self != .unmetered
    }

    /// Returns the condition that the transfer waits for.
    func obstacle(_ present: Set<Transfer.Obstacle>) -> Transfer.Obstacle? {
      switch self {
      case .plain: nil
      case .unmetered: present.contains(.network) ? .network : nil
      case .discretionary: present.contains(.power) ? .power : present.contains(.network) ? .network : nil
      }
    }
  }

  @Test(
    "are power and an unmetered network, if it is discretionary, or an unmetered network alone",
    arguments: Kind.allCases, [[], [.power], [.network], [.power, .network]] as [Set<Transfer.Obstacle>])
  func waiting(kind: Kind, present: Set<Transfer.Obstacle>) async throws {
    try await TransferFixture.with(TransferFixture.content(1000)) { fixture in
      let number = try fixture.download(kind.change)
      let obstacle = kind.obstacle(present)
      #expect(
        try TransferJournal.needsWorker(store: fixture.folder, obstacles: { present }, clock: fixture.clock)
          == (obstacle == nil))
      try await fixture.working(obstacles: present) {
        try await fixture.eventually("it is over or waits") {
          let transfer = try fixture.journal.transfer(number)
          return obstacle == nil ? transfer?.state == .finished : transfer?.obstacle == obstacle
        }
      }
      #expect(fixture.server.requests.count == (obstacle == nil ? 1 : 0))
    }
  }

  @Test("are not queried for a transfer without any")
  func unneeded() async throws {
    try await TransferFixture.with(TransferFixture.content(1000)) { fixture in
      let queries = Counter()
      let worker = try TransferWorker(
        store: fixture.folder, userAgent: "tests/1",
        obstacles: {
          queries.add()
          return []
        }, clock: fixture.clock)
      let task = Task { try await worker.run() }
      try await fixture.finish(fixture.download())
      task.cancel()
      _ = try await task.value
      #expect(queries.value == 0)
    }
  }

  @Test("start no other transfer again whose attempt ends while they are read")
  func endedMeanwhile() async throws {
    try await TransferFixture.with { fixture in
      let instants = Mutex<[FetchInstant]>([])
      fixture.modify { [clock = fixture.clock] response, _, number in
        instants.withLock { $0.append(clock.now) }
        return number == 0 ? response.hanging(at: .start) : response
      }
      var request = TransferRequest(download: fixture.url, to: fixture.folder.appending(path: "other.bin"))
      request.isDiscretionary = true
      let waiting = try fixture.journal.add(request).number
      let number = try fixture.download()
      let worker = try TransferWorker(
        store: fixture.folder, userAgent: "tests/1",
        obstacles: {
          // The worker has read the journal already, in which the other transfer was being tried.
          Task { await fixture.server.closeConnections() }
          while (try? fixture.journal.transfer(number))??.failure == nil { usleep(10_000) }
          // Its task ends after the failure has been recorded.
          usleep(200_000)
          return [.power]
        }, clock: fixture.clock)
      let task = Task { try await worker.run() }
      try await eventually("the request has arrived") { fixture.server.requests.count == 1 }
      try fixture.journal.resume(waiting, at: fixture.clock.now)
      try await eventually("the condition is known") { try fixture.journal.transfer(waiting)?.obstacle == .power }
      try await fixture.finish(number)
      task.cancel()
      _ = try await task.value
      let found = instants.withLock(\.self)
      #expect(found.count == 2)
      if let first = found.first, let last = found.last { #expect(last.seconds(since: first) >= 0.5) }
    }
  }

  @Test("stop an active transfer when they no longer hold, and it continues where it was")
  func stopped() async throws {
    let content = TransferFixture.content(2_000_000)
    try await TransferFixture.with(content) { fixture in
      let present = Mutex<Set<Transfer.Obstacle>>([])
      // The server sends for a minute and more, so that no timeout ends the attempt.
      fixture.modify { response, _, number in
        number == 0 ? response.dripping(bytes: 100, every: .milliseconds(5)) : response
      }
      let number = try fixture.download(Kind.unmetered.change)
      let worker = try TransferWorker(
        store: fixture.folder, userAgent: "tests/1", obstacles: { present.withLock(\.self) }, clock: fixture.clock)
      let task = Task { try await worker.run() }
      let part = fixture.folder.appending(path: ".output.bin.\(number).part")
      try await eventually("some bytes have arrived") { (try? Data(contentsOf: part))?.isEmpty == false }
      present.withLock { $0 = [.network] }
      // The machine is queried once a minute.
      try await fixture.eventually("the connection is closed") {
        try fixture.server.openConnections == 0 && fixture.journal.transfer(number)?.obstacle == .network
      }
      let received = try Data(contentsOf: part).count
      #expect(received > 0 && received < content.count)
      #expect(fixture.server.requests.count == 1)
      #expect(try fixture.journal.transfer(number)?.failure == nil, "it was stopped, and has not failed")
      task.cancel()
      _ = try await task.value
      try await fixture.working { try await fixture.finish(number) }
      #expect(fixture.server.requests.last?["Range"] == "bytes=\(received)-")
      #expect(try Data(contentsOf: fixture.output) == content)
    }
  }

  @Test("do not keep a transfer from its end once its time is over")
  func overdue() async throws {
    try await TransferFixture.with(TransferFixture.content(1000)) { fixture in
      let number = try fixture.download {
        Kind.unmetered.change(&$0)
        $0.timeout = .seconds(3600)
      }
      func needsWorker() throws -> Bool {
        try TransferJournal.needsWorker(store: fixture.folder, obstacles: { [.network] }, clock: fixture.clock)
      }
      #expect(try !needsWorker())
      fixture.clock.advance(by: 3600)
      #expect(try needsWorker())
      try await fixture.working(obstacles: [.network]) {
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .failed)
        #expect(transfer.failure == "the transfer timed out")
      }
      #expect(try !needsWorker() && fixture.server.requests.isEmpty)
    }
  }

  @Test(
    "have a timeout of a week, unless another number is stored, whatever it is",
    arguments: [(nil, 604_800), (60.5, 60.5), (-1, 0), (1e300, 1e9)] as [(Double?, Double)])
  func timeouts(stored: Double?, seconds: Double) throws {
    let request = TransferRequest(download: try #require(URL(string: "https://news.example/file")))
    var members = try #require(
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(request)) as? [String: Any])
    if let stored { (members["patience"], members["silencePatience"]) = (stored, stored) }
    let decoded = try JSONDecoder().decode(
      TransferRequest.self, from: JSONSerialization.data(withJSONObject: members))
    #expect(decoded.timeout == .seconds(seconds))
    #expect(decoded.noResponseTimeout == stored.map { _ in Duration.seconds(seconds) })
  }

  @Test("are known of a request that an earlier build has stored")
  func earlierRequest() throws {
    let request = TransferRequest(download: try #require(URL(string: "https://news.example/file")))
    let members = try #require(
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(request)) as? [String: Any])
    #expect(members["requiresUnmeteredNetwork"] == nil)
    let earlier = try JSONSerialization.data(withJSONObject: members)
    #expect(try JSONDecoder().decode(TransferRequest.self, from: earlier).allowsMeteredNetwork)
  }

  @Test("include an http or https URL", arguments: ["ftp://news.example/a", "file:///etc/passwd", "news/a", "https:a"])
  func schemes(text: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-schemes-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let journal = try TransferJournal(store: folder)
    let url = try #require(URL(string: text))
    let error = #expect(throws: FetchError.self) { try journal.add(TransferRequest(download: url)) }
    #expect(error?.code == .rejected)
    #expect(try journal.transfers().isEmpty)
  }
}
