package import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// Resolves names with `getaddrinfo` on threads of its own, because the call blocks.
package struct NameResolver: Sendable {
  /// Returns the addresses of a name. The call may block.
  package typealias Lookup = @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress]

  private let lookup: Lookup
  private let threads: NIOThreadPool

  /// Creates a resolver. Its threads end with `shutdown()`.
  package init(lookup: @escaping Lookup = NameResolver.systemLookup) {
    self.lookup = lookup
    // A name whose server does not answer occupies a thread until the timeout of the system's resolver.
    threads = NIOThreadPool(numberOfThreads: 32)
    threads.start()
  }

  func shutdown() async { try? await threads.shutdownGracefully() }

  /// Resolves the host of an address.
  ///
  /// - Throws: `OutgoingError.unresolved`, also after the deadline; the abandoned call ends by itself.
  func addresses(of url: OutgoingURL, by deadline: ContinuousClock.Instant) async throws -> [SocketAddress] {
    if let literal = url.literal { return [literal] }
    let waiter = Waiter()
    let lookup = lookup
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiter.wait(continuation)
        threads.submit { _ in waiter.resume(Result { try lookup(url.host, url.port) }) }
        let timer = Task {
          try await Task.sleep(until: deadline)
          waiter.resume(.failure(OutgoingError.unresolved("the name \(url.host) could not be resolved in time")))
        }
        waiter.onEnd { timer.cancel() }
      }
    } onCancel: {
      waiter.resume(.failure(CancellationError()))
    }
  }

  /// Calls `getaddrinfo`.
  package static func systemLookup(_ host: String, _ port: Int) throws -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, String(port), &hints, &list)
    guard code == 0 else {
      throw OutgoingError.unresolved("the name \(host) cannot be resolved: \(String(cString: gai_strerror(code)))")
    }
    defer { freeaddrinfo(list) }
    var addresses: [SocketAddress] = []
    var next = list
    while let entry = next?.pointee {
      defer { next = entry.ai_next }
      guard let address = entry.ai_addr else { continue }
      switch entry.ai_family {
      case AF_INET:
        addresses.append(
          address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee) })
      case AF_INET6:
        addresses.append(
          address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee) })
      default: break
      }
    }
    return addresses
  }

  /// The continuation of a look-up, which the first of several outcomes resumes.
  private final class Waiter: Sendable {
    private typealias Continuation = CheckedContinuation<[SocketAddress], any Error>

    private struct State {
      var continuation: Continuation?
      var outcome: Result<[SocketAddress], any Error>?
      var action: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    func wait(_ continuation: CheckedContinuation<[SocketAddress], any Error>) {
      let outcome = state.withLock { state in
        if state.outcome == nil { state.continuation = continuation }
        return state.outcome
      }
      if let outcome { continuation.resume(with: outcome) }
    }

    func onEnd(_ action: @escaping @Sendable () -> Void) {
      let hasEnded = state.withLock { state in
        state.action = action
        return state.outcome != nil
      }
      if hasEnded { action() }
    }

    func resume(_ outcome: Result<[SocketAddress], any Error>) {
      let (continuation, action) = state.withLock { state -> (Continuation?, (@Sendable () -> Void)?) in
        guard state.outcome == nil else { return (nil, nil) }
        state.outcome = outcome
        defer { state.continuation = nil }
        return (state.continuation, state.action)
      }
      continuation?.resume(with: outcome)
      action?()
    }
  }
}
