import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("A failure of a request") struct FailureTests {
  @Test(
    "has a kind by which an app decides what to do",
    arguments: [
      (FetchError.Code.unreachable, FetchError.Kind.offline), (.unavailable, .refused(until: nil)),
      (.retryAfterPending, .refused(until: nil)), (.rejected, .refused(until: nil)), (.redirect, .wrongContent),
      (.unexpectedResponse, .wrongContent), (.tooLarge, .wrongContent), (.storage, .storage),
      (.cancelled, .cancelled), (.budget, .budget), (.busy, .other),
    ] as [(FetchError.Code, FetchError.Kind)])
  func kinds(code: FetchError.Code, kind: FetchError.Kind) throws {
    let failure = FetchError(code, "it failed")
    #expect(failure.kind == kind)
    let stored = try JSONEncoder().encode([failure])
    #expect(try JSONDecoder().decode([FetchError].self, from: stored) == [failure])
  }

  @Test("of a later version is another one")
  func unknown() throws {
    let code = try #require(try JSONDecoder().decode([FetchError.Code].self, from: Data(#"["later"]"#.utf8)).first)
    #expect(FetchError(code, "it failed").kind == .other)
    #expect(code != .busy)
  }

  /// An error of an unknown type.
  private struct Odd: Error, CustomStringConvertible {
    let description: String
  }

  /// A transport that always fails with such an error.
  private struct Failing: HTTPTransport {
    let error: Odd

    func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse { throw error }

    func upload(
      _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse { throw error }
  }

  private func requester(failingWith text: String) -> HTTPRequester {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-none-\(UUID().uuidString)")
    return HTTPRequester(
      transport: Failing(error: Odd(description: text)), userAgent: "tests", now: { Date() },
      retryAfterStore: RetryAfterStore(store: folder, clock: SystemClock()))
  }

  @Test(
    "of an unknown type has its text as the reason, unless that names types or source files",
    arguments: [
      ("it broke", "it broke"), ("Broken(code: 1)", "the connection failed"), ("at a/b.swift", "the connection failed"),
    ])
  func unknownTypes(text: String, reason: String) async throws {
    let requester = requester(failingWith: text)
    let url = try #require(URL(string: "https://news.example/"))
    let failure = await #expect(throws: FetchError.self) {
      var meter = HTTPRequester.Meter()
      _ = try await requester.get(url, meter: &meter)
    }
    #expect(failure?.message == "no response from news.example: \(reason)")
  }

  @Test("is the cancellation in a task that was cancelled, whatever the transport reports")
  func cancellation() async throws {
    let requester = requester(failingWith: "it broke")
    let url = try #require(URL(string: "https://news.example/"))
    let task = Task { @Sendable in
      while !Task.isCancelled { await Task.yield() }
      var meter = HTTPRequester.Meter()
      _ = try await requester.get(url, meter: &meter)
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  // A transport that tried again would do so until the end of its timeout.
  @Test(
    "is one of the network if the name of the server is unknown, and of the server if it refuses connections",
    .timeLimit(.minutes(2)))
  func connections() async throws {
    let unknown = try #require(URL(string: "http://nowhere.invalid/"))
    let closed = try #require(URL(string: "http://127.0.0.1:1/"))
    for (url, kind, message) in [
      (unknown, HTTPTransportError.Kind.offline, "the name cannot be resolved"),
      (closed, .refused, "connection refused"),
    ] {
      let transport = AsyncHTTPTransport(connectTimeout: 300)
      let failure = await #expect(throws: HTTPTransportError.self) { _ = try await transport.get(url, headers: []) }
      #expect(failure?.kind == kind)
      #expect(failure?.message == message)
      #expect(failure?.isUnsent == true)
    }
  }

  @discardableResult
  private static func failure(connectingTo url: URL, within seconds: Int64) async -> HTTPTransportError? {
    do { _ = try await AsyncHTTPTransport(connectTimeout: seconds).get(url, headers: []) } catch {
      return error as? HTTPTransportError
    }
    return nil
  }

  @Test("follows on the time for a connection that the app sets", .timeLimit(.minutes(2)))
  func connectTimeout() async throws {
    // The kernel drops further connections while the queue of the listener is full.
    let listener = try Loopback.bind(to: 0)
    defer { close(listener) }
    listen(listener, 0)
    let port = try Loopback.localPort(of: listener)
    let first = try Loopback.connect(to: port)
    defer { close(first) }
    let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
    let isOver = Mutex(false)
    // With equal times, the one that has begun earlier would end first.
    let longer = Task {
      await Self.failure(connectingTo: url, within: 600)
      isOver.withLock { $0 = true }
    }
    try await Task.sleep(for: .milliseconds(500))
    let failure = await Self.failure(connectingTo: url, within: 1)
    #expect(failure?.kind == .refused)
    #expect(failure?.message == "the connection attempt timed out")
    #expect(isOver.withLock(\.self) == false)
    longer.cancel()
    await longer.value
  }

  @Test("is one of the connection if the response is no HTTP or does not come", arguments: [true, false])
  func responses(isOther: Bool) async throws {
    let response =
      isOther ? FaultResponse.raw(Data("no HTTP at all\r\n\r\n".utf8)) : FaultResponse().truncated(at: .start)
    try await FaultServer.with({ _ in response }) { server in
      let url = try #require(URL(string: server.url))
      let failure = await #expect(throws: HTTPTransportError.self) {
        _ = try await AsyncHTTPTransport().get(url, headers: [])
      }
      #expect(failure?.kind == .broken)
      #expect(failure?.isUnsent == false)
      #expect(failure?.message == (isOther ? "the response is not valid HTTP" : "the server closed the connection"))
    }
  }

  @Test("is the end of an upload whose file is shorter than announced; of a longer one, the announced part is sent")
  func files() async throws {
    let content = TransferFixture.content(600_000)
    let path = FileManager.default.temporaryDirectory.appending(path: "tidings-file-\(UUID().uuidString)")
    try content.write(to: path)
    defer { try? FileManager.default.removeItem(at: path) }
    try await FaultServer.with({ _ in FaultResponse(status: 201) }) { server in
      let url = try #require(URL(string: server.url))
      let sent = Mutex<[Int64]>([])
      var file = HTTPFile(url: path, length: 400_000) { bytes in sent.withLock { $0.append(bytes) } }
      file.offset = 100_000
      let response = try await AsyncHTTPTransport().upload(file, to: url, method: "PUT", headers: [])
      #expect(response.status == 201)
      #expect(server.requests.map(\.body) == [content[100_000..<500_000]])
      #expect(sent.withLock(\.self).starts(with: [0, 262_144]))
      file.length = 500_001
      await #expect(throws: HTTPTransportError.self) {
        _ = try await AsyncHTTPTransport().upload(file, to: url, method: "PUT", headers: [])
      }
    }
  }

  @Test(
    "names amounts of bytes for people",
    arguments: [
      (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1 << 20, "1.0 MiB"), (1 << 30, "1.0 GiB"),
      (1 << 40, "1024.0 GiB"),
    ] as [(Int64, String)])
  func amounts(bytes: Int64, text: String) {
    #expect(ByteAmount.text(bytes) == text)
  }

  @Test("follows from a time without activity, which begins again with each, and from no pause")
  func idle() async throws {
    let clock = ManualClock()
    let timeout = IdleTimeout(limit: .seconds(60), clock: clock)
    let task = Task { try await timeout.run { try await Task.sleep(for: .seconds(3600)) } }
    try await eventually("it waits") { clock.sleeping == [60] }
    clock.advance(by: 40)
    timeout.reset()
    clock.advance(by: 20)
    try await eventually("it waits for the rest") { clock.sleeping == [40] }
    timeout.pause()
    clock.advance(by: 40)
    try await eventually("it waits again") { clock.sleeping == [60] }
    timeout.reset()
    clock.advance(by: 60)
    let failure = await #expect(throws: FetchError.self) { try await task.value }
    #expect(failure?.code == .unreachable)
    #expect(failure?.message == "no data for 60 s")
  }

  @Test("that the operation itself has is not replaced by the timeout")
  func ended() async throws {
    let clock = ManualClock()
    let timeout = IdleTimeout(limit: .seconds(60), clock: clock)
    let value = try await timeout.run { 7 }
    #expect(value == 7)
    let failure = await #expect(throws: FetchError.self) {
      try await timeout.run { () async throws -> Void in throw FetchError(.rejected, "no") }
    }
    #expect(failure?.code == .rejected)
    #expect(clock.sleeping.isEmpty)
  }
}
