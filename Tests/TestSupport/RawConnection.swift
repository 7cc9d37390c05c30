import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// Bytes on a socket, for requests that no well-behaved client sends.
package enum RawConnection {
  /// The socket did not do what was asked of it.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Sends bytes to a server on loopback, says that no more will come, and reads to the end.
  package static func exchange(_ request: String, port: Int) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      // On a thread that may wait.
      DispatchQueue.global().async {
        continuation.resume(with: Result { try exchangeBlocking(Array(request.utf8), port: port) })
      }
    }
  }

  private static func exchangeBlocking(_ request: [UInt8], port: Int) throws -> String {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0, send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      throw Failure(description: "cannot send")
    }
    shutdown(descriptor, Int32(SHUT_WR))
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0 { throw Failure(description: "no end within 30 s") }
      if count == 0 { return String(decoding: answer, as: UTF8.self) }
      answer += buffer[..<count]
    }
  }
}
