import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A server on loopback that receives one request and returns its bytes.
final class RequestReceiver: Sendable {
  struct Failure: Error {}

  let port: Int
  private let listener: Int32

  init() throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let size = length
    let isListening = withUnsafeMutablePointer(to: &address) { [listener] pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    port = Int(in_port_t(bigEndian: address.sin_port))
    guard isListening else { throw Failure() }
    var timeout = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(listener) }

  /// Receives a request with `Content-Length` and answers 204.
  ///
  /// - Returns: The value of `Content-Type`, and the body.
  /// - Throws: `Failure`, also after two minutes without a request or without bytes of it.
  func receive() async throws -> (type: String, body: [UInt8]) {
    try await withCheckedThrowingContinuation { continuation in
      // Runs on a thread that may block.
      DispatchQueue.global().async {
        continuation.resume(with: Result { try self.receiveBlocking() })
      }
    }
  }

  private func receiveBlocking() throws -> (type: String, body: [UInt8]) {
    let connection = accept(listener, nil, nil)
    guard connection >= 0 else { throw Failure() }
    defer { close(connection) }
    var timeout = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    var received = Data()
    let end = Data("\r\n\r\n".utf8)
    while true {
      if let head = received.range(of: end) {
        let lines = String(decoding: received[..<head.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let length = Self.value("content-length", in: lines).flatMap { Int($0) } ?? 0
        if received.count >= head.upperBound + length {
          let response = Array("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n".utf8)
          send(connection, response, response.count, Int32(MSG_NOSIGNAL))
          return (Self.value("content-type", in: lines) ?? "", Array(received[head.upperBound...]))
        }
      }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { throw Failure() }
      received += buffer[..<count]
    }
  }

  private static func value(_ name: String, in lines: [String]) -> String? {
    lines.lazy.map { $0.split(separator: ":", maxSplits: 1) }
      .first { $0.count == 2 && $0[0].lowercased() == name }
      .map { $0[1].trimmingCharacters(in: .whitespaces) }
  }
}
