package import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A connection to a server on loopback that blocks its thread, for at most a minute: no time is lost between threads.
package final class BlockingConnection {
  private let descriptor: Int32
  private var received = Data()

  package init(port: Int) throws {
    descriptor = try Loopback.connect(to: port)
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  deinit { close(descriptor) }

  /// Sends a request and waits for the answer.
  ///
  /// - Returns: The body.
  package func ask(_ request: String) throws -> Data {
    try send(request)
    return try answer()
  }

  package func send(_ request: String) throws {
    try Loopback.send(Array(request.utf8), on: descriptor)
  }

  /// Waits for an answer, which must be successful and have a `Content-Length`.
  ///
  /// - Returns: The body.
  package func answer() throws -> Data {
    let end = Data("\r\n\r\n".utf8)
    var head = received.range(of: end)
    while head == nil {
      try receive()
      head = received.range(of: end)
    }
    guard let head else { return Data() }
    let lines = String(decoding: received[..<head.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }), status < 400 else {
      throw Loopback.Failure(description: "the answer is \(lines[0])")
    }
    let length = lines.lazy.compactMap { line -> Int? in
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, parts[0].lowercased() == "content-length" else { return nil }
      return Int(parts[1].trimmingCharacters(in: .whitespaces))
    }.first
    let whole = head.upperBound + (length ?? 0)
    while received.count < whole { try receive() }
    defer { received.removeAll(keepingCapacity: true) }
    return received[head.upperBound..<whole]
  }

  private func receive() throws {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { throw Loopback.Failure(description: "the connection has ended") }
    received += buffer[..<count]
  }
}
