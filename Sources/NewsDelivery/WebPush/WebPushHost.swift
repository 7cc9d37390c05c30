import NIOCore
import NIOSSL
import OutgoingHTTP
import Synchronization

/// The connections to one push service, which go to an address that the policy allows.
///
/// The name is resolved and checked again every few minutes. A name that resolves differently in between (DNS rebinding)
/// has no effect.
actor WebPushHost {
  /// The time after which the name is resolved again.
  static let checkTime: Duration = .seconds(300)
  /// The timeout of a resolution.
  private static let resolutionTime: Duration = .seconds(10)
  /// The time that requests on connections to a former address have.
  static let closingTime: Duration = .seconds(30)

  nonisolated let gate = HostGate()

  private let url: OutgoingURL
  private let resolver: CheckedResolver
  private let trustRoots: [NIOSSLCertificate]
  private let timeout: Duration
  private let checkTime: Duration
  private let closingTime: Duration
  private struct Current {
    var connection: PushConnection
    var address: String
    var checked: ContinuousClock.Instant
  }

  /// It is read outside of the actor, so that a request does not wait for it.
  private let current = Mutex<Current?>(nil)
  private var check: Task<PushConnection, any Error>?
  /// The address to which the last connection attempt has failed.
  private var unreachable: String?

  /// - Parameter url: An endpoint at the host.
  init(
    _ url: OutgoingURL, resolver: CheckedResolver, trustRoots: [NIOSSLCertificate], timeout: Duration,
    checkTime: Duration, closingTime: Duration
  ) {
    self.url = url
    self.resolver = resolver
    self.trustRoots = trustRoots
    self.timeout = timeout
    self.checkTime = checkTime
    self.closingTime = closingTime
  }

  /// Returns the connections to a checked address.
  ///
  /// - Throws: `OutgoingError`.
  nonisolated func connection() async throws -> PushConnection {
    if let connection = checkedConnection { return connection }
    return try await checkConnection()
  }

  private nonisolated var checkedConnection: PushConnection? {
    current.withLock { current in
      current.flatMap { $0.checked + checkTime > .now ? $0.connection : nil }
    }
  }

  private func checkConnection() async throws -> PushConnection {
    // Another request may have checked it meanwhile.
    if let connection = checkedConnection { return connection }
    if let check { return try await check.value }
    let check = Task { try await self.checkAddress() }
    self.check = check
    return try await check.value
  }

  /// Notes that no connection could be made, so that the next one goes to another address.
  func noteUnreachable(_ connection: PushConnection) {
    current.withLock { current in
      guard current?.connection === connection else { return }
      unreachable = current?.address
      current?.checked = .now - checkTime
    }
  }

  func shutdown() async {
    _ = try? await check?.value
    let connection = current.withLock { current in
      defer { current = nil }
      return current?.connection
    }
    await connection?.shutdown()
  }

  private func checkAddress() async throws -> PushConnection {
    defer { check = nil }
    let addresses = try await resolver.addresses(of: url, within: Self.resolutionTime).compactMap(\.ipAddress)
    let unreachable = unreachable
    let kept = current.withLock { current -> PushConnection? in
      guard let address = current?.address, addresses.contains(address), address != unreachable else { return nil }
      current?.checked = .now
      return current?.connection
    }
    if let kept { return kept }
    guard let address = addresses.first(where: { $0 != unreachable }) ?? addresses.first else {
      throw OutgoingError.unresolved("the name has no address")
    }
    self.unreachable = nil
    let connection = PushConnection(
      trustRoots: trustRoots, connections: 32, address: url.literal == nil ? (url.host, address) : nil,
      timeout: timeout)
    let old = current.withLock { current in
      defer { current = Current(connection: connection, address: address, checked: .now) }
      return current?.connection
    }
    if let old {
      Task { [closingTime] in
        try? await Task.sleep(for: closingTime)
        await old.shutdown()
      }
    }
    return connection
  }
}
