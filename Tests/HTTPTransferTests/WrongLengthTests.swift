import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("A download whose declared length is wrong") struct WrongLengthTests {
  private static let content = TransferFixture.content(300_000)

  /// Servers that close the connection before the declared end.
  enum Lie: CaseIterable {
    case noTag, ignoresRange, weakTag, emptyPart, wrongTotal
  }

  private func modification(_ lie: Lie) -> TransferFixture.Modification {
    let content = Self.content
    return { response, request, _ in
      var whole = FaultResponse(
        headers: [("Content-Type", "application/octet-stream"), ("ETag", "\"one\"")], body: content)
      whole = whole.declaring(length: content.count + 100).truncated(at: .body(content.count))
      switch lie {
      case .noTag: return whole.removing("ETag")
      case .weakTag: return whole.setting("ETag", "W/\"one\"")
      case .ignoresRange: return whole
      case .emptyPart, .wrongTotal:
        guard request["Range"] != nil else { return whole }
        var part = whole.setting("Content-Range", "bytes 300000-300099/\(lie == .emptyPart ? 300_100 : 300_200)")
        (part.status, part.body) = (206, Data())
        return part.declaring(length: 100).truncated(at: .body(0))
      }
    }
  }

  @Test("is requested three times with increasing waits, and then fails", arguments: Lie.allCases)
  func tooLarge(lie: Lie) async throws {
    try await TransferFixture.with(Self.content) { fixture in
      let (modify, clock) = (modification(lie), fixture.clock)
      let times = Mutex<[FetchInstant]>([])
      fixture.modify { response, request, number in
        times.withLock { $0.append(clock.now) }
        return modify(response, request, number)
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == .failed)
        let failure = transfer.failure ?? ""
        // Bytes that arrive together with the end of a connection may be lost.
        #expect(
          failure.wholeMatch(of: /the connection ended after .* of .*, and too early in 3 attempts/) != nil,
          "\(failure)")
        try await eventually("no part remains") { try fixture.files() == [] }
      }
      // A wrong part is followed by a request for all within the same attempt.
      let instants = times.withLock(\.self)
      #expect(instants.count <= (lie == .wrongTotal ? 5 : 3))
      // The waits are at least 0.25 and 0.5 s. The clock advances during the attempts, too. A part that is not the requested
      // one, as after lost bytes, is followed by another request at once.
      let ranges = Set(fixture.server.requests.compactMap { $0["Range"] })
      if let first = instants.first, let last = instants.last, lie != .wrongTotal,
        ranges.isSubset(of: ["bytes=300000-"]) || lie == .ignoresRange
      {
        #expect(last.seconds(since: first) >= 0.75)
      }
      #expect(fixture.server.bytesWritten < 3 * 310_000)
    }
  }

  @Test("is complete if a 416 reports that all of it was received", arguments: [true, false])
  func complete(hasDigest: Bool) async throws {
    let content = Self.content
    try await TransferFixture.with(content) { fixture in
      fixture.modify { response, request, _ in
        let response = hasDigest ? response : response.removing("Repr-Digest")
        guard request["Range"] == nil else { return response }
        return response.declaring(length: content.count + 100).setting("Connection", "close")
          .hanging(at: .body(content.count))
      }
      try await fixture.working {
        let number = try fixture.download()
        // Bytes that arrive together with the end of a connection may be lost.
        try await fixture.eventually("all bytes are stored") { try fixture.partialSize() == content.count }
        fixture.server.release()
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .finished, "\(transfer.failure ?? "")")
        #expect((transfer.completed, transfer.total) == (300_000, 300_000))
        #expect(try Data(contentsOf: fixture.output) == content)
        #expect(fixture.server.requests.map { $0["Range"] } == [nil, "bytes=300000-"])
      }
    }
  }

  @Test("is not complete after a 416 if its digest is another one")
  func wrongDigest() async throws {
    let content = Self.content
    try await TransferFixture.with(content) { fixture in
      fixture.modify { response, request, _ in
        guard request["Range"] == nil else { return response }
        var other = response
        other.body[7] ^= 1
        return other.declaring(length: content.count + 100).truncated(at: .body(content.count))
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == .failed)
        #expect(fixture.server.requests.count { $0["Range"] == nil } <= 3)
        #expect(try fixture.files() == [])
      }
    }
  }

  @Test("is requested three times if it is too small for the announced digest")
  func tooSmall() async throws {
    try await TransferFixture.with(Self.content) { fixture in
      fixture.modify { response, _, _ in response.declaring(length: 200_000) }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == .failed)
        #expect(transfer.failure == "the content does not have the expected SHA-256")
        #expect(fixture.server.requests.count == 3)
        #expect(try fixture.files() == [])
        // A resume by the user begins a new count.
        try fixture.journal.resume(transfer.number, at: fixture.clock.now)
        #expect(try await fixture.end(of: transfer.number).state == .failed)
        #expect(fixture.server.requests.count == 6)
      }
    }
  }

  /// A transport whose responses end early, and which reports no error.
  private struct Short: HTTPTransport {
    func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
      let body = AsyncThrowingStream<Data, any Error> { continuation in
        continuation.yield(Data(count: 1000))
        continuation.finish()
      }
      return HTTPTransportResponse(status: 200, headers: [HTTPHeader("Content-Length", "4000")], body: body)
    }

    func upload(
      _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse { throw HTTPTransportError(.broken, "not used") }
  }

  @Test("is noticed although the transport reports no error, and called repeated after the third attempt")
  func short() async throws {
    try await TransferFixture.with { fixture in
      let lines = Mutex<[String]>([])
      let number = try fixture.download()
      try await fixture.working(transport: Short(), log: { line in lines.withLock { $0.append(line) } }) {
        let end = try await fixture.end(of: number)
        #expect(end.state == .failed)
      }
      let line = "transfer \(number): the connection ended after 1000 B of 3.9 KiB"
      #expect(lines.withLock(\.self) == [line, line, line + ", and too early in 3 attempts"])
      #expect(try fixture.files() == [])
    }
  }

  @Test("is no reason to end a download that is cut elsewhere each time", arguments: [nil, "W/\"one\""])
  func honestCuts(tag: String?) async throws {
    let content = TransferFixture.content(4_000_000)
    try await TransferFixture.with(content) { fixture in
      let cuts = [1_400_000, 3_500_000, 700_000, 2_500_000, 3_999_999]
      let times = Mutex<[FetchInstant]>([])
      fixture.modify { [clock = fixture.clock] response, _, number in
        times.withLock { $0.append(clock.now) }
        let response = tag.map { response.setting("ETag", $0) } ?? response.removing("ETag")
        return number < cuts.count ? response.truncated(at: .body(cuts[number])) : response
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == .finished, "\(transfer.failure ?? "")")
        #expect(try Data(contentsOf: fixture.output) == content)
      }
      let instants = times.withLock(\.self)
      #expect(instants.count == 6)
      // The received part is lost each time, so that the waits increase: at least 0.5, 1, 2, 4 and 8 s.
      if let first = instants.first, let last = instants.last { #expect(last.seconds(since: first) >= 15.5) }
    }
  }

  /// Serves the file without a tag, and cuts the first responses after some bytes.
  private func cut(
    _ fixture: TransferFixture, _ cuts: [Int],
    by cut: @escaping @Sendable (FaultResponse, Int) -> FaultResponse = { $0.truncated(at: .body($1)) }
  ) {
    fixture.modify { response, _, number in
      let response = response.removing("ETag")
      return number < cuts.count ? cut(response, cuts[number]) : response
    }
  }

  @Test("ends a small download after three cuts, because the bytes on their way may be lost, so that no place is exact")
  func smallCuts() async throws {
    try await TransferFixture.with(Self.content) { fixture in
      cut(fixture, [100_000, 180_000, 260_000])
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == .failed)
      }
      #expect(fixture.server.requests.count == 3)
    }
  }

  @Test("ends a download after three cuts that are less than an eighth of it apart")
  func cutsNearby() async throws {
    try await TransferFixture.with(TransferFixture.content(4_000_000)) { fixture in
      let cuts = [1_000_000, 1_400_000, 1_000_000]
      cut(fixture, cuts) { $0.hanging(at: .body($1)) }
      let number = try fixture.download()
      try await fixture.working {
        // Bytes that arrive together with the end of a connection may be lost.
        for cut in cuts {
          try await fixture.eventually("\(cut) bytes are stored") { try fixture.partialSize() == cut }
          await fixture.server.closeConnections()
        }
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .failed)
      }
      #expect(fixture.server.requests.count == 3)
    }
  }

  @Test("is requested after a longer wait if a second cut is nearby, although more bytes had arrived")
  func waitAfterCuts() async throws {
    let content = TransferFixture.content(4_000_000)
    try await TransferFixture.with(content) { fixture in
      // A server that sends a tag and ignores ranges.
      fixture.modify { _, _, number in
        FaultResponse(
          headers: [("Content-Type", "application/octet-stream"), ("ETag", "\"one\"")], body: content
        ).hanging(at: .body(number == 0 ? 1_000_000 : 1_400_000))
      }
      let number = try fixture.download()
      func wait() throws -> Double {
        fixture.journal.delay(of: try #require(try fixture.journal.transfer(number)), clock: fixture.clock)
      }
      try await fixture.working {
        for cut in [1_000_000, 1_400_000] {
          try await fixture.eventually("\(cut) bytes are stored") { try fixture.partialSize() == cut }
          await fixture.server.closeConnections()
          // The clock stands still while the failure is stored.
          try await eventually("the attempt has ended") { try wait() > 0 }
        }
        #expect(try wait() >= 0.5)
      }
    }
  }

  @Test("ends a download after three cuts at the same place in a row")
  func cutsInARow() async throws {
    try await TransferFixture.with(TransferFixture.content(4_000_000)) { fixture in
      cut(fixture, [1_000_000, 1_000_000, 3_900_000, 1_000_000, 1_000_000, 1_000_000])
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == .failed)
        #expect(fixture.server.requests.count == 6)
      }
    }
  }
}
