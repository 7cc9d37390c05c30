import Foundation
import HTTPEdge
import NewsAPI
import NewsDelivery

#if canImport(Glibc)
  import Glibc
#endif

/// The checks of `tidings doctor` on this machine.
struct MachineChecks {
  let settings: Settings

  func findings() -> [Finding] { [user(), contract(), listener(), proxies(), descriptors()] }

  private func user() -> Finding {
    if geteuid() != 0 { return .ok("user", "the rights of \(ServerUser.current) were checked") }
    return .warning(
      "user", "the rights of root were checked, who can write anywhere: name the server's user with --user")
  }

  private func contract() -> Finding {
    let path = settings.openAPI
    if path.isEmpty { return .ok("contract", "the one in the executable") }
    guard let size = try? Data(contentsOf: URL(filePath: path)).count, size > 0 else {
      return .problem("contract", "\(path) cannot be read: correct TIDINGS_OPENAPI, or remove the setting")
    }
    return .ok("contract", path)
  }

  private func listener() -> Finding {
    let place = "\(settings.host):\(settings.port)"
    switch PortProbe.probe(host: settings.host, port: settings.port) {
    case .free: return .ok("listener", settings.port == 0 ? "any free port of \(settings.host)" : "\(place) is free")
    case .tidings: return .ok("listener", "a Tidings server responds at \(place)")
    case .taken:
      return .problem("listener", "\(place) is in use by another program: choose another TIDINGS_PORT")
    case .unusable(let reason):
      return .problem("listener", "cannot listen on \(place): \(reason). Correct TIDINGS_HOST or TIDINGS_PORT.")
    }
  }

  private func proxies() -> Finding {
    let trusts = settings.trustedProxies.areKnown
    if let (network, gateway) = settings.trustedProxies.network(containing: Gateways.known) {
      return .warning(
        "proxies",
        """
        TIDINGS_TRUSTED_PROXIES trusts \(network), which contains the gateway \(gateway): a client that is seen with the \
        gateway's address can claim any other. Name the addresses of the proxies instead
        """
      )
    }
    if !trusts, settings.publicURL?.hasPrefix("https:") == true {
      return .warning(
        "proxies",
        "TIDINGS_PUBLIC_URL is https, so there is a proxy: name its address or network in TIDINGS_TRUSTED_PROXIES")
    }
    if !trusts, settings.requestsPerAddress > 0 {
      return .warning(
        "proxies",
        """
        TIDINGS_ADDRESS_RATE is set, and all readers behind a proxy share its address: if there is a proxy, name it in \
        TIDINGS_TRUSTED_PROXIES
        """
      )
    }
    if !trusts, settings.registrationsPerAddress > 0,
      (try? settings.deliveryConfiguration())?.providers.isEmpty == false
    {
      return .warning(
        "proxies",
        """
        TIDINGS_DEVICE_RATE limits registrations, and all devices behind a proxy share its address: if there is a proxy, \
        name it in TIDINGS_TRUSTED_PROXIES
        """
      )
    }
    return .ok("proxies", trusts ? "TIDINGS_TRUSTED_PROXIES names trusted proxies" : "no proxy is trusted")
  }

  private func descriptors() -> Finding {
    // The server raises its limit to the maximum.
    guard let limit = FreeDescriptors.limits.maximum else { return .ok("descriptors", "there is no limit") }
    return limit < 4096
      ? .warning(
        "descriptors",
        "the maximum is \(limit), and each connection needs one: raise it with ulimit -Hn or LimitNOFILE=")
      : .ok("descriptors", "the maximum is \(limit)")
  }

  /// Returns the bytes that a user may still write to a file system; nil if the file system does not report them.
  static func freeSpace(_ path: String) -> Int? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    // File systems without a limit report the largest number of blocks.
    let (bytes, hasOverflowed) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return hasOverflowed ? .max : Int(clamping: bytes)
  }
}
