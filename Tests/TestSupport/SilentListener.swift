import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A listening socket on loopback that never sends anything.
package final class SilentListener: Sendable {
  /// The port on 127.0.0.1.
  package let port: UInt16
  private let sockets: [Int32]

  /// Creates a listener.
  ///
  /// - Parameter isFull: Whether the listen backlog is full, so that further connections are not even established.
  package init(isFull: Bool = false) throws {
    let listener = Self.makeSocket()
    var sockets = [listener]
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let size = length
    let isListening = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, isFull ? 0 : 16) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard isListening else { throw CocoaError(.fileReadUnknown) }
    for _ in 0..<(isFull ? 4 : 0) {
      let client = Self.makeSocket()
      sockets.append(client)
      _ = fcntl(client, F_SETFL, O_NONBLOCK)
      _ = withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(client, $0, size) }
      }
    }
    self.sockets = sockets
    port = UInt16(bigEndian: address.sin_port)
  }

  deinit {
    for socket in sockets { close(socket) }
  }

  private static func makeSocket() -> Int32 {
    #if os(Linux)
      socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      socket(AF_INET, SOCK_STREAM, 0)
    #endif
  }
}
