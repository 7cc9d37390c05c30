import NIOCore
import NIOSSL
import OutgoingHTTP

/// The connections to one push service, which go to an address that the policy allows.
///
/// The name is resolved and checked again every few minutes. A name that resolves differently in between (DNS rebinding)
/// has no effect.
actor WebPushHost {
  /// The time after which the name is resolved again.
  private static let checkTime: Duration = .seconds(300)
  /// The timeout of a resolution.
  private static let resolutionTime: Duration = .seconds(10)
  /// The time that requests on connections to a former address have.
  private static let closingTime: Duration = .seconds(30)

  nonisolated let gate = HostGate()

  private let url: OutgoingURL
  private let resolver: CheckedResolver
  private let trustRoots: [NIOSSLCertificate]
  private let timeout: Duration
  private var current: (connection: PushConnection, address: String, checked: ContinuousClock.Instant)?
  private var check: Task<PushConnection, any Error>?
  /// The address to which the last connection attempt has failed.
  private var unreachable: String?

  /// - Parameter url: An endpoint at the host.
  init(_ url: OutgoingURL, resolver: CheckedResolver, trustRoots: [NIOSSLCertificate], timeout: Duration) {
    self.url = url
    self.resolver = resolver
    self.trustRoots = trustRoots
    self.timeout = timeout
  }

  /// Returns the connections to a checked address.
  ///
  /// - Throws: `OutgoingError`.
  func connection() async throws -> PushConnection {
    if let current, current.checked + Self.checkTime > .now { return current.connection }
    if let check { return try await check.value }
    let check = Task { try await self.checkAddress() }
    self.check = check
    return try await check.value
  }

  /// Notes that no connection could be made, so that the next one goes to another address.
  func noteUnreachable(_ connection: PushConnection) {
    guard let current, current.connection === connection else { return }
    unreachable = current.address
    self.current?.checked = .now - Self.checkTime
  }

  func shutdown() async {
    _ = try? await check?.value
    await current?.connection.shutdown()
    current = nil
  }

  private func checkAddress() async throws -> PushConnection {
    defer { check = nil }
    let addresses = try await resolver.addresses(of: url, within: Self.resolutionTime).compactMap(\.ipAddress)
    if let current, addresses.contains(current.address), current.address != unreachable {
      self.current?.checked = .now
      return current.connection
    }
    guard let address = addresses.first(where: { $0 != unreachable }) ?? addresses.first else {
      throw OutgoingError.unresolved("the name has no address")
    }
    unreachable = nil
    if let old = current?.connection {
      Task {
        try? await Task.sleep(for: Self.closingTime)
        await old.shutdown()
      }
    }
    let connection = PushConnection(
      trustRoots: trustRoots, connections: 32, address: url.literal == nil ? (url.host, address) : nil,
      timeout: timeout)
    current = (connection, address, .now)
    return connection
  }
}
