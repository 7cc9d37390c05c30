public import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A connection to a server on loopback that blocks its thread, for at most a minute per operation. No time is lost by
/// changes of threads.
///
///     let connection = try BlockingConnection(port: port)
///     let body = try connection.exchange("GET /v1/state HTTP/1.1\r\nHost: localhost\r\n\r\n")
///     print(String(decoding: body, as: UTF8.self))
public final class BlockingConnection {
  private let descriptor: Int32
  private var received = Data()

  /// Connects to a port of 127.0.0.1.
  ///
  /// - Throws: ``Loopback/Failure``.
  public init(port: Int) throws {
    descriptor = try Loopback.connect(to: port)
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    var timeout = timeval(tv_sec: 60, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  deinit { close(descriptor) }

  /// Sends a request and waits for the response.
  ///
  /// - Returns: The body.
  /// - Throws: ``Loopback/Failure``, also for a status from 400.
  public func exchange(_ request: String) throws -> Data {
    try send(request)
    return try response()
  }

  /// Sends a request, head and body.
  ///
  /// - Throws: ``Loopback/Failure``.
  public func send(_ request: String) throws {
    try Loopback.send(Array(request.utf8), on: descriptor)
  }

  /// Waits for a response, which must have a status below 400 and a `Content-Length`.
  ///
  /// - Returns: The body.
  /// - Throws: ``Loopback/Failure``.
  public func response() throws -> Data {
    let (head, body) = try message()
    guard let status = Int(head[0].split(separator: " ")[1]), status < 400 else {
      throw Loopback.Failure(description: "the response is \(head[0])")
    }
    return body
  }

  /// Waits for a response with any status and a `Content-Length`.
  ///
  /// - Returns: The lines of the head, of which the first has the status, and the body.
  /// - Throws: ``Loopback/Failure``.
  public func message() throws -> (head: [String], body: Data) {
    let end = Data("\r\n\r\n".utf8)
    var head = received.range(of: end)
    while head == nil {
      try receive()
      head = received.range(of: end)
    }
    guard let head else { return ([], Data()) }
    let lines = String(decoding: received[..<head.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    guard lines[0].split(separator: " ").count > 1 else {
      throw Loopback.Failure(description: "the response is \(lines[0])")
    }
    let length = lines.lazy.compactMap { line -> Int? in
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, parts[0].lowercased() == "content-length" else { return nil }
      return Int(parts[1].trimmingCharacters(in: .whitespaces))
    }.first
    let whole = head.upperBound + (length ?? 0)
    while received.count < whole { try receive() }
    defer { received.removeAll(keepingCapacity: true) }
    return (lines, received[head.upperBound..<whole])
  }

  private func receive() throws {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { throw Loopback.Failure(description: "the connection has ended") }
    received += buffer[..<count]
  }
}
