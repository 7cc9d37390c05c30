import Foundation
import NIOCore
import News
import NewsAPI
import NewsStore
import Synchronization
import TestKit
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Connections with several requests, sent and read in every way that a client may choose.
///
/// `TIDINGS_PIPELINES` is the number of connections (`make pipelines`), `TIDINGS_PIPELINES_SEED` the seed of the first
/// one.
@Suite(.timeLimit(.minutes(60))) struct PipelineTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let count = environment["TIDINGS_PIPELINES"].flatMap { Int($0) } ?? 200
  private static let firstSeed = environment["TIDINGS_PIPELINES_SEED"].flatMap { UInt64($0) } ?? 1
  private static let workers = 8

  @Test("Every connection with several requests ends")
  func ends() async throws {
    let connections = Connections()
    try await TestServer.with(settings: { $0.onConnection = { connections.add($0) } }) { server in
      try await server.makeTopics(["a", "b", "sport"])
      var requests = ReadGenerator()
      for number in 0..<60 {
        let text = String(repeating: "words \(number) ", count: number % 3 == 0 ? 600 : 3)
        let topics = [["a"], ["sport"], [], ["a", "b"]][number % 4]
        requests.items.append(try await server.publish(text, topics: topics).item.id)
      }
      requests.token = try await server.get("/v1/state").json(FeedState.self).feed.description
      let numbers = Count()
      try await withThrowingTaskGroup { [requests] group in
        for _ in 0..<Self.workers {
          group.addTask {
            while true {
              let number = numbers.next()
              guard number <= Self.count else { return }
              let plan = PipelinePlan(seed: Self.firstSeed &+ UInt64(number), requests)
              do {
                try await plan.run(port: server.port)
              } catch let missing as PipelinePlan.MissingEnd {
                let state = await connections.state(of: missing.port)
                Issue.record("seed \(plan.seed): \(missing.received)\n\(plan)\n\(state)")
                return
              }
            }
          }
        }
        // Publishes repeatedly invalidate the responses in memory.
        group.addTask {
          var number = 0
          while numbers.value < Self.count {
            _ = try await server.publish("meanwhile \(number)", topics: number % 2 == 0 ? ["a"] : [])
            number += 1
            try await Task.sleep(for: .milliseconds(20))
          }
        }
        try await group.waitForAll()
      }
    }
  }
}

/// The plan of one connection, determined by a seed.
private struct PipelinePlan: CustomStringConvertible, Sendable {
  struct MissingEnd: Error {
    /// The client's port.
    let port: Int
    let received: String
  }

  let seed: UInt64
  /// The bytes of the requests in parts, each with the pause before it in microseconds.
  private var parts: [(bytes: Data, pause: UInt32)] = []
  /// Whether the client closes its sending side at the end; otherwise the last request has `Connection: close`.
  private let endsInput: Bool
  private let receiveBuffer: Int32?
  /// The pauses in microseconds: between the last byte sent and the first read, and between reads.
  private let pauses: (before: UInt32, between: UInt32)

  init(seed: UInt64, _ requests: ReadGenerator) {
    self.seed = seed
    var random = SplitMix64(seed: seed)
    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    endsInput = chance(60)
    receiveBuffer = chance(30) ? 4096 : nil
    pauses = (chance(30) ? .random(in: 0...20_000, using: &random) : 0, chance(20) ? 500 : 0)
    var texts: [String] = []
    for _ in 0..<Int.random(in: 1...8, using: &random) {
      let request = requests.request(using: &random)
      let waits = endsInput && chance(8)
      texts.append(waits ? Self.waiting(requests.token, isStream: chance(30)) : request)
    }
    if !endsInput { texts.append("GET /v1/items HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") }
    var rest = Data(texts.joined().utf8)[...]
    let isCut = chance(50)
    while !rest.isEmpty {
      let count = isCut ? min(rest.count, Int.random(in: 1...max(1, rest.count), using: &random)) : rest.count
      parts.append((Data(rest.prefix(count)), parts.isEmpty ? 0 : .random(in: 0...3000, using: &random)))
      rest = rest.dropFirst(count)
    }
  }

  private static func waiting(_ token: String, isStream: Bool) -> String {
    "GET \(isStream ? "/v1/events" : "/v1/changes?wait=50&since=\(token)") HTTP/1.1\r\nHost: localhost\r\n\r\n"
  }

  var description: String {
    "ends its input: \(endsInput), buffer: \(receiveBuffer ?? 0), pauses: \(pauses)\n"
      + parts.map { "after \($0.pause): \(String(decoding: $0.bytes, as: UTF8.self))" }.joined(separator: "\n")
  }

  /// Runs on a new thread, so that other tests cannot delay it.
  func run(port: Int) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      Thread.detachNewThread { continuation.resume(with: Result { try runBlocking(port: port) }) }
    }
  }

  private func runBlocking(port: Int) throws {
    let descriptor = try Loopback.connect(to: port) { descriptor in
      var limit = timeval(tv_sec: 30, tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      if var receiveBuffer {
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
      }
    }
    defer { close(descriptor) }
    let own = try Loopback.localPort(of: descriptor)
    for part in parts {
      usleep(part.pause)
      // A connection that has ended accepts no more bytes.
      do { try Loopback.send(part.bytes, on: descriptor) } catch { break }
    }
    if endsInput { shutdown(descriptor, Int32(SHUT_WR)) }
    usleep(pauses.before)
    var received = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EAGAIN || errno == EINTR {
        let text = String(decoding: received.suffix(300), as: UTF8.self)
        throw MissingEnd(port: own, received: "no end after \(received.count) bytes: ...\(text)")
      }
      guard count > 0 else { return }
      received += buffer[..<count]
      usleep(pauses.between)
    }
  }
}

/// The server's ends of the connections.
private final class Connections: Sendable {
  private let channels = Mutex<[Int: any Channel]>([:])

  func add(_ channel: any Channel) {
    guard let port = channel.remoteAddress?.port else { return }
    channels.withLock { $0[port] = channel }
    channel.closeFuture.whenComplete { _ in
      self.channels.withLock { if $0[port] === channel { $0[port] = nil } }
    }
  }

  /// Returns the state of each handler of a connection.
  func state(of port: Int) async -> String {
    guard let channel = channels.withLock({ $0[port] }) else { return "the server has closed the connection" }
    let state = channel.eventLoop.submit {
      let unsent = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
      var lines = ["active: \(channel.isActive), writable: \(channel.isWritable), unsent: \(unsent) bytes"]
      // SwiftNIO gives these names to unnamed handlers.
      for number in 0..<64 {
        guard let context = try? channel.pipeline.syncOperations.context(name: "handler\(number)") else { continue }
        let fields = Mirror(reflecting: context.handler).children.map { field in
          "\(field.label ?? "?"): \("\(field.value)".prefix(200))"
        }
        lines.append("\(type(of: context.handler)): \(fields.joined(separator: ", "))")
      }
      return lines.joined(separator: "\n")
    }
    return (try? await state.get()) ?? "the event loop has ended"
  }
}
