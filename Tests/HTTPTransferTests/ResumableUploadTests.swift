import Crypto
import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("An upload of a large file") struct ResumableUploadTests {
  static let content = TransferFixture.content(1_200_000)

  func upload(_ fixture: TransferFixture, _ content: Data = content, method: String = "POST") throws -> Int64 {
    let file = fixture.folder.appending(path: "input.bin")
    try content.write(to: file)
    var request = TransferRequest(upload: file, to: fixture.url, method: method)
    request.mediaType = "image/png"
    request.headers = ["Authorization": "Bearer key"]
    let number = try fixture.journal.add(request).number
    try fixture.journal.resume(number, at: fixture.clock.now)
    return number
  }

  func with(
    location: String = "/uploads/7", _ body: (TransferFixture, PartServer) async throws -> Void
  ) async throws {
    try await TransferFixture.with { fixture in
      let parts = PartServer(fixture, location: location)
      fixture.modify(parts.respond)
      try await body(fixture, parts)
    }
  }

  @Test("is begun with an empty request, and sent in another one")
  func whole() async throws {
    try await with { fixture, parts in
      try await fixture.working {
        let transfer = try await fixture.end(of: upload(fixture))
        #expect(transfer.state == .finished)
        #expect((transfer.completed, transfer.total) == (1_200_000, 1_200_000))
        #expect(transfer.response?.location == "/v1/media/1")
        #expect(parts.state.withLock(\.received) == Self.content)
        let requests = fixture.server.requests
        #expect(requests.map(\.method) == ["OPTIONS", "POST", "PATCH"])
        #expect(requests.map(\.path) == ["/file", "/file", "/uploads/7"])
        #expect(requests.map { $0["Authorization"] } == ["Bearer key", "Bearer key", "Bearer key"])
        #expect(requests.map { $0["Upload-Draft-Interop-Version"] } == ["6", "6", "6"])
        #expect(requests.map { $0["Upload-Complete"] } == [nil, "?0", "?1"])
        #expect(requests.map { $0["Content-Type"] } == [nil, "image/png", "application/partial-upload"])
        #expect(requests[1]["Upload-Length"] == "1200000")
        let digest = Data(SHA256.hash(data: Self.content)).base64EncodedString()
        #expect(requests[1]["Repr-Digest"] == "sha-256=:\(digest):")
        #expect(requests[1].body.isEmpty)
        #expect(requests[2]["Upload-Offset"] == "0")
      }
    }
  }

  @Test(
    "continues at the offset of the server after an interruption, also by another worker", arguments: [true, false])
  func interrupted(isKilled: Bool) async throws {
    try await with { fixture, parts in
      parts.state.withLock { $0.breaksAfter = 400_000 }
      let number = try upload(fixture)
      if isKilled {
        try await fixture.working {
          try await fixture.eventually("it has been interrupted") {
            try fixture.journal.transfer(number)?.failure != nil
          }
        }
      }
      try await fixture.working { try await fixture.finish(number) }
      #expect(parts.state.withLock(\.received) == Self.content)
      let requests = fixture.server.requests
      #expect(requests.map(\.method) == ["OPTIONS", "POST", "PATCH", "HEAD", "PATCH"])
      #expect(requests.last?["Upload-Offset"] == "400000")
      #expect(requests.last?.body.count == 800_000)
      #expect(requests.allSatisfy { $0["Authorization"] == "Bearer key" })
      #expect(requests.allSatisfy { $0["Upload-Draft-Interop-Version"] == "6" })
    }
  }

  @Test("reports to its session that it continues at an offset", arguments: [400_000, 0])
  func resumed(offset: Int) async throws {
    final class Events: TransferDelegate {
      let lines = Mutex<[String]>([])
      func transfer(_ task: TransferTask, didResumeAt offset: Int64, expected: Int64?) {
        lines.withLock { $0.append("resumed at \(offset) of \(expected ?? -1)") }
      }
      func transfer(_ task: TransferTask, didFinishDownloadingTo file: URL) {
        lines.withLock { $0.append("downloaded") }
      }

      func transfer(_ task: TransferTask, didEndAs transfer: Transfer) {
        lines.withLock { $0.append(transfer.state.rawValue) }
      }
    }
    try await with { fixture, parts in
      parts.state.withLock { $0.breaksAfter = offset }
      let file = fixture.folder.appending(path: "input.bin")
      try Self.content.write(to: file)
      let events = Events()
      let session = try TransferSession(identifier: "media", store: fixture.folder, delegate: events) {}
      let number = try session.transfer(TransferRequest(upload: file, to: fixture.url)).number
      try fixture.journal.resume(number, at: fixture.clock.now)
      try await fixture.working {
        try await fixture.eventually("it has ended") { events.lines.withLock { $0.last == "finished" } }
      }
      #expect(
        events.lines.withLock(\.self) == (offset > 0 ? ["resumed at 400000 of 1200000"] : []) + ["finished"])
      await session.invalidate()
    }
  }

  @Test("begins again if the server has dropped it, or has it from another file")
  func dropped() async throws {
    try await with { fixture, parts in
      parts.state.withLock { $0.breaksAfter = 400_000 }
      let number = try upload(fixture)
      try await fixture.working {
        try await fixture.eventually("it has been interrupted") { try fixture.journal.transfer(number)?.failure != nil }
        parts.state.withLock { $0.exists = false }
        try await fixture.finish(number)
      }
      #expect(parts.state.withLock(\.received) == Self.content)
      #expect(fixture.server.requests.map(\.method).suffix(4) == ["HEAD", "OPTIONS", "POST", "PATCH"])
      // The same for a file of another length.
      parts.state.withLock { $0.breaksAfter = 400_000 }
      let other = try upload(fixture)
      try await fixture.working {
        try await fixture.eventually("it has been interrupted") { try fixture.journal.transfer(other)?.failure != nil }
        let changed = TransferFixture.content(1_300_000, seed: 2)
        try changed.write(to: fixture.folder.appending(path: "input.bin"))
        try await fixture.finish(other)
        #expect(parts.state.withLock(\.received) == changed)
      }
    }
  }

  @Test("asks for the response again if it was lost, without a byte of the file")
  func lostResponse() async throws {
    try await with { fixture, parts in
      let number = try upload(fixture)
      fixture.modify { original, request, count in
        let answer = parts.respond(original, request, count)
        return request.method == "PATCH" && !request.body.isEmpty ? answer.resetting(at: .start) : answer
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .finished)
        #expect(transfer.response?.location == "/v1/media/1")
      }
      #expect(fixture.server.requests.map(\.method) == ["OPTIONS", "POST", "PATCH", "HEAD", "PATCH"])
      #expect(fixture.server.requests.last?.body.isEmpty == true)
      #expect(fixture.server.requests.last?["Upload-Offset"] == "1200000")
      #expect(parts.state.withLock(\.received) == Self.content)
    }
  }

  @Test("is not complete while the server says that bytes are missing")
  func incomplete() async throws {
    try await with { fixture, parts in
      let number = try upload(fixture)
      fixture.modify { original, request, count in
        guard request.method == "PATCH", count == 2 else { return parts.respond(original, request, count) }
        // The server has stored some of the bytes, which is a success of the request.
        parts.state.withLock { $0.received = Data(request.body.prefix(400_000)) }
        return FaultResponse(
          status: 204,
          headers: [
            ("Upload-Draft-Interop-Version", "6"), ("Upload-Offset", "400000"), ("Upload-Complete", "?0"),
          ])
      }
      try await fixture.working { try await fixture.finish(number) }
      #expect(fixture.server.requests.map(\.method) == ["OPTIONS", "POST", "PATCH", "HEAD", "PATCH"])
      #expect(parts.state.withLock(\.received) == Self.content)
    }
  }

  @Test("begins again if the server continues at an impossible offset", arguments: ["1200001", "-1", "x"])
  func impossibleOffset(offset: String) async throws {
    try await with { fixture, parts in
      parts.state.withLock { $0.breaksAfter = 400_000 }
      let number = try upload(fixture)
      fixture.modify { original, request, count in
        let answer = parts.respond(original, request, count)
        return request.method == "HEAD" ? answer.setting("Upload-Offset", offset) : answer
      }
      try await fixture.working { try await fixture.finish(number) }
      #expect(fixture.server.requests.map(\.method).suffix(4) == ["HEAD", "OPTIONS", "POST", "PATCH"])
      #expect(parts.state.withLock(\.received) == Self.content)
    }
  }

  @Test("continues at an address relative to the one that has begun it")
  func relativeLocation() async throws {
    try await with(location: "uploads/7") { fixture, parts in
      fixture.modify { original, request, count in
        request.path == "/file"
          ? .redirect(.sameOrigin("/new/place"), from: request, status: 308)
          : parts.respond(original, request, count)
      }
      try await fixture.working { try await fixture.finish(upload(fixture)) }
      #expect(fixture.server.requests.last?.method == "PATCH")
      #expect(fixture.server.requests.last?.path == "/new/uploads/7")
      #expect(parts.state.withLock(\.received) == Self.content)
    }
  }

  @Test("is one request if the server refuses to begin it in several", arguments: [400, 404, 405, 409, 501])
  func notBegun(status: Int) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { original, request, _ in
        if request.method == "OPTIONS" {
          return FaultResponse(status: 204, headers: [("Upload-Draft-Interop-Version", "6")])
        }
        return request["Upload-Complete"] == nil ? original : FaultResponse(status: status)
      }
      try await fixture.working { try await fixture.finish(upload(fixture)) }
      #expect(fixture.server.requests.map(\.method) == ["OPTIONS", "POST", "POST"])
      #expect(fixture.server.requests.last?.body == Self.content)
    }
  }

  @Test("asks for the offset after a conflict")
  func conflict() async throws {
    try await with { fixture, parts in
      let number = try upload(fixture)
      fixture.modify { original, request, count in
        // Another request is still open at the server.
        request.method == "PATCH" && count == 2
          ? FaultResponse(status: 409, headers: [("Retry-After", "1")]) : parts.respond(original, request, count)
      }
      try await fixture.working { try await fixture.finish(number) }
      #expect(fixture.server.requests.map(\.method) == ["OPTIONS", "POST", "PATCH", "HEAD", "PATCH"])
      #expect(parts.state.withLock(\.received) == Self.content)
    }
  }

  @Test(
    "is one request to a server without such uploads, which is asked once",
    arguments: [(404, nil), (405, nil), (200, nil), (501, nil), (204, "5"), (300, "6"), (404, "6")] as [(Int, String?)])
  func unsupported(status: Int, version: String?) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { original, request, number in
        if request.method == "OPTIONS" {
          let fields = version.map { [("Upload-Draft-Interop-Version", $0)] } ?? []
          return FaultResponse(status: status, headers: fields)
        }
        return number < 3 ? original.resetting(at: .start) : original
      }
      try await fixture.working {
        try await fixture.finish(upload(fixture))
      }
      #expect(fixture.server.requests.map(\.method) == ["OPTIONS", "POST", "POST", "POST"])
      #expect(fixture.server.requests.dropFirst().allSatisfy { $0["Upload-Complete"] == nil })
      #expect(fixture.server.requests.last?.body == Self.content)
    }
  }

  @Test("is sent in several requests from a mebibyte on")
  func smallest() async throws {
    try await with { fixture, _ in
      try await fixture.working { try await fixture.finish(upload(fixture, Self.content.prefix(1 << 20))) }
      #expect(fixture.server.requests.map(\.method) == ["OPTIONS", "POST", "PATCH"])
    }
  }

  @Test("is one request if it is small, or sent with PUT")
  func plain() async throws {
    try await TransferFixture.with { fixture in
      try await fixture.working {
        try await fixture.finish(upload(fixture, Self.content.prefix((1 << 20) - 1)))
        try await fixture.finish(upload(fixture, method: "PUT"))
      }
      #expect(fixture.server.requests.map(\.method) == ["POST", "PUT"])
    }
  }

  @Test("ends if the server begins it at another origin, which receives no header field")
  func otherOrigin() async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 204) }) { other in
      try await with(location: other.url + "/uploads/7") { fixture, _ in
        try await fixture.working {
          let transfer = try await fixture.end(of: upload(fixture))
          #expect(transfer.state == .failed)
          #expect(transfer.failure == "the server has begun the upload at another address")
        }
        #expect(other.requests.isEmpty)
      }
    }
  }

  @Test("is cancelled at the server too")
  func cancelled() async throws {
    try await with { fixture, parts in
      let number = try upload(fixture)
      fixture.modify { original, request, count in
        let answer = parts.respond(original, request, count)
        return request.method == "PATCH" ? answer.hanging(at: .start) : answer
      }
      try await fixture.working {
        try await fixture.eventually("the file is sent") { fixture.server.requests.last?.method == "PATCH" }
        try fixture.journal.cancel(number)
        try await fixture.eventually("the server has dropped it") { !parts.state.withLock(\.exists) }
      }
      #expect(fixture.server.requests.last?.path == "/uploads/7")
      #expect(fixture.server.requests.last?["Authorization"] == "Bearer key")
      #expect(fixture.server.requests.last?["Upload-Draft-Interop-Version"] == "6")
    }
  }

  @Test("is cancelled at the place to which the server redirects", arguments: [307, 308])
  func cancelledElsewhere(status: Int) async throws {
    try await with { fixture, parts in
      let number = try upload(fixture)
      fixture.modify { original, request, count in
        if request.method == "DELETE", request.path == "/uploads/7" {
          return .redirect(.sameOrigin("/new/7"), from: request, status: status)
        }
        let answer = parts.respond(original, request, count)
        return request.method == "PATCH" ? answer.hanging(at: .start) : answer
      }
      try await fixture.working {
        try await fixture.eventually("the file is sent") { fixture.server.requests.last?.method == "PATCH" }
        try fixture.journal.cancel(number)
        try await fixture.eventually("the server has dropped it") { !parts.state.withLock(\.exists) }
      }
      let last = try #require(fixture.server.requests.last)
      #expect((last.method, last.path, last["Authorization"]) == ("DELETE", "/new/7", "Bearer key"))
    }
  }

  @Test("waits while the server is busy before it is begun", arguments: [429, 502, 503, 504])
  func busy(status: Int) async throws {
    try await with { fixture, parts in
      fixture.modify { original, request, count in
        count == 0 ? .busy(status, retryAfter: .seconds(60)) : parts.respond(original, request, count)
      }
      let number = try upload(fixture)
      try await fixture.working {
        let start = fixture.clock.now
        try await fixture.finish(number)
        #expect(fixture.clock.now.seconds(since: start) >= 60)
      }
      #expect(fixture.server.requests.map(\.method) == ["OPTIONS", "OPTIONS", "POST", "PATCH"])
    }
  }

  @Test("is one request by a transport that sends only whole files")
  func simpleTransport() async throws {
    struct Simple: HTTPTransport {
      let base = AsyncHTTPTransport()
      func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
        try await base.get(url, headers: headers)
      }
      func upload(
        _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
      ) async throws -> HTTPTransportResponse {
        try await base.upload(file, to: url, method: method, headers: headers)
      }
    }
    try await TransferFixture.with { fixture in
      let number = try upload(fixture)
      let worker = try TransferWorker(
        store: fixture.folder, userAgent: "tests/1", transport: Simple(), clock: fixture.clock)
      let task = Task { try await worker.run() }
      try await fixture.finish(number)
      task.cancel()
      _ = try await task.value
      #expect(fixture.server.requests.map(\.method) == ["POST"])
    }
  }
}
