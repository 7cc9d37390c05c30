import Crypto
import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("A download") struct DownloadTests {
  @Test("is put in its place when it is whole, and nothing else is left")
  func whole() async throws {
    let content = Depot.content(300_000)
    try await Depot.with(content) { depot in
      try await depot.working {
        let number = try depot.download {
          $0.sha256 = SHA256.hash(data: content).hexadecimal
        }
        let transfer = try await depot.end(of: number)
        #expect(transfer.state == .finished)
        #expect((transfer.completed, transfer.total) == (300_000, 300_000))
        #expect(try Data(contentsOf: depot.output) == content)
        #expect(try depot.files() == ["output.bin"])
        #expect(depot.server.requests.map { $0["Range"] } == [nil])
        #expect(depot.server.requests.first?["Accept-Encoding"] == "identity")
      }
    }
  }

  @Test("goes on where it was cut off", arguments: [FaultEnding.close, .reset])
  func resuming(ending: FaultEnding) async throws {
    let content = Depot.content(300_000)
    try await Depot.with(content) { depot in
      depot.spoil { answer, _, number in number < 10 ? answer.ending(ending, at: .body(20_000)) : answer }
      try await depot.working {
        let transfer = try await depot.end(of: depot.download())
        #expect(transfer.state == .finished)
        #expect(try Data(contentsOf: depot.output) == content)
        let requests = depot.server.requests
        let offsets = requests.dropFirst().map { $0["Range"]?.dropFirst(6).dropLast() ?? "" }.compactMap { Int($0) }
        #expect(offsets == offsets.sorted())
        #expect(offsets.contains { $0 > 100_000 })
        #expect(requests.dropFirst().allSatisfy { $0["Range"] == nil || $0["If-Range"] == "\"one\"" })
      }
    }
  }

  @Test("begins anew when the file has changed meanwhile, and never mixes the two")
  func changed() async throws {
    let other = Depot.content(250_000, seed: 2)
    try await Depot.with { depot in
      depot.spoil { answer, _, number in number == 0 ? answer.truncated(at: .body(100_000)) : answer }
      try await depot.working {
        let number = try depot.download()
        try await depot.eventually("a part is there") { depot.server.requests.count == 1 }
        depot.serve(other, tag: "\"two\"")
        let transfer = try await depot.end(of: number)
        #expect(transfer.state == .finished)
        #expect(transfer.total == 250_000)
        #expect(try Data(contentsOf: depot.output) == other)
      }
    }
  }

  /// Wrong answers to the second request, which asks for the rest of the file.
  enum Lie: CaseIterable {
    case ignoresRange, wrongOffset, otherTag, otherTotal, notSatisfiable, noContentRange, partAgain
  }

  @Test("is right whatever is wrong with the answer to a request for the rest", arguments: Lie.allCases)
  func lies(lie: Lie) async throws {
    let content = Depot.content(300_000)
    try await Depot.with(content) { depot in
      depot.spoil { answer, _, number in
        if number == 0 { return answer.truncated(at: .body(100_000)) }
        guard number == 1 else { return answer }
        switch lie {
        case .ignoresRange:
          var all = answer.removing("Content-Range")
          (all.status, all.body) = (200, content)
          return all
        case .wrongOffset: return answer.setting("Content-Range", "bytes 99999-299999/300000")
        case .otherTag: return answer.setting("ETag", "\"other\"")
        case .otherTotal: return answer.setting("Content-Range", "bytes 100000-299999/300001")
        case .notSatisfiable: return FaultAnswer(status: 416, headers: [("Content-Range", "bytes */7")])
        case .noContentRange: return answer.removing("Content-Range")
        case .partAgain: return answer.truncated(at: .body(0))
        }
      }
      try await depot.working {
        let transfer = try await depot.end(of: depot.download())
        #expect(transfer.state == .finished)
        #expect(try Data(contentsOf: depot.output) == content)
        #expect(try depot.files() == ["output.bin"])
      }
    }
  }

  @Test("begins anew where the rest is of another version although that was not asked for")
  func otherVersion() async throws {
    let (content, other) = (Depot.content(300_000), Depot.content(300_000, seed: 2))
    try await Depot.with(content) { depot in
      // A server that ignores `If-Range` and sends no digest.
      depot.spoil { answer, request, number in
        if number == 0 { return answer.removing("Repr-Digest").truncated(at: .body(100_000)) }
        let whole = FaultAnswer(
          headers: [("Content-Type", "application/octet-stream"), ("ETag", "\"two\"")], body: other)
        guard let first = request["Range"]?.wholeMatch(of: /bytes=([0-9]+)-/).flatMap({ Int($0.1) }) else {
          return whole
        }
        var rest = whole.setting("Content-Range", "bytes \(first)-299999/300000")
        (rest.status, rest.body) = (206, other.dropFirst(first))
        return rest
      }
      try await depot.working {
        let transfer = try await depot.end(of: depot.download())
        #expect(transfer.state == .finished)
        #expect(try Data(contentsOf: depot.output) == other)
      }
    }
  }

  @Test(
    "begins anew where the part is another one than asked for, or longer than announced", arguments: [0, 1])
  func wrongPart(number: Int) async throws {
    let content = Depot.content(300_000)
    try await Depot.with(content) { depot in
      // A server that sends no digest. It truncates the answer until the client has sent a range request.
      let hasContinued = Mutex(false)
      depot.spoil { answer, request, _ in
        var answer = answer.removing("Repr-Digest")
        guard request["Range"] != nil else {
          return hasContinued.withLock(\.self) ? answer : answer.truncated(at: .body(100_000))
        }
        hasContinued.withLock { $0 = true }
        if number == 1 {
          answer.body.append(0)
          return answer.framed(.chunked)
        }
        answer = answer.setting("Content-Range", "bytes 0-199999/300000")
        answer.body = content.prefix(200_000)
        return answer
      }
      try await depot.working {
        let transfer = try await depot.end(of: depot.download())
        #expect(transfer.state == .finished)
        #expect(try Data(contentsOf: depot.output) == content)
        #expect(depot.server.requests.map { $0["Range"] != nil }.suffix(2) == [true, false])
        #expect(depot.server.requests.count { $0["Range"] != nil } == 1)
      }
    }
  }

  @Test("is over where the server has no more, as 416 tells")
  func complete() async throws {
    let content = Depot.content(100_000)
    try await Depot.with(content) { depot in
      // The first answer has no length and is cut off after all bytes.
      depot.spoil { answer, _, number in
        number == 0 ? answer.framed(.chunked).truncated(at: .body(100_000)) : answer
      }
      try await depot.working {
        let transfer = try await depot.end(of: depot.download())
        #expect(transfer.state == .finished)
        #expect(try Data(contentsOf: depot.output) == content)
      }
    }
  }

  @Test("takes no answer for content that is none of it, and tries again")
  func wrongContent() async throws {
    let content = Depot.content(100_000)
    let spoils: [Depot.Spoil] = [
      { _, _, _ in .captivePortal() }, { answer, _, _ in answer.declaring(length: 100_001) },
      { answer, _, _ in answer.setting("Content-Encoding", "br") },
      { answer, _, _ in
        var other = answer
        other.body[50_000] ^= 1
        return other
      },
      { _, _, _ in .busy(503, retryAfter: nil) }, { _, _, _ in FaultAnswer(status: 500, body: Data("oops".utf8)) },
    ]
    for spoil in spoils {
      try await Depot.with(content) { depot in
        depot.spoil { answer, request, number in number < 2 ? spoil(answer, request, number) : answer }
        try await depot.working {
          let transfer = try await depot.end(of: depot.download())
          #expect(transfer.state == .finished)
          #expect(try Data(contentsOf: depot.output) == content)
        }
      }
    }
  }

  @Test("has failed where it is not there, or is not what it must be, and nothing is left", arguments: 0..<4)
  func failing(number: Int) async throws {
    try await Depot.with { depot in
      if number == 0 { depot.spoil { _, _, _ in FaultAnswer(status: 404, body: Data("no".utf8)) } }
      if number == 1 { depot.spoil { _, request, _ in .redirect(.loop, from: request) } }
      try await depot.working {
        let transfer = try await depot.end(
          of: depot.download { request in
            if number == 2 { request.sha256 = String(repeating: "0", count: 64) }
            if number == 3 { request.mediaType = "image/png" }
          })
        #expect(transfer.state == .failed)
        #expect(transfer.failure?.isEmpty == false)
        // If a later attempt may succeed, the file is requested five times.
        #expect(depot.server.requests.count == [1, 6, 5, 5][number])
        #expect(try depot.files() == [])
      }
    }
  }

  @Test(
    "shows its headers to the origin of its URL, and to nobody after a redirection to another one",
    arguments: [302, 307])
  func credentials(status: Int) async throws {
    let content = Depot.content(1000)
    try await Depot.with(content) { depot in
      let home = depot.server.url
      try await FaultServer.with({ .redirect(.text(home + "/back"), from: $0, status: status) }) { other in
        depot.spoil { answer, request, _ in
          switch request.path {
          case "/file": .redirect(.sameOrigin("/moved"), from: request, status: status)
          case "/moved": .redirect(.other(other, "/away"), from: request, status: status)
          default: answer
          }
        }
        try await depot.working {
          let transfer = try await depot.end(of: depot.download { $0.headers = ["Authorization": "Bearer k"] })
          #expect(transfer.state == .finished)
          #expect(try Data(contentsOf: depot.output) == content)
          #expect(depot.server.requests.map(\.path) == ["/file", "/moved", "/back"])
          #expect(depot.server.requests.map { $0["Authorization"] } == ["Bearer k", "Bearer k", nil])
          #expect(other.requests.map { $0["Authorization"] } == [nil])
        }
      }
    }
  }

  @Test("is whole or nothing where the server has only a weak tag or none", arguments: [nil, "W/\"one\""])
  func weak(tag: String?) async throws {
    let content = Depot.content(100_000)
    try await Depot.with(content) { depot in
      depot.serve(content, tag: tag)
      depot.spoil { answer, _, number in number < 3 ? answer.truncated(at: .body(50_000)) : answer }
      try await depot.working {
        let transfer = try await depot.end(of: depot.download())
        #expect(transfer.state == .finished)
        #expect(depot.server.requests.allSatisfy { $0["Range"] == nil })
        #expect(try Data(contentsOf: depot.output) == content)
      }
    }
  }

  @Test("stays away as long as Retry-After says")
  func retryAfter() async throws {
    try await Depot.with { depot in
      depot.spoil { answer, _, number in number == 0 ? .busy(503, retryAfter: .seconds(60)) : answer }
      try await depot.working {
        let number = try depot.download()
        let start = depot.clock.now
        #expect(try await depot.end(of: number).state == .finished)
        #expect(depot.clock.now.seconds(since: start) >= 60)
        #expect(depot.server.requests.count == 2)
      }
    }
  }

  @Test("is given up when its time is over")
  func patience() async throws {
    try await Depot.with { depot in
      depot.spoil { _, _, _ in .busy(503, retryAfter: nil) }
      try await depot.working {
        let transfer = try await depot.end(of: depot.download { $0.patience = 30 })
        #expect(transfer.state == .failed)
        #expect(transfer.failure == "the server answered 503: Temporarily unavailable")
      }
    }
  }

  @Test("stops while it is suspended, goes on from there, and leaves nothing when it is cancelled")
  func suspending() async throws {
    let content = Depot.content(300_000)
    try await Depot.with(content) { depot in
      depot.spoil { answer, _, number in number == 0 ? answer.hanging(at: .body(150_000)) : answer }
      try await depot.working {
        let number = try depot.download()
        try await depot.eventually("a part is there") { try partialSize(depot) == 150_000 }
        try depot.journal.suspend(number)
        try await depot.eventually("the connection is gone") { depot.server.openConnections == 0 }
        #expect(depot.server.requests.count == 1)
        try depot.journal.resume(number, at: depot.clock.now)
        #expect(try await depot.end(of: number).state == .finished)
        #expect(depot.server.requests.last?["Range"] == "bytes=150000-")
        #expect(try Data(contentsOf: depot.output) == content)
        try FileManager.default.removeItem(at: depot.output)

        depot.spoil { answer, _, _ in answer.hanging(at: .body(150_000)) }
        let other = try depot.download()
        try await depot.eventually("a part is there") { try partialSize(depot) == 150_000 }
        try depot.journal.cancel(other)
        try await depot.eventually("nothing is left") { try depot.files() == [] && depot.server.openConnections == 0 }
        #expect(try depot.journal.resume(other) == false)
      }
    }
  }

  private func partialSize(_ depot: Depot) throws -> Int? {
    guard let name = try depot.files().first(where: { $0.hasSuffix(".part") }) else { return nil }
    return try Data(contentsOf: depot.folder.appending(path: name)).count
  }

  @Test("waits for what it needs if it is discretionary")
  func discretionary() async throws {
    try await Depot.with { depot in
      let number = try depot.download { $0.isDiscretionary = true }
      for obstacle in [Transfer.Obstacle.power, .network] {
        try await depot.working(obstacle: obstacle) {
          let start = depot.clock.now
          try await depot.eventually("time passes") { depot.clock.now.seconds(since: start) > 30 }
        }
      }
      #expect(depot.server.requests.isEmpty)
      try await depot.working {
        let transfer = try await depot.end(of: number)
        #expect(transfer.state == .finished)
      }
    }
  }

  @Test("has three others beside it at the most, and one worker for all")
  func several() async throws {
    try await Depot.with { depot in
      depot.spoil { answer, _, _ in answer.hanging(at: .body(10)) }
      try await depot.working {
        let numbers = try (0..<8).map { index in
          try depot.download { $0.file = depot.folder.appending(path: "\(index).bin") }
        }
        try await depot.eventually("four are under way") { depot.server.requests.count == 4 }
        let other = try TransferWorker(store: depot.folder, userAgent: "tests", clock: SystemClock())
        // The second worker gives up after five seconds of real time, because the first one holds the lock.
        #expect(try await other.run() == false)
        #expect(depot.server.requests.count == 4)
        depot.spoil { answer, _, _ in answer }
        depot.server.release()
        for number in numbers { #expect(try await depot.end(of: number).state == .finished) }
      }
    }
  }

  @Test("is given up if it is larger than the maximum of its request")
  func tooLarge() async throws {
    for framing in [FaultAnswer.Framing.chunked, .length(nil)] {
      try await Depot.with(Depot.content(100_000)) { depot in
        depot.spoil { answer, _, _ in answer.framed(framing) }
        try await depot.working {
          let transfer = try await depot.end(of: depot.download { $0.mostBytes = 99_999 })
          #expect(transfer.state == .failed)
          #expect(try depot.files() == [])
        }
      }
    }
  }
}
