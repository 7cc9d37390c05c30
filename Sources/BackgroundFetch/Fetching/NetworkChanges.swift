#if os(Linux)
  import Foundation

  extension SystemConstraints {
    /// Changes of the machine's interfaces and of their addresses, as the kernel announces them (rtnetlink(7)). Nothing is
    /// polled.
    public var networkChanges: AsyncStream<Void> {
      AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
        guard let source = Self.makeSource(onChange: { continuation.yield() }) else { return }
        continuation.onTermination = { _ in source.cancel() }
      }
    }

    /// Returns a source that is closed when it is cancelled; nil if the kernel refuses the socket.
    private static func makeSource(onChange: @escaping @Sendable () -> Void) -> NetworkSource? {
      let route: Int32 = 0  // NETLINK_ROUTE
      let descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue) | socketFlags, route)
      guard descriptor >= 0 else { return nil }
      var address = NetlinkAddress()
      let isBound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<NetlinkAddress>.size)) == 0
        }
      }
      guard isBound else {
        close(descriptor)
        return nil
      }
      return NetworkSource(descriptor, onChange)
    }

    private static var socketFlags: Int32 { Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue) }
  }

  /// The address of a netlink socket (`struct sockaddr_nl`, netlink(7)), which Glibc's module lacks.
  private struct NetlinkAddress {
    var family = sa_family_t(AF_NETLINK)
    var padding: UInt16 = 0
    /// The kernel chooses the number.
    var port: UInt32 = 0
    /// `RTMGRP_LINK`, `RTMGRP_IPV4_IFADDR` and `RTMGRP_IPV6_IFADDR`.
    var groups: UInt32 = 0x1 | 0x10 | 0x100
  }

  /// A reader of a netlink socket.
  ///
  /// `Sendable` is correct, because the only property is a source that any thread may cancel (dispatch_source_cancel(3)).
  private final class NetworkSource: @unchecked Sendable {
    private let source: any DispatchSourceRead

    init(_ descriptor: Int32, _ onChange: @escaping @Sendable () -> Void) {
      source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
      source.setEventHandler {
        // The content does not matter: the state of the machine is read anew.
        withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 16) { buffer in
          while recv(descriptor, buffer.baseAddress, buffer.count, 0) > 0 {}
        }
        onChange()
      }
      source.setCancelHandler { close(descriptor) }
      source.resume()
    }

    func cancel() { source.cancel() }
  }
#endif
