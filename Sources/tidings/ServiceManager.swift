import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// The service manager that started the process and expects messages from it: systemd with `Type=notify`
/// (sd_notify(3)).
struct ServiceManager: Sendable {
  /// The path of a datagram socket, or its abstract name after an `@` (unix(7)); nil without a service manager.
  private let socketName: String?

  init(environment: [String: String] = ProcessInfo.processInfo.environment) {
    socketName = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
  }

  /// Sends a message of `NAME=value` lines. Errors are ignored.
  func notify(_ message: String) {
    guard let socketName else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var name = Array(socketName.utf8)
    // An abstract name begins with a zero byte. It ends with its length, without a terminator.
    if name[0] == UInt8(ascii: "@") { name[0] = 0 }
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard name.count < capacity else { return }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
    let length = socklen_t(offset + name.count + (name[0] == 0 ? 0 : 1))

    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let bytes = Array(message.utf8)
    _ = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
      }
    }
  }
}
