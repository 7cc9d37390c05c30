import Crypto
import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

/// A server of one file with configurable faults, a store, and a worker in this process.
struct TransferFixture {
  typealias Modification =
    @Sendable (_ original: FaultResponse, _ request: FaultRequest, _ number: Int) -> FaultResponse

  let server: FaultServer
  let folder: URL
  let clock = ManualClock()
  let journal: TransferJournal
  private let state: State

  /// The state of the server.
  private final class State: Sendable {
    let content: Mutex<(bytes: Data, tag: String?)>
    let modify = Mutex<Modification>({ response, _, _ in response })
    let count = Mutex(0)
    let arrived = Mutex<[Data]>([])

    init(_ bytes: Data) { content = Mutex((bytes, "\"one\"")) }

    @Sendable func respond(_ request: FaultRequest) -> FaultResponse {
      let number = count.withLock { count in
        defer { count += 1 }
        return count
      }
      let original = request.method == "GET" ? download(request) : upload(request)
      return modify.withLock { $0 }(original, request, number)
    }

    private func upload(_ request: FaultRequest) -> FaultResponse {
      arrived.withLock { $0.append(request.body) }
      return FaultResponse(
        status: 201, headers: [("Location", "/v1/media/1")], body: Data("{}".utf8))
    }

    private func download(_ request: FaultRequest) -> FaultResponse {
      let (bytes, tag) = content.withLock { $0 }
      var response = FaultResponse(
        headers: [
          ("Content-Type", "application/octet-stream"),
          ("Repr-Digest", "sha-256=:\(Data(SHA256.hash(data: bytes)).base64EncodedString()):"),
        ], body: bytes)
      if let tag { response = response.setting("ETag", tag) }
      guard let range = request["Range"], request["If-Range"].map({ $0 == tag }) ?? true,
        let first = range.wholeMatch(of: /bytes=([0-9]+)-/).flatMap({ Int($0.1) })
      else { return response }
      guard first < bytes.count else {
        return FaultResponse(status: 416, headers: [("Content-Range", "bytes */\(bytes.count)")])
      }
      response.status = 206
      response.body = bytes.dropFirst(first)
      return response.setting("Content-Range", "bytes \(first)-\(bytes.count - 1)/\(bytes.count)")
    }
  }

  /// Runs the body with an empty store.
  static func with(_ bytes: Data = content(300_000), _ body: (TransferFixture) async throws -> Void) async throws {
    // Paths with blanks differ from their form in URLs.
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings fixture-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let state = State(bytes)
    try await FaultServer.with(state.respond) { server in
      try await body(
        TransferFixture(server: server, folder: folder, journal: try TransferJournal(store: folder), state: state))
    }
  }

  /// Returns bytes without repetition, determined by the seed.
  static func content(_ count: Int, seed: UInt64 = 1) -> Data {
    var state = seed
    return Data(
      (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
      })
  }

  var url: URL { URL(string: server.url + "/file") ?? folder }
  var output: URL { folder.appending(path: "output.bin") }
  /// The bodies of uploads, complete or not.
  var arrived: [Data] { state.arrived.withLock { $0 } }

  /// Replaces the served content.
  func serve(_ bytes: Data, tag: String?) { state.content.withLock { $0 = (bytes, tag) } }

  func modify(_ modify: @escaping Modification) { state.modify.withLock { $0 = modify } }

  /// Runs the body with a worker and stops the worker afterwards.
  func working(
    transport: (any HTTPTransport)? = nil, obstacles: Set<Transfer.Obstacle> = [],
    log: @escaping @Sendable (String) -> Void = { _ in }, _ body: () async throws -> Void
  ) async throws {
    let worker = try TransferWorker(
      store: folder, userAgent: "tests/1 (+https://example.org)", transport: transport, obstacles: { obstacles },
      clock: clock, log: log)
    let task = Task { try await worker.run() }
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    task.cancel()
    _ = try await task.value
    try result.get()
  }

  /// Starts a download to `output`.
  func download(_ change: (inout TransferRequest) -> Void = { _ in }) throws -> Int64 {
    var request = TransferRequest(download: url, to: output)
    change(&request)
    return try begin(request)
  }

  /// Starts a download to `output`, or an upload of a file of zeros.
  func start(
    _ direction: TransferRequest.Direction, bytes: Int = 1000, _ change: (inout TransferRequest) -> Void = { _ in }
  ) throws -> Int64 {
    if direction == .download { return try download(change) }
    let file = folder.appending(path: "input.bin")
    try Data(count: bytes).write(to: file)
    var request = TransferRequest(upload: file, to: url)
    change(&request)
    return try begin(request)
  }

  private func begin(_ request: TransferRequest) throws -> Int64 {
    let number = try journal.add(request).number
    try journal.resume(number, at: clock.now)
    return number
  }

  /// Waits for the end of a transfer, with accelerated time.
  func end(of number: Int64) async throws -> Transfer {
    try await eventually("the transfer is over") { try journal.transfer(number)?.state.isOver != false }
    return try #require(try journal.transfer(number))
  }

  /// Waits for the end of a transfer, which must be a success.
  func finish(_ number: Int64) async throws {
    let transfer = try await end(of: number)
    #expect(transfer.state == .finished, "\(transfer.failure ?? "")")
  }

  /// Waits for a condition. The clock advances in short steps, so that pending requests have real time to finish.
  func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
    try await TestKit.eventually(what) {
      clock.advance(by: 0.2)
      return try await condition()
    }
  }

  /// Returns the number of stored bytes of the download in progress, or nil before the first.
  func partialSize() throws -> Int? {
    guard let name = try files().first(where: { $0.hasSuffix(".part") }) else { return nil }
    return try Data(contentsOf: folder.appending(path: name)).count
  }

  /// Returns all files except those of the journal.
  func files() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      .filter { !$0.hasPrefix("transfers/journal") && !$0.hasSuffix(".lock") && $0 != "transfers" }
  }
}

/// Returns the paths of the files and folders that this process has open.
func openFiles() throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
  }
}

/// A counter for concurrent tasks.
final class Counter: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock(\.self) }
  func add() { count.withLock { $0 += 1 } }
}

/// A transport whose requests end some time after their cancellation.
struct LingeringTransport: HTTPTransport {
  let requests = Counter()
  /// Whether a cancelled request may end.
  var mayEnd: @Sendable () -> Bool = { true }

  func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
    requests.add()
    while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(10)) }
    repeat { try? await Task.detached { try await Task.sleep(for: .milliseconds(300)) }.value } while !mayEnd()
    throw HTTPTransportError(.broken, "it broke")
  }

  func upload(
    _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
  ) async throws -> HTTPTransportResponse { throw HTTPTransportError(.broken, "not used") }
}
