import FaultServer
import Foundation
import HTTPTransfer
import TestKit
import Testing

@Suite("An upload") struct UploadTests {
  private func upload(_ fixture: TransferFixture, _ content: Data) throws -> Int64 {
    let file = fixture.folder.appending(path: "input.bin")
    try content.write(to: file)
    var request = TransferRequest(upload: file, to: fixture.url)
    request.mediaType = "image/png"
    request.headers = ["Authorization": "Bearer key"]
    let number = try fixture.journal.add(request).number
    try fixture.journal.resume(number, at: fixture.clock.now)
    return number
  }

  @Test("arrives completely, and stores the server's response")
  func whole() async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with { fixture in
      try await fixture.working {
        let transfer = try await fixture.end(of: upload(fixture, content))
        #expect(transfer.state == .finished)
        #expect((transfer.completed, transfer.total) == (300_000, 300_000))
        #expect(transfer.response?.status == 201)
        #expect(transfer.response?.location == "/v1/media/1")
        #expect(transfer.response?.body == Data("{}".utf8))
        // Earlier builds use the same name.
        let stored = try JSONEncoder().encode(transfer)
        #expect(String(decoding: stored, as: UTF8.self).contains(#""answer":"#))
        #expect(fixture.arrived == [content])
        let request = try #require(fixture.server.requests.first)
        #expect(request["Content-Type"] == "image/png")
        #expect(request["Authorization"] == "Bearer key")
        #expect(request["Content-Length"] == "300000")
        #expect(request["User-Agent"] == "tests/1 (+https://example.org)")
      }
    }
  }

  @Test("is repeated after failures, and fails after a refusal")
  func refusals() async throws {
    let content = TransferFixture.content(100_000)
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, number in
        switch number {
        case 0, 1: response.resetting(at: .start)
        case 2: .busy(503, retryAfter: nil)
        case 3: .busy(429, retryAfter: .seconds(60))
        case 4: response
        default: FaultResponse(status: 403)
        }
      }
      try await fixture.working {
        let repeated = try await fixture.end(of: upload(fixture, content))
        #expect(repeated.state == .finished && repeated.failure == nil)
        #expect(fixture.server.requests.count == 5)
        let refused = try await fixture.end(of: upload(fixture, content))
        #expect(refused.state == .failed)
        #expect(refused.failure == "the server responded with 403")
        try FileManager.default.removeItem(at: fixture.folder.appending(path: "input.bin"))
        let missing = try fixture.journal.add(
          TransferRequest(upload: fixture.folder.appending(path: "input.bin"), to: fixture.url)
        ).number
        try fixture.journal.resume(missing, at: fixture.clock.now)
        let failed = try await fixture.end(of: missing)
        #expect(failed.state == .failed)
        #expect(failed.failure == "the file to upload is missing or cannot be read")
      }
    }
  }

  @Test("follows no redirect: neither the file nor its header fields reach another server", arguments: [302, 307, 308])
  func redirected(status: Int) async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 201) }) { other in
      try await TransferFixture.with { fixture in
        fixture.modify { _, request, _ in .redirect(.other(other, "/file"), from: request, status: status) }
        try await fixture.working {
          let transfer = try await fixture.end(of: upload(fixture, TransferFixture.content(1000)))
          #expect(transfer.state == .failed)
          #expect(transfer.failure == "the server responded with \(status)")
          #expect(fixture.server.requests.map { $0["Authorization"] } == ["Bearer key"])
          #expect(other.requests.isEmpty)
        }
      }
    }
  }

  @Test("follows redirects that keep the method, within its origin", arguments: [307, 308])
  func moved(status: Int) async throws {
    let content = TransferFixture.content(2_000_000)
    try await TransferFixture.with { fixture in
      fixture.modify { response, request, _ in
        switch request.path {
        case "/file": .redirect(.relative("/new/"), from: request, status: status)
        case "/new/": .redirect(.sameOrigin("/new/place"), from: request, status: status)
        default: response
        }
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: upload(fixture, content))
        #expect(transfer.state == .finished, "\(transfer.failure ?? "")")
        #expect(fixture.server.requests.filter { $0.method == "POST" }.map(\.path) == ["/file", "/new/", "/new/place"])
        #expect(fixture.server.requests.last?["Authorization"] == "Bearer key")
        #expect(fixture.server.requests.last?.body == content)
      }
    }
  }

  @Test("follows no other redirect, and none without end", arguments: [301, 302, 303, 307])
  func notMoved(status: Int) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, request, _ in
        .redirect(status == 307 ? .chase : .sameOrigin("/new"), from: request, status: status)
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: upload(fixture, TransferFixture.content(1000)))
        #expect(transfer.state == .failed)
        #expect(transfer.failure == (status == 307 ? "more than 5 redirects" : "the server responded with \(status)"))
        #expect(fixture.server.requests.count == (status == 307 ? 6 : 1))
      }
    }
  }

  @Test(
    "fails with the server's explanation of a refusal, in one request or several",
    arguments: [(1000, "POST", 1), (1_200_000, "POST", 2), (1_200_000, "PATCH", 3)])
  func explained(size: Int, method: String, requests: Int) async throws {
    try await TransferFixture.with { fixture in
      let parts = PartServer(fixture)
      fixture.modify { original, request, number in
        guard request.method == method else { return parts.respond(original, request, number) }
        return FaultResponse(
          status: 403, headers: [("Content-Type", "application/problem+json")],
          body: Data(#"{"type":"/problems/image","title":"Bad image","status":403,"detail":"it is blurred"}"#.utf8))
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: upload(fixture, TransferFixture.content(size)))
        #expect(transfer.state == .failed)
        #expect(transfer.failure == "the server responded with 403: it is blurred")
      }
      #expect(fixture.server.requests.count == requests)
    }
  }

  @Test("has the type of any bytes if its request names none, in one request or several", arguments: [1000, 1_200_000])
  func anyType(size: Int) async throws {
    try await TransferFixture.with { fixture in
      let parts = PartServer(fixture)
      if size > 1000 { fixture.modify(parts.respond) }
      let file = fixture.folder.appending(path: "input.bin")
      try TransferFixture.content(size).write(to: file)
      let number = try fixture.journal.add(TransferRequest(upload: file, to: fixture.url)).number
      try fixture.journal.resume(number, at: fixture.clock.now)
      try await fixture.working { try await fixture.finish(number) }
      let request = try #require(fixture.server.requests.first { $0.method == "POST" })
      #expect(request["Content-Type"] == "application/octet-stream")
    }
  }

  @Test("of anything but a regular file fails without a request")
  func folder() async throws {
    try await TransferFixture.with { fixture in
      let number = try fixture.journal.add(TransferRequest(upload: fixture.folder, to: fixture.url)).number
      try fixture.journal.resume(number, at: fixture.clock.now)
      try await fixture.working {
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .failed)
        #expect(transfer.failure == "the path to upload is not a regular file")
      }
      #expect(fixture.server.requests.isEmpty)
    }
  }

  @Test("that is cancelled while its last response arrives stays cancelled")
  func cancelledAtTheEnd() async throws {
    struct Cancelling: HTTPTransport {
      let base = AsyncHTTPTransport()
      let journal: TransferJournal

      func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
        try await base.get(url, headers: headers)
      }

      func upload(
        _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
      ) async throws -> HTTPTransportResponse {
        let response = try await base.upload(file, to: url, method: method, headers: headers)
        for transfer in try journal.transfers() where !transfer.state.isOver { try journal.cancel(transfer.number) }
        return response
      }
    }
    try await TransferFixture.with { fixture in
      let worker = try TransferWorker(
        store: fixture.folder, userAgent: "tests/1", transport: Cancelling(journal: fixture.journal),
        clock: fixture.clock)
      let task = Task { try await worker.run() }
      // The worker learns of the cancellation while it stores the response.
      for _ in 0..<10 { _ = try await fixture.end(of: upload(fixture, TransferFixture.content(1000))) }
      task.cancel()
      _ = try await task.value
      #expect(fixture.server.requests.count == 10)
      #expect(try fixture.journal.transfers().allSatisfy { $0.state == .cancelled && $0.response == nil })
    }
  }

  @Test("stores the beginning of an endless response")
  func endlessAnswer() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in
        response.body { _ in Data(count: 200_000) }.declaring(length: 1 << 40).hanging(at: .body(200_000))
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: upload(fixture, TransferFixture.content(1000)))
        #expect(transfer.state == .finished)
        #expect(transfer.response?.body.count == 64 << 10)
      }
    }
  }
}
