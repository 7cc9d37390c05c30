import FaultServer
import Foundation
import HTTPTransfer
import TestKit
import Testing

@Suite("The waits of Retry-After") struct RetryAfterTests {
  @Test("apply to one port of one host until the last one ends, even if no file can be written")
  func origins() throws {
    let clock = ManualClock()
    let nowhere = FileManager.default.temporaryDirectory.appending(path: "tidings-none-\(UUID().uuidString)/store")
    let store = RetryAfterStore(store: nowhere, clock: clock)
    func remaining(_ text: String) throws -> Double { store.remaining(for: try #require(URL(string: text))) }
    let server = try #require(URL(string: "http://news.example:8080/v1/items"))
    store.delay(server, seconds: 600)
    store.delay(server, seconds: 60)
    #expect(try remaining("http://NEWS.example:8080/other") == 600)
    for free in ["http://news.example/", "http://news.example:8081/", "https://news.example:8080/", "http://x:8080/"] {
      #expect(try remaining(free) == 0, "\(free)")
    }
    clock.advance(by: 100)
    #expect(try remaining("http://news.example:8080/") == 500)
    store.delay(try #require(URL(string: "https://news.example/")), seconds: 60)
    #expect(try remaining("https://news.example:443/x") == 60)
    store.delay(try #require(URL(string: "http://news.example/")), seconds: 30)
    #expect(try remaining("http://news.example:80/x") == 30)
    #expect(try remaining("https://news.example/") == 60)
    store.delay(try #require(URL(string: "https://other.example/")), seconds: 100_000)
    #expect(try remaining("https://other.example/") == 86_400)
    store.delay(try #require(URL(string: "ftp://other.example/")), seconds: 10)
    #expect(try remaining("ftp://other.example/") == 0)
    clock.advance(by: 400)
    #expect(try remaining("http://news.example:8080/") == 100)
    store.delay(server, seconds: 101)
    #expect(try remaining("http://news.example:8080/") == 101)
    #expect(store.all == ["http://news.example:8080": 101, "https://other.example:443": 86_000])
  }

  @Test("are known to all processes, the longest ones of a hundred origins")
  func shared() throws {
    let clock = ManualClock()
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-waits-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func url(_ number: Int) throws -> URL { try #require(URL(string: "https://\(number).example/")) }
    let store = RetryAfterStore(store: folder, clock: clock)
    for number in 0...100 { store.delay(try url(number), seconds: 100 + Double(number)) }
    let other = RetryAfterStore(store: folder, clock: clock)
    #expect(try [0, 1, 100].map { other.remaining(for: try url($0)) } == [0, 101, 200])
    other.delay(try url(100), seconds: 10)
    #expect(other.remaining(for: try url(100)) == 200)
    #expect(other.all["https://100.example:443"] == 200)
    let file = folder.appending(path: "holds.json")
    #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
    clock.advance(by: 150)
    #expect(RetryAfterStore(store: folder, clock: clock).all.count == 50)
    // The places of waits that are over are free.
    for number in 101..<120 { other.delay(try url(number), seconds: 1) }
    #expect(RetryAfterStore(store: folder, clock: clock).all.count == 50 + 19)
  }

  @Test("apply to the process that received them if the disk is full, and leave no file behind")
  func fullDisk() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-waits-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let temporary = folder.appending(path: "holds.json.new")
    try FileManager.default.createSymbolicLink(atPath: temporary.path, withDestinationPath: "/dev/full")
    let store = RetryAfterStore(store: folder, clock: ManualClock())
    let url = try #require(URL(string: "https://news.example/"))
    store.delay(url, seconds: 60)
    #expect(store.remaining(for: url) == 60)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["holds.json.lock"])
  }

  @Test("are no failures of transfers that are redirected to the server")
  func redirected() async throws {
    try await FaultServer.with({ _ in .busy(503, retryAfter: .seconds(60)) }) { other in
      try await TransferFixture.with { fixture in
        let waiting = try #require(URL(string: other.url))
        fixture.modify { original, _, number in
          switch number {
          // One less than the number of wrong responses after which a download fails.
          case 0, 1, 2, 4: .captivePortal()
          case 3: FaultResponse(status: 302, headers: [("Location", other.url)])
          default: original
          }
        }
        try await fixture.working {
          let first = try fixture.journal.add(TransferRequest(download: waiting)).number
          try fixture.journal.resume(first, at: fixture.clock.now)
          try await fixture.eventually("it has been refused") { try fixture.journal.transfer(first)?.failure != nil }
          try await fixture.finish(fixture.download())
        }
        #expect(fixture.server.requests.count == 6)
      }
    }
  }

  @Test("of a server to which a transfer is redirected are those of the transfer, too", arguments: [false, true])
  func redirectedWait(isKnown: Bool) async throws {
    try await FaultServer.with({ _ in .busy(503, retryAfter: .seconds(50)) }) { other in
      try await TransferFixture.with { fixture in
        let busy = try #require(URL(string: other.url))
        if isKnown { RetryAfterStore(store: fixture.folder, clock: fixture.clock).delay(busy, seconds: 50) }
        fixture.modify { _, _, _ in FaultResponse(status: 302, headers: [("Location", other.url)]) }
        let number = try fixture.download()
        try await fixture.working {
          // The clock stands still.
          try await eventually("it has been refused") { try fixture.journal.transfer(number)?.failure != nil }
        }
        let transfer = try #require(try fixture.journal.transfer(number))
        #expect(fixture.journal.delay(of: transfer, clock: fixture.clock) == 50)
        #expect(other.requests.count == (isKnown ? 0 : 1))
      }
    }
  }

  @Test("are all stored if many processes store one each at the same time")
  func together() throws {
    let clock = ManualClock()
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-waits-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let urls = try (0..<90).map { try #require(URL(string: "https://\($0).example/")) }
    // Each has its own view of the file, as each process has.
    DispatchQueue.concurrentPerform(iterations: urls.count) { number in
      RetryAfterStore(store: folder, clock: clock).delay(urls[number], seconds: 60)
    }
    #expect(RetryAfterStore(store: folder, clock: clock).all.count == urls.count)
  }

  @Test("that are dates are measured by the clock of the worker if the server names no time of its own")
  func date() async throws {
    try await TransferFixture.with { fixture in
      let clock = fixture.clock
      fixture.modify { _, _, _ in .busy(503, retryAfter: .date(clock.now.date + 300)) }
      let number = try fixture.download()
      try await fixture.working {
        try await fixture.eventually("it has been refused") { try fixture.journal.transfer(number)?.failure != nil }
      }
      let remaining = RetryAfterStore(store: fixture.folder, clock: clock).remaining(for: fixture.url)
      #expect(100...300 ~= remaining)
    }
  }

  @Test(
    "apply to all transfers from the server, also to those that are resumed by hand",
    arguments: [TransferRequest.Direction.download, .upload])
  func transfers(direction: TransferRequest.Direction) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in .busy(429, retryAfter: .seconds(3600)) }
      let first = try fixture.start(direction)
      try await fixture.working {
        try await fixture.eventually("it has been refused") { try fixture.journal.transfer(first)?.failure != nil }
        _ = try fixture.download { $0.file = fixture.folder.appending(path: "other.bin") }
        try fixture.journal.resume(first, at: fixture.clock.now)
        let start = fixture.clock.now
        try await fixture.eventually("time passes") { fixture.clock.now.seconds(since: start) > 20 }
      }
      // Nor does a new one need a worker before its end.
      _ = try fixture.download { $0.file = fixture.folder.appending(path: "new.bin") }
      #expect(try !TransferJournal.needsWorker(store: fixture.folder, clock: fixture.clock))
      #expect(fixture.server.requests.count == 1)
    }
  }
}
