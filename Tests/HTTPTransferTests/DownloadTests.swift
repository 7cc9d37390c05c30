import Crypto
import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("A download") struct DownloadTests {
  @Test("appears at its destination when it is complete, and leaves no other file")
  func whole() async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      try await fixture.working {
        let number = try fixture.download {
          $0.sha256 = SHA256.hash(data: content).hexadecimal.uppercased()
        }
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .finished)
        #expect((transfer.completed, transfer.total) == (300_000, 300_000))
        #expect(try Data(contentsOf: fixture.output) == content)
        #expect(try fixture.files() == ["output.bin"])
        #expect(try openFiles().filter { $0.hasSuffix(fixture.folder.lastPathComponent) } == [])
        #expect(fixture.server.requests.map { $0["Range"] } == [nil])
        let request = try #require(fixture.server.requests.first)
        #expect((request["Accept"], request["Accept-Encoding"]) == ("*/*", "identity"))
        #expect(request["User-Agent"] == "tests/1 (+https://example.org)")
      }
    }
  }

  @Test("is resumed after an interruption", arguments: [FaultEnding.close, .reset])
  func resuming(ending: FaultEnding) async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      fixture.modify { response, _, number in number < 10 ? response.ending(ending, at: .body(20_000)) : response }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == .finished && transfer.failure == nil)
        #expect(try Data(contentsOf: fixture.output) == content)
        let requests = fixture.server.requests
        let offsets = requests.dropFirst().map { $0["Range"]?.dropFirst(6).dropLast() ?? "" }.compactMap { Int($0) }
        #expect(offsets == offsets.sorted())
        #expect(offsets.contains { $0 > 100_000 })
        #expect(requests.dropFirst().allSatisfy { $0["Range"] == nil || $0["If-Range"] == "\"one\"" })
      }
    }
  }

  @Test("begins again if the file has changed, and never mixes two versions")
  func changed() async throws {
    let other = TransferFixture.content(250_000, seed: 2)
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, number in
        guard number == 0 else { return response }
        // Here, and not after the arrival of the request: the second request may come before a test sees the first.
        fixture.serve(other, tag: "\"two\"")
        return response.truncated(at: .body(100_000))
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == .finished)
        #expect(transfer.total == 250_000)
        #expect(try Data(contentsOf: fixture.output) == other)
        #expect(fixture.server.requests.map { $0["If-Range"] }.prefix(2) == [nil, "\"one\""])
      }
    }
  }

  /// Wrong responses to the second request, which is for the rest of the file.
  enum Lie: CaseIterable {
    case ignoresRange, wrongOffset, otherTag, otherTotal, notSatisfiable, noContentRange, partAgain
  }

  @Test("is correct after any wrong response to a range request", arguments: Lie.allCases)
  func lies(lie: Lie) async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      fixture.modify { response, _, number in
        if number == 0 { return response.truncated(at: .body(100_000)) }
        guard number == 1 else { return response }
        switch lie {
        case .ignoresRange:
          var all = response.removing("Content-Range")
          (all.status, all.body) = (200, content)
          return all
        case .wrongOffset: return response.setting("Content-Range", "bytes 99999-299999/300000")
        case .otherTag: return response.setting("ETag", "\"other\"")
        case .otherTotal: return response.setting("Content-Range", "bytes 100000-299999/300001")
        case .notSatisfiable: return FaultResponse(status: 416, headers: [("Content-Range", "bytes */7")])
        case .noContentRange: return response.removing("Content-Range")
        case .partAgain: return response.truncated(at: .body(0))
        }
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == .finished)
        #expect(try Data(contentsOf: fixture.output) == content)
        #expect(try fixture.files() == ["output.bin"])
      }
    }
  }

  @Test("is complete if a 416 reports the received length")
  func complete() async throws {
    let content = TransferFixture.content(100_000)
    try await TransferFixture.with(content) { fixture in
      // The first response has no length and ends after all bytes.
      fixture.modify { response, _, number in
        number == 0 ? response.framed(.chunked).truncated(at: .body(100_000)) : response
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == .finished)
        #expect(try Data(contentsOf: fixture.output) == content)
      }
    }
  }

  @Test("rejects a response with other content, and tries again")
  func wrongContent() async throws {
    let content = TransferFixture.content(100_000)
    let modifications: [TransferFixture.Modification] = [
      { _, _, _ in .captivePortal() }, { response, _, _ in response.declaring(length: 100_001) },
      { response, _, _ in response.setting("Content-Encoding", "br") },
      { response, _, _ in
        var other = response
        other.body[50_000] ^= 1
        return other
      },
      { _, _, _ in .busy(503, retryAfter: nil) }, { _, _, _ in FaultResponse(status: 500, body: Data("oops".utf8)) },
    ]
    for modify in modifications {
      try await TransferFixture.with(content) { fixture in
        fixture.modify { response, request, number in number < 2 ? modify(response, request, number) : response }
        try await fixture.working {
          let transfer = try await fixture.end(of: fixture.download())
          #expect(transfer.state == .finished)
          #expect(try Data(contentsOf: fixture.output) == content)
        }
      }
    }
  }

  @Test("fails if the file is missing or has the wrong content, and leaves no file", arguments: 0..<4)
  func failing(number: Int) async throws {
    try await TransferFixture.with { fixture in
      if number == 0 { fixture.modify { _, _, _ in FaultResponse(status: 404, body: Data("no".utf8)) } }
      if number == 1 { fixture.modify { _, request, _ in .redirect(.loop, from: request) } }
      try await fixture.working {
        let transfer = try await fixture.end(
          of: fixture.download { request in
            if number == 2 { request.sha256 = String(repeating: "0", count: 64) }
            if number == 3 { request.mediaType = "image/png" }
          })
        #expect(transfer.state == .failed)
        #expect(transfer.failure?.isEmpty == false)
        #expect(transfer.completed == 0 && transfer.total == nil)
        // If a later attempt may succeed, the file is requested five times.
        #expect(fixture.server.requests.count == [1, 6, 5, 5][number])
        #expect(try fixture.files() == [])
      }
    }
  }

  @Test(
    "sends its header fields only to the origin of its URL",
    arguments: [302, 307])
  func credentials(status: Int) async throws {
    let content = TransferFixture.content(1000)
    try await TransferFixture.with(content) { fixture in
      let home = fixture.server.url
      try await FaultServer.with({ .redirect(.text(home + "/back"), from: $0, status: status) }) { other in
        fixture.modify { response, request, _ in
          switch request.path {
          case "/file": .redirect(.sameOrigin("/moved"), from: request, status: status)
          case "/moved": .redirect(.other(other, "/away"), from: request, status: status)
          default: response
          }
        }
        try await fixture.working {
          let transfer = try await fixture.end(of: fixture.download { $0.headers = ["Authorization": "Bearer k"] })
          #expect(transfer.state == .finished)
          #expect(try Data(contentsOf: fixture.output) == content)
          #expect(fixture.server.requests.map(\.path) == ["/file", "/moved", "/back"])
          #expect(fixture.server.requests.map { $0["Authorization"] } == ["Bearer k", "Bearer k", nil])
          #expect(other.requests.map { $0["Authorization"] } == [nil])
        }
      }
    }
  }

  @Test("is not resumed with a weak or empty tag, or without a tag", arguments: [nil, "W/\"one\"", "\"\""])
  func weak(tag: String?) async throws {
    let content = TransferFixture.content(100_000)
    try await TransferFixture.with(content) { fixture in
      fixture.serve(content, tag: tag)
      fixture.modify { response, _, number in number < 2 ? response.truncated(at: .body(50_000)) : response }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == .finished)
        #expect(fixture.server.requests.allSatisfy { $0["Range"] == nil })
        #expect(try Data(contentsOf: fixture.output) == content)
      }
    }
  }

  @Test("sends no request before Retry-After is over", arguments: [408, 425, 429, 503])
  func retryAfter(status: Int) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, number in number == 0 ? .busy(status, retryAfter: .seconds(60)) : response }
      try await fixture.working {
        let number = try fixture.download()
        let start = fixture.clock.now
        #expect(try await fixture.end(of: number).state == .finished)
        #expect(fixture.clock.now.seconds(since: start) >= 60)
        #expect(fixture.server.requests.count == 2)
      }
    }
  }

  @Test("is given up after its timeout, also during a longer wait", arguments: [false, true])
  func patience(isWaiting: Bool) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in .busy(503, retryAfter: isWaiting ? .seconds(55) : nil) }
      try await fixture.working {
        let start = fixture.clock.now
        let transfer = try await fixture.end(of: fixture.download { $0.timeout = .seconds(30) })
        #expect(transfer.state == .failed)
        #expect(fixture.clock.now.seconds(since: start) < 50)
        #expect(transfer.failure == "the server responded with 503: Temporarily unavailable")
      }
    }
  }

  @Test("stops while it is suspended, continues when resumed, and leaves no file when cancelled")
  func suspending() async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      fixture.modify { response, _, number in response.hanging(at: .body(number == 0 ? 150_000 : 1000)) }
      try await fixture.working {
        let number = try fixture.download()
        try await fixture.eventually("a part is there") { try fixture.partialSize() == 150_000 }
        try fixture.journal.suspend(number)
        try await fixture.eventually("the connection is gone") { fixture.server.openConnections == 0 }
        #expect(fixture.server.requests.count == 1)
        try fixture.journal.resume(number, at: fixture.clock.now)
        // The clock stands still, so that only the offset is recorded.
        try await eventually("more is there") { try fixture.partialSize() == 151_000 }
        #expect(try fixture.journal.transfer(number)?.completed == 150_000)
        fixture.server.release()
        #expect(try await fixture.end(of: number).state == .finished)
        #expect(fixture.server.requests.last?["Range"] == "bytes=150000-")
        #expect(try Data(contentsOf: fixture.output) == content)
        try FileManager.default.removeItem(at: fixture.output)

        fixture.modify { response, _, _ in response.hanging(at: .body(150_000)) }
        let other = try fixture.download()
        try await fixture.eventually("a part is there") { try fixture.partialSize() == 150_000 }
        try fixture.journal.cancel(other)
        try await fixture.eventually("nothing is left") {
          try fixture.files() == [] && fixture.server.openConnections == 0
        }
        #expect(try fixture.journal.resume(other) == false)
      }
    }
  }

  @Test("is continued after a minute without data")
  func stalled() async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      fixture.modify { response, _, number in number == 0 ? response.hanging(at: .body(150_000)) : response }
      try await fixture.working {
        let number = try fixture.download()
        try await fixture.eventually("a part is there") { try fixture.partialSize() == 150_000 }
        fixture.clock.advance(by: 61)
        // The next attempt may have opened another connection before this one is seen closed.
        try await fixture.eventually("it is interrupted") { try fixture.journal.transfer(number)?.failure != nil }
        #expect(try fixture.journal.transfer(number)?.state == .running)
        try await fixture.finish(number)
        try await fixture.eventually("the first connection is closed") { fixture.server.openConnections <= 1 }
      }
      #expect(try Data(contentsOf: fixture.output) == content)
      #expect(fixture.server.requests.last?["Range"] == "bytes=150000-")
    }
  }

  @Test("waits for its conditions if it is discretionary")
  func discretionary() async throws {
    try await TransferFixture.with { fixture in
      let number = try fixture.download { $0.isDiscretionary = true }
      for obstacle in [Transfer.Obstacle.power, .network] {
        try await fixture.working(obstacles: [obstacle]) {
          let start = fixture.clock.now
          try await fixture.eventually("time passes") { fixture.clock.now.seconds(since: start) > 30 }
        }
      }
      #expect(fixture.server.requests.isEmpty)
      try await fixture.working {
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .finished)
      }
    }
  }

  @Test("runs with at most three others, in the order in which they were added, by one worker")
  func several() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in response.hanging(at: .body(10)) }
      let numbers = try (0..<8).map { index in
        try fixture.download { $0.file = fixture.folder.appending(path: "\(index).bin") }
      }
      try await fixture.working {
        // The clock stands still, so that none waits for the first bytes of another one.
        try await eventually("four are under way") { fixture.server.requests.count == 4 }
        #expect(try fixture.files().map { String($0.prefix(2)) }.sorted() == [".0", ".1", ".2", ".3"])
        #expect(try TransferJournal.needsWorker(store: fixture.folder, clock: fixture.clock) == false)
        let other = try TransferWorker(store: fixture.folder, userAgent: "tests", clock: SystemClock())
        // The second worker gives up after five seconds of real time, because the first one holds the lock.
        #expect(try await other.run() == false)
        #expect(fixture.server.requests.count == 4)
        fixture.modify { response, _, _ in response }
        fixture.server.release()
        for number in numbers { #expect(try await fixture.end(of: number).state == .finished) }
      }
    }
  }

  @Test("is given up if it is larger than the maximum of its request")
  func tooLarge() async throws {
    for framing in [FaultResponse.Framing.chunked, .length(nil)] {
      try await TransferFixture.with(TransferFixture.content(100_000)) { fixture in
        fixture.modify { response, _, _ in response.framed(framing) }
        try await fixture.working {
          let whole = try await fixture.end(of: fixture.download { $0.maximumBytes = 100_000 })
          #expect(whole.state == .finished)
          #expect((whole.completed, whole.total) == (100_000, 100_000))
          try FileManager.default.removeItem(at: fixture.output)
          let transfer = try await fixture.end(of: fixture.download { $0.maximumBytes = 99_999 })
          #expect(transfer.state == .failed)
          #expect(try fixture.files() == [])
        }
      }
    }
  }

  @Test("is given up as soon as it is larger than the maximum of its request, however long its server goes on")
  func endless() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in response.framed(.chunked).hanging(at: .body(200_000)) }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download { $0.maximumBytes = 100_000 })
        #expect(transfer.failure == "the content has more than 100000 bytes")
      }
      #expect(fixture.server.requests.count == 1)
    }
  }

  @Test("is given up at once if the declared length is larger than the maximum of its request")
  func declaredTooLarge() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in response.declaring(length: 1_000_001).hanging(at: .body(10)) }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download { $0.maximumBytes = 1_000_000 })
        #expect(transfer.failure == "the content has more than 1000000 bytes")
      }
      #expect(fixture.server.requests.count == 1)
    }
  }

  @Test("has no coding if the server says so", arguments: ["identity", ""])
  func noCoding(coding: String) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in response.setting("Content-Encoding", coding) }
      try await fixture.working { try await fixture.finish(fixture.download()) }
      #expect(fixture.server.requests.count == 1)
    }
  }
}
