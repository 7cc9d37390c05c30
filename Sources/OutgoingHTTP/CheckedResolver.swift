package import NIOCore

/// Resolves names to addresses that a policy allows, for clients with connections of their own.
///
/// A client that connects to a returned address, and does not resolve the name again, is safe from a name that resolves
/// differently at the next look-up (DNS rebinding).
package final class CheckedResolver: Sendable {
  private let policy: AddressPolicy
  private let resolver: NameResolver

  /// Creates a resolver. `shutdown()` ends its threads.
  package init(policy: AddressPolicy, resolver: NameResolver = NameResolver()) {
    self.policy = policy
    self.resolver = resolver
  }

  /// Returns the allowed addresses of a host, in the order of preference and at least one.
  ///
  /// - Throws: `OutgoingError.unresolved`, or `OutgoingError.refused` if no address is allowed; `CancellationError`.
  package func addresses(of url: OutgoingURL, within time: Duration) async throws -> [SocketAddress] {
    var failure = OutgoingError.unresolved("the name \(url.host) has no address")
    var allowed: [SocketAddress] = []
    for address in try await resolver.addresses(of: url, by: .now + time) {
      do {
        try policy.check(address, of: url)
        allowed.append(address)
      } catch {
        failure = error
      }
    }
    guard !allowed.isEmpty else { throw failure }
    return allowed
  }

  /// Ends the threads. No request may follow.
  package func shutdown() async { await resolver.shutdown() }
}
