import Foundation
import Synchronization
import TestKit
import TestSupport

/// Many connections to a server on loopback.
final class ConnectionSet: Sendable {
  private let port: Int
  private let firstBytes: @Sendable (Int) -> String
  private let connectTimeout: Duration
  private let descriptors: Mutex<[Int32]>
  private let openings = Count()

  /// Opens connections that all send the same first bytes.
  ///
  /// - Parameters:
  ///   - firstBytes: The first bytes on each connection.
  ///   - connectTimeout: The connect timeout. With a full listen backlog, the kernel would retry for minutes.
  convenience init(_ count: Int, port: Int, firstBytes: String, connectTimeout: Duration = .seconds(5)) async throws {
    try await self.init(count, port: port, connectTimeout: connectTimeout) { _ in firstBytes }
  }

  /// Opens connections.
  ///
  /// - Parameters:
  ///   - connectTimeout: The connect timeout. With a full listen backlog, the kernel would retry for minutes.
  ///   - firstBytes: A function that returns the first bytes on a connection, given its number.
  init(
    _ count: Int, port: Int, connectTimeout: Duration = .seconds(5), firstBytes: @escaping @Sendable (Int) -> String
  ) async throws {
    self.port = port
    self.connectTimeout = connectTimeout
    self.firstBytes = firstBytes
    descriptors = Mutex([])
    try await onThread(isAttack: true) {
      // `sendRepeatedly` retries connections that could not be opened or are already closed.
      for _ in 0..<count { self.add() }
    }
  }

  deinit { closeAll() }

  private func add() {
    let (seconds, attoseconds) = connectTimeout.components
    var timeout = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
    let connected = try? Loopback.connect(to: port) {
      setsockopt($0, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }
    guard let descriptor = connected else { return }
    try? Loopback.send(Array(firstBytes(openings.next()).utf8), on: descriptor)
    descriptors.withLock { $0.append(descriptor) }
  }

  /// Sends a byte on each connection repeatedly until it is cancelled, and replaces connections that the server has
  /// closed.
  func sendRepeatedly(_ byte: Character, every interval: Duration) async throws {
    while true {
      try await onThread(isAttack: true) {
        let open = self.descriptors.withLock { $0 }
        let closed = open.filter { self.isClosed($0) || (try? Loopback.send([byte.asciiValue ?? 0], on: $0)) == nil }
        for descriptor in closed { close(descriptor) }
        self.descriptors.withLock { $0.removeAll { Set(closed).contains($0) } }
        for _ in closed { self.add() }
      }
      try await Task.sleep(for: interval)
    }
  }

  /// Discards received bytes and returns whether the server has closed the connection.
  private func isClosed(_ descriptor: Int32) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count == 0 { return true }
      if count < 0 { return errno != EAGAIN }
    }
  }

  /// The number of connections opened so far.
  var opened: Int { openings.value }

  /// Discards what the server has sent, and returns the number of connections that it has not closed.
  func countOpen() async throws -> Int {
    try await onThread(isAttack: true) { self.descriptors.withLock { $0.count { !self.isClosed($0) } } }
  }

  /// Closes all connections.
  func closeAll() {
    descriptors.withLock { descriptors in
      for descriptor in descriptors { close(descriptor) }
      descriptors = []
    }
  }
}

/// The response times of a well-behaved client that sends ten requests per connection.
struct Latency {
  let p99: Duration

  static func measure(port: Int, count: Int = 3000) async throws -> Latency {
    let request = "GET /v1/items?limit=20 HTTP/1.1\r\nHost: localhost\r\nUser-Agent: news/1\r\n\r\n"
    let times = try await onThread {
      var times: [Duration] = []
      for _ in 0..<count / 10 {
        var began = ContinuousClock.now
        let connection = try BlockingConnection(port: port)
        for _ in 0..<10 {
          _ = try connection.exchange(request)
          times.append(.now - began)
          // The pause between requests resembles the traffic of many clients.
          usleep(1000)
          began = .now
        }
      }
      return times.sorted()
    }
    return Latency(p99: times[times.count * 99 / 100])
  }
}

/// The resources that a process uses.
struct Usage {
  let kilobytes: Int
  let descriptors: Int
  let processor: Duration

  init(of process: ChildProcess) throws {
    let folder = URL(filePath: "/proc/\(process.id)")
    let status = try String(contentsOf: folder.appending(path: "status"), encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    descriptors = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "fd").path).count
    // The fields follow the name, which is in parentheses; fields 14 and 15 are user and system time (proc(5)).
    let stat = try String(contentsOf: folder.appending(path: "stat"), encoding: .utf8)
    let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
    let ticks = [12, 13].compactMap { Int(fields[$0]) }.reduce(0, +)
    processor = .milliseconds(ticks * 1000 / max(1, sysconf(Int32(_SC_CLK_TCK))))
  }
}

/// Runs blocking work on a new thread.
///
/// - Parameter isAttack: Whether the thread has a lower priority, since attackers compute on other machines.
func onThread<Value: Sendable>(
  isAttack: Bool = false, _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread {
      if isAttack { setpriority(Int32(PRIO_PROCESS.rawValue), 0, 10) }
      continuation.resume(with: Result { try work() })
    }
  }
}
