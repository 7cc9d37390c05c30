public import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// Sockets to servers on 127.0.0.1, for clients that behave worse than those of any library.
///
///     let descriptor = try Loopback.connect(to: port)
///     try Loopback.send(Array("GET / HTTP/1.1\r\nHost:".utf8), on: descriptor)
///     print("half a request from port \(try Loopback.localPort(of: descriptor))")
public enum Loopback {
  /// A socket operation failed.
  public struct Failure: Error, CustomStringConvertible {
    /// The operation and the error message of the system.
    public let description: String

    /// Creates a failure with this description.
    public init(description: String) {
      self.description = description
    }

    /// Creates a failure that includes the system's error message.
    init(_ operation: String) {
      description = "\(operation): \(String(cString: strerror(errno)))"
    }
  }

  /// Connects a socket. Processes that start later do not inherit it.
  ///
  /// - Parameter prepare: A function that is called with the descriptor before the connection is made.
  /// - Returns: The descriptor, which the caller closes.
  public static func connect(to port: Int, prepare: (Int32) -> Void = { _ in }) throws -> Int32 {
    let descriptor = try makeSocket()
    prepare(descriptor)
    var address = Self.address(port)
    let outcome = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard outcome == 0 else {
      let failure = Failure("cannot connect to port \(port)")
      close(descriptor)
      throw failure
    }
    return descriptor
  }

  /// Returns the local port of a connection.
  public static func localPort(of descriptor: Int32) throws -> Int {
    var address = Self.address(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
    }
    guard isKnown else { throw Failure("the socket has no address") }
    return Int(in_port_t(bigEndian: address.sin_port))
  }

  /// Returns a port that is free at the moment.
  public static func freePort() throws -> Int {
    let descriptor = try bind(to: 0)
    defer { close(descriptor) }
    return try localPort(of: descriptor)
  }

  /// Binds a socket to a port without listening: connections to it are refused, and no other process can take it.
  ///
  /// - Parameter port: The port; 0 for any free one.
  /// - Returns: The descriptor, which the caller closes.
  public static func bind(to port: Int) throws -> Int32 {
    let descriptor = try makeSocket()
    // Connections that were accepted on the port before do not prevent it.
    var reuse: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
    var address = Self.address(port)
    let outcome = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard outcome == 0 else {
      let failure = Failure("cannot bind port \(port)")
      close(descriptor)
      throw failure
    }
    return descriptor
  }

  /// Sends all bytes.
  public static func send(_ bytes: some ContiguousBytes, on descriptor: Int32) throws {
    try bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let part = UnsafeRawBufferPointer(rebasing: rest)
        let count = Glibc.send(descriptor, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
        guard count > 0 else { throw Failure("cannot send") }
        rest = rest.dropFirst(count)
      }
    }
  }

  private static func makeSocket() throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure("no socket") }
    return descriptor
  }

  private static func address(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return address
  }
}
