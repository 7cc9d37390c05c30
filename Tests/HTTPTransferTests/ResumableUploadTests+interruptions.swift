import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

/// Uploads whose server refuses, forgets or does not respond in between.
extension ResumableUploadTests {
  @Test("begins again if the server drops it meanwhile", arguments: ["PATCH", "HEAD"], [404, 410])
  func droppedMeanwhile(method: String, status: Int) async throws {
    try await with { fixture, parts in
      let isInterrupted = method == "HEAD"
      if isInterrupted { parts.state.withLock { $0.breaksAfter = 400_000 } }
      fixture.modify { original, request, count in
        // OPTIONS and POST come before.
        count == (isInterrupted ? 3 : 2) ? FaultResponse(status: status) : parts.respond(original, request, count)
      }
      let number = try upload(fixture)
      try await fixture.working { try await fixture.finish(number) }
      let requests = ["OPTIONS", "POST", "PATCH"]
      #expect(fixture.server.requests.map(\.method) == requests + (isInterrupted ? ["HEAD"] : []) + requests)
      #expect(parts.state.withLock(\.received) == Self.content)
    }
  }

  @Test(
    "ends if the server refuses to begin it, or names no address for it",
    arguments: [(413, "the server responded with 413"), (201, "the server has begun the upload at another address")])
  func refusedBegin(status: Int, failure: String) async throws {
    try await with { fixture, parts in
      fixture.modify { original, request, count in
        request.method == "POST" ? FaultResponse(status: status) : parts.respond(original, request, count)
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: upload(fixture))
        #expect(transfer.state == .failed)
        #expect(transfer.failure == failure)
      }
      #expect(fixture.server.requests.map(\.method) == ["OPTIONS", "POST"])
    }
  }

  @Test("continues where it was after a refusal of the question where that is")
  func busyBeforeTheRest() async throws {
    try await with { fixture, parts in
      parts.state.withLock { $0.breaksAfter = 400_000 }
      fixture.modify { original, request, count in
        count == 3 ? .busy(503, retryAfter: nil).headOnly : parts.respond(original, request, count)
      }
      let number = try upload(fixture)
      try await fixture.working { try await fixture.finish(number) }
      #expect(fixture.server.requests.map(\.method) == ["OPTIONS", "POST", "PATCH", "HEAD", "HEAD", "PATCH"])
      #expect(fixture.server.requests.last?["Upload-Offset"] == "400000")
    }
  }

  /// A transport that reports a thousand sent bytes of each file, and reads the stored progress.
  private final class Reporting: HTTPTransport {
    let completed = Mutex<[Int64]>([])
    private let base = AsyncHTTPTransport()
    private let fixture: TransferFixture

    init(_ fixture: TransferFixture) { self.fixture = fixture }

    func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
      try await base.get(url, headers: headers)
    }

    func send(
      _ content: Data, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse {
      try await base.send(content, to: url, method: method, headers: headers)
    }

    func upload(
      _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse {
      let before = try fixture.journal.transfers().map(\.completed)
      // The progress is stored every quarter of a second: the second report comes too early.
      fixture.clock.advance(by: 0.26)
      file.progress(1000)
      file.progress(1001)
      let after = try fixture.journal.transfers().map(\.completed)
      completed.withLock { $0 += before + after }
      return try await base.upload(file, to: url, method: method, headers: headers)
    }
  }

  @Test("includes the bytes that the server has of earlier requests in its progress")
  func progress() async throws {
    try await with { fixture, parts in
      parts.state.withLock { $0.breaksAfter = 400_000 }
      let number = try upload(fixture)
      let transport = Reporting(fixture)
      let worker = try TransferWorker(
        store: fixture.folder, userAgent: "tests/1", transport: transport, clock: fixture.clock)
      let task = Task { try await worker.run() }
      try await fixture.finish(number)
      task.cancel()
      _ = try await task.value
      #expect(transport.completed.withLock(\.self) == [0, 1000, 400_000, 401_000])
    }
  }

  @Test(
    "is neither begun nor ended by a redirect that may change the method", arguments: [301, 302, 303],
    ["POST", "PATCH"])
  func redirected(status: Int, method: String) async throws {
    try await with { fixture, parts in
      fixture.modify { original, request, number in
        var response = parts.respond(original, request, number)
        if request.method == method { response.status = status }
        return response
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: upload(fixture))
        #expect(transfer.state == .failed)
        #expect(transfer.failure == "the server responded with \(status)")
      }
      let methods = ["OPTIONS", "POST"] + (method == "PATCH" ? ["PATCH"] : [])
      #expect(fixture.server.requests.map(\.method) == methods)
    }
  }

  @Test("is tried again if the server does not respond within two minutes before it is begun")
  func silentServer() async throws {
    try await with { fixture, parts in
      fixture.modify { original, request, count in
        let answer = parts.respond(original, request, count)
        return count == 0 ? answer.hanging(at: .start) : answer
      }
      let number = try upload(fixture)
      try await fixture.working {
        // The clock stands still until the server has the request.
        try await eventually("it waits") {
          fixture.server.requests.count == 1 && fixture.clock.sleeping.contains(120)
        }
        fixture.clock.advance(by: 120)
        try await fixture.finish(number)
      }
      #expect(fixture.server.requests.map(\.method) == ["OPTIONS", "OPTIONS", "POST", "PATCH"])
    }
  }

  @Test("waits no more than ten seconds for its cancellation at the server", .timeLimit(.minutes(2)))
  func silentCancellation() async throws {
    try await with { fixture, parts in
      let number = try upload(fixture)
      fixture.modify { original, request, count in
        let answer = parts.respond(original, request, count)
        return ["PATCH", "DELETE"].contains(request.method) ? answer.hanging(at: .start) : answer
      }
      let worker = try TransferWorker(store: fixture.folder, userAgent: "tests/1", clock: fixture.clock)
      let isOver = Mutex(false)
      let task = Task {
        defer { isOver.withLock { $0 = true } }
        return try await worker.run()
      }
      try await fixture.eventually("the file is sent") { fixture.server.requests.last?.method == "PATCH" }
      try fixture.journal.cancel(number)
      // The clock stands still until the server has the request.
      try await eventually("the server is told") { fixture.server.requests.last?.method == "DELETE" }
      task.cancel()
      let start = fixture.clock.now
      try await fixture.eventually("the worker has ended") { isOver.withLock(\.self) }
      #expect(10..<60 ~= fixture.clock.now.seconds(since: start))
      _ = try await task.value
    }
  }
}
