import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

/// Downloads whose server sends a part of the file.
extension DownloadTests {
  /// Downloads a file without a digest whose first connection is closed after 100 000 bytes.
  private func interrupted(
    _ fixture: TransferFixture, _ change: @escaping TransferFixture.Modification
  ) async throws -> Transfer {
    fixture.modify { response, request, number in
      let response = response.removing("Repr-Digest")
      return number == 0 ? response.hanging(at: .body(100_000)) : change(response, request, number)
    }
    let number = try fixture.download()
    try await fixture.eventually("a part is stored") { try fixture.partialSize() == 100_000 }
    await fixture.server.closeConnections()
    return try await fixture.end(of: number)
  }

  @Test(
    "accepts a part only with a valid Content-Range that begins where its own part ends",
    arguments: [
      ("bytes 100000-299999/300000", true), ("Bytes  100000-299999/*", true), ("bytes 100000-300000/300000", false),
      ("bytes 100000-100000/300000", true),
      ("bytes 100000-99999/300000", false), ("bytes 100000-299999", false), ("bits 100000-299999/300000", false),
      ("bytes 100000-299999/1000000000000000000", false), ("bytes */300000", false),
    ])
  func contentRanges(range: String, isAccepted: Bool) async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      try await fixture.working {
        let transfer = try await interrupted(fixture) { response, _, number in
          number == 1 ? response.setting("Content-Range", range) : response
        }
        #expect(transfer.state == .finished, "\(transfer.failure ?? "")")
      }
      #expect(try Data(contentsOf: fixture.output) == content)
      let ranges: [String?] = isAccepted ? [nil, "bytes=100000-"] : [nil, "bytes=100000-", nil]
      #expect(fixture.server.requests.map { $0["Range"] } == ranges)
    }
  }

  @Test("is not complete after a part that ends early and names neither a length nor a tag")
  func unknownLength() async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      try await fixture.working {
        let transfer = try await interrupted(fixture) { response, _, number in
          guard number == 1 else { return response }
          return response.removing("ETag").setting("Content-Range", "bytes 100000-199999/*")
            .body { $0.prefix(100_000) }.framed(.chunked)
        }
        #expect(transfer.state == .finished, "\(transfer.failure ?? "")")
      }
      #expect(try Data(contentsOf: fixture.output) == content)
      #expect(fixture.server.requests.map { $0["Range"] } == [nil, "bytes=100000-", "bytes=200000-"])
    }
  }

  @Test("has the length that a part with its tag names, whatever was declared before", arguments: [true, false])
  func wrongDeclaration(hasTag: Bool) async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      fixture.modify { response, _, number in
        let response = response.removing("Repr-Digest")
        guard number == 0 else { return hasTag ? response : response.removing("ETag") }
        return response.declaring(length: 300_100).hanging(at: .body(100_000))
      }
      try await fixture.working {
        let number = try fixture.download()
        try await fixture.eventually("a part is stored") { try fixture.partialSize() == 100_000 }
        await fixture.server.closeConnections()
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .finished, "\(transfer.failure ?? "")")
        #expect(transfer.total == 300_000)
      }
      #expect(try Data(contentsOf: fixture.output) == content)
      // Without a tag, another length is that of another version.
      let ranges: [String?] = hasTag ? [nil, "bytes=100000-"] : [nil, "bytes=100000-", nil]
      #expect(fixture.server.requests.map { $0["Range"] } == ranges)
    }
  }

  @Test("does not continue with the page of a portal, and keeps its part", arguments: [206, 200])
  func portalInTheRest(status: Int) async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      try await fixture.working {
        let transfer = try await interrupted(fixture) { response, _, number in
          guard number == 1 else { return response }
          if status == 200 { return .captivePortal() }
          return response.setting("Content-Type", "text/html").body { Data(count: $0.count) }
        }
        #expect(transfer.state == .finished, "\(transfer.failure ?? "")")
      }
      #expect(try Data(contentsOf: fixture.output) == content)
      #expect(fixture.server.requests.map { $0["Range"] } == [nil, "bytes=100000-", "bytes=100000-"])
    }
  }

  @Test(
    "is given up after three attempts if the server sends a part although it was asked for all",
    arguments: ["bytes 0-299999/300000", "bytes 0-299999/*", "bytes */0"])
  func unrequestedPart(range: String) async throws {
    try await TransferFixture.with { fixture in
      let lines = Mutex<[String]>([])
      fixture.modify { response, _, _ in
        var part = response.setting("Content-Range", range)
        part.status = range == "bytes */0" ? 416 : 206
        // Without a length and a tag, nothing says that it is a part of another version.
        return range.hasSuffix("/*") ? part.removing("ETag") : part
      }
      let number = try fixture.download()
      try await fixture.working(log: { line in lines.withLock { $0.append(line) } }) {
        let transfer = try await fixture.end(of: number)
        let failure = "the server sent a part of the file although all of it was requested"
        #expect(transfer.state == .failed)
        #expect(transfer.failure == failure)
        #expect(lines.withLock(\.self) == Array(repeating: "transfer \(number): \(failure)", count: 3))
      }
      // Each attempt asks twice.
      #expect(fixture.server.requests.count == 6)
      #expect(try fixture.files() == [])
    }
  }

  @Test("is requested from its beginning if no byte of it has arrived")
  func noByte() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, number in number == 0 ? response.hanging(at: .body(0)) : response }
      let number = try fixture.download()
      try await fixture.working {
        try await fixture.eventually("the head has arrived") { try fixture.journal.transfer(number)?.total == 300_000 }
        await fixture.server.closeConnections()
        try await fixture.finish(number)
      }
      #expect(fixture.server.requests.map { $0["Range"] } == [nil, nil])
    }
  }

  @Test("counts from the beginning when it begins again")
  func countedAnew() async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      fixture.serve(content, tag: nil)
      fixture.modify { response, _, number in response.hanging(at: .body(number == 0 ? 100_000 : 0)) }
      let number = try fixture.download()
      try await fixture.working {
        try await fixture.eventually("a part is stored") { try fixture.partialSize() == 100_000 }
        await fixture.server.closeConnections()
        try await fixture.eventually("it begins again") { fixture.server.requests.count == 2 }
        // The clock stands still, so that the second attempt goes on.
        try await eventually("nothing has arrived") { try fixture.journal.transfer(number)?.completed == 0 }
      }
    }
  }

  @Test("is resumed at the server to which it is redirected, in a folder that it makes")
  func redirectedRest() async throws {
    let content = TransferFixture.content(300_000)
    try await FaultServer.with({ request in
      guard request["Range"] != nil else {
        return FaultResponse(headers: [("ETag", "\"one\"")], body: content).hanging(at: .body(100_000))
      }
      return FaultResponse(
        status: 206, headers: [("ETag", "\"one\""), ("Content-Range", "bytes 100000-299999/300000")],
        body: content.dropFirst(100_000))
    }) { other in
      try await TransferFixture.with(content) { fixture in
        fixture.modify { _, request, _ in .redirect(.other(other, "/file"), from: request, status: 302) }
        let file = fixture.folder.appending(path: "new/folder/output.bin")
        let number = try fixture.download { $0.file = file }
        try await fixture.working {
          try await fixture.eventually("a part is stored") { try fixture.partialSize() == 100_000 }
          await other.closeConnections()
          try await fixture.finish(number)
        }
        #expect(try Data(contentsOf: file) == content)
        #expect(other.requests.map { $0["Range"] } == [nil, "bytes=100000-"])
        #expect(other.requests.last?["If-Range"] == "\"one\"")
      }
    }
  }

  @Test(
    "says after an interruption how much has arrived, in units that show what is missing",
    arguments: [
      (100_000, nil, "97.7 of 293.0 KiB"), (1000, nil, "1000 B of 293.0 KiB"), (299_999, nil, "299999 of 300000 B"),
      (100_000, .chunked, "97.7 KiB"),
    ] as [(Int, FaultResponse.Framing?, String)])
  func amounts(bytes: Int, framing: FaultResponse.Framing?, text: String) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in (framing.map { response.framed($0) } ?? response).hanging(at: .body(bytes)) }
      let number = try fixture.download()
      try await fixture.working {
        try await eventually("a part is stored") { try fixture.partialSize() == bytes }
        await fixture.server.closeConnections()
        // The clock stands still, so that there is no other attempt.
        try await eventually("it has failed") { try fixture.journal.transfer(number)?.failure != nil }
        #expect(try fixture.journal.transfer(number)?.failure == "the connection ended after \(text)")
      }
    }
  }

  @Test("records the received bytes when the connection breaks", arguments: [FaultEnding.close, .reset])
  func recordedAtTheBreak(ending: FaultEnding) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in
        response.dripping(bytes: 20_000, every: .milliseconds(10)).ending(ending, at: .body(150_000))
      }
      let number = try fixture.download()
      try await fixture.working {
        // The clock stands still, so that nothing is recorded before and no other attempt begins.
        try await eventually("it is interrupted") { try fixture.journal.transfer(number)?.failure != nil }
        let completed = try #require(try fixture.journal.transfer(number)).completed
        #expect(completed > 0)
        #expect(try fixture.partialSize().map { Int64($0) } == completed)
      }
    }
  }

  @Test(
    "has its media type in any case, and is a page only if one was requested",
    arguments: [
      ("Application/Octet-Stream", "application/octet-stream", true), ("text/html", "Text/HTML; charset=utf-8", true),
      (nil, "TEXT/HTML; charset=utf-8", false), ("text/plain", "text/html", false),
    ] as [(String?, String, Bool)])
  func mediaTypes(required: String?, type: String, isAccepted: Bool) async throws {
    try await TransferFixture.with(TransferFixture.content(1000)) { fixture in
      fixture.modify { response, _, _ in response.setting("Content-Type", type) }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download { $0.mediaType = required })
        #expect(transfer.state == (isAccepted ? .finished : .failed))
        #expect(transfer.failure == (isAccepted ? nil : "the content has the media type text/html"))
      }
    }
  }
}
