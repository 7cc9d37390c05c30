import Foundation
import TestSupport

/// A port on loopback that accepts connections and never responds.
struct ListeningSocket {
  let port: Int
  private let descriptor: Int32

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0 && listen(descriptor, 128) == 0
      }
    }
    guard isListening else { throw Unexpected(description: "cannot listen: \(errno)") }
    port = Int(in_port_t(bigEndian: address.sin_port))
  }

  func close() { _ = Foundation.close(descriptor) }
}

/// The socket of a service manager.
struct NotifySocket {
  /// The value of `NOTIFY_SOCKET`.
  let name: String
  private let descriptor: Int32

  /// Creates the socket.
  ///
  /// - Parameter isAbstract: Whether the name is in the abstract namespace instead of the file system.
  init(isAbstract: Bool = false) throws {
    let name = isAbstract ? "@tidings-\(UUID())" : "/tmp/tidings-\(UUID())"
    self.name = name
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(name.utf8)
    if isAbstract { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
    let descriptor = descriptor
    let isBound = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
    }
    guard isBound else { throw Unexpected(description: "no socket \(name): \(errno)") }
    // Only a fault takes longer than a minute.
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Waits for a message, on a thread that may block.
  func next() async throws -> String {
    let descriptor = descriptor
    return try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else {
          continuation.resume(throwing: Unexpected(description: "the service manager hears nothing"))
          return
        }
        continuation.resume(returning: String(decoding: buffer[..<count], as: UTF8.self))
      }
    }
  }

  func close() {
    _ = Foundation.close(descriptor)
    if name.hasPrefix("/") { unlink(name) }
  }
}
