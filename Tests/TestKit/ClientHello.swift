import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// The first message of a client that connects with TLS.
public enum ClientHello {
  /// Returns the versions of TLS that a client offers, in ascending order, such as 0x0303 for TLS 1.2.
  ///
  /// - Parameter connect: Connects to a port on loopback with TLS. The connection is closed after the first message, and
  ///   further ones are refused.
  /// - Throws: `Loopback.Failure` if there is no such message.
  public static func versions(of connect: (_ port: Int) async -> Void) async throws -> [Int] {
    let descriptor = try Loopback.bind(to: 0)
    let port = try Loopback.localPort(of: descriptor)
    guard listen(descriptor, 1) == 0 else { throw Loopback.Failure(description: "cannot listen") }
    let bytes = Task { await firstBytes(descriptor) }
    await connect(port)
    // Nobody waits for a client that has not connected.
    _ = shutdown(descriptor, Int32(SHUT_RDWR))
    return try versions(in: await bytes.value)
  }

  private static func firstBytes(_ descriptor: Int32) async -> [UInt8] {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let connection = accept(descriptor, nil, nil)
        close(descriptor)
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(connection, &buffer, buffer.count, 0)
        close(connection)
        continuation.resume(returning: Array(buffer.prefix(max(0, count))))
      }
    }
  }

  /// Reads the extension `supported_versions` (43): its length, the length of the list, and the list (RFC 8446 section
  /// 4.2.1). Without it, a client offers TLS 1.2 or older.
  private static func versions(in hello: [UInt8]) throws -> [Int] {
    let start = hello.indices.dropLast(5).first { index in
      hello[index] == 0 && hello[index + 1] == 43 && hello[index + 2] == 0
        && Int(hello[index + 3]) == Int(hello[index + 4]) + 1
    }
    guard hello.first == 22, let start, start + 5 + Int(hello[start + 4]) <= hello.count else {
      throw Loopback.Failure(description: "no ClientHello with supported versions")
    }
    let versions = stride(from: start + 5, to: start + 5 + Int(hello[start + 4]), by: 2).map {
      Int(hello[$0]) << 8 | Int(hello[$0 + 1])
    }
    // Reserved values test that servers ignore unknown versions (RFC 8701).
    return versions.filter { $0 & 0x0f0f != 0x0a0a }.sorted()
  }
}
