package import Foundation
package import TestKit

#if canImport(Glibc)
  import Glibc
#endif

/// Raw bytes on a socket, for requests that no well-behaved client sends.
package enum RawConnection {
  package typealias Failure = Loopback.Failure

  /// Sends bytes to a server on loopback and reads all responses, up to the end of the connection.
  ///
  /// - Parameters:
  ///   - request: The parts of the request. Each part after the first is sent once the server has sent something more.
  ///   - endsInput: Whether the sending side is closed at the end; otherwise the server must close the connection.
  ///   - receiveBuffer: The size of the kernel's receive buffer in bytes; nil for the default.
  ///   - beforeReading: A function that is called when all parts are sent, before the rest of the responses is read.
  package static func exchange(
    _ request: [Data], port: Int, endsInput: Bool = true, receiveBuffer: Int32? = nil,
    beforeReading: @escaping @Sendable () -> Void = {}
  ) async throws -> [TestResponse] {
    try responses(
      try await bytes(
        request, port: port, endsInput: endsInput, receiveBuffer: receiveBuffer, beforeReading: beforeReading))
  }

  /// Does the same, but returns the responses as unparsed bytes.
  package static func bytes(
    _ request: [Data], port: Int, endsInput: Bool = true, receiveBuffer: Int32? = nil,
    beforeReading: @escaping @Sendable () -> Void = {}
  ) async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
      // Runs on a thread that may block.
      DispatchQueue.global().async {
        continuation.resume(
          with: Result {
            try exchangeBlocking(
              request, port: port, endsInput: endsInput, receiveBuffer: receiveBuffer, beforeReading: beforeReading)
          })
      }
    }
  }

  package static func exchange(_ request: String, port: Int, endsInput: Bool = true) async throws -> [TestResponse] {
    try await exchange([Data(request.utf8)], port: port, endsInput: endsInput)
  }

  private static func exchangeBlocking(
    _ request: [Data], port: Int, endsInput: Bool, receiveBuffer: Int32?, beforeReading: () -> Void
  ) throws -> Data {
    let descriptor = try connected(to: port, receiveBuffer: receiveBuffer)
    defer { close(descriptor) }
    var received = Data()
    for (index, part) in request.enumerated() {
      if index > 0 { try receive(descriptor, &received) }
      try Loopback.send(part, on: descriptor)
    }
    if endsInput { shutdown(descriptor, Int32(SHUT_WR)) }
    beforeReading()
    while try receive(descriptor, &received) {}
    return received
  }

  /// Sends bytes repeatedly and reads nothing, until the server closes the connection or accepts no more bytes.
  ///
  /// - Parameters:
  ///   - limit: The number of bytes after which it stops.
  ///   - seconds: The time without progress after which it stops.
  /// - Returns: The number of accepted bytes, at most about `limit`.
  package static func fill(_ bytes: Data, limit: Int, port: Int, seconds: Int = 1) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(
          with: Result {
            let descriptor = try connected(to: port, receiveBuffer: nil)
            defer { close(descriptor) }
            var timeout = timeval(tv_sec: seconds, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
            var sent = 0
            while sent < limit {
              let part = bytes.dropFirst(sent % bytes.count)
              let count = part.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
              guard count > 0 else { break }
              sent += count
            }
            return sent
          })
      }
    }
  }

  private static func connected(to port: Int, receiveBuffer: Int32?) throws -> Int32 {
    try Loopback.connect(to: port) { descriptor in
      var limit = timeval(tv_sec: 30, tv_usec: 0)
      for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
        setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
      }
      if var receiveBuffer {
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
      }
    }
  }

  /// Receives bytes once.
  ///
  /// - Returns: Whether more bytes can follow.
  @discardableResult
  private static func receive(_ descriptor: Int32, _ received: inout Data) throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count >= 0 else {
      let reason = errno == EAGAIN ? "no end within 30 s" : String(cString: strerror(errno))
      throw Failure(description: "\(reason), after \(String(decoding: received, as: UTF8.self))")
    }
    received += buffer[..<count]
    return count > 0
  }

  /// Splits messages with `Content-Length`. A message is taken for a response to HEAD if the next response follows its
  /// head at once.
  private static func responses(_ bytes: Data) throws -> [TestResponse] {
    var responses: [TestResponse] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      guard let end = rest.firstRange(of: Data("\r\n\r\n".utf8)) else {
        throw Failure(description: "no header: \(String(decoding: rest, as: UTF8.self))")
      }
      let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
      let start = lines[0].split(separator: " ")
      guard start.count >= 2, start[0] == "HTTP/1.1", let status = Int(start[1]) else {
        throw Failure(description: "no status: \(lines[0])")
      }
      var response = TestResponse(status: status, headers: [], body: Data())
      response.headers = lines.dropFirst().map { line in
        let parts = line.split(separator: ":", maxSplits: 1)
        return (String(parts[0]), parts.count < 2 ? "" : parts[1].trimmingCharacters(in: .whitespaces))
      }
      rest = rest[end.upperBound...]
      let hasBody = status >= 200 && status != 304 && !rest.starts(with: Data("HTTP/1.1 ".utf8))
      response.body = rest.prefix(hasBody ? Int(response["Content-Length"] ?? "") ?? 0 : 0)
      rest = rest.dropFirst(response.body.count)
      responses.append(response)
    }
    return responses
  }
}
