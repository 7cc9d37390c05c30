public import Foundation
import NetworkAddresses

/// The proxies through which requests are sent.
///
///     var proxies = ProxySettings(environment: ProcessInfo.processInfo.environment)
///     proxies.exceptions.append("intranet.example")
///     print(proxies.proxy(for: URL(string: "https://news.example")!)?.absoluteString ?? "no proxy")
public struct ProxySettings: Sendable, Hashable {
  /// The reason why the address of a proxy cannot be used.
  ///
  ///     do {
  ///       print(try ProxySettings(address: "ftp://proxy.example"))
  ///     } catch let failure as ProxySettings.InvalidAddress {
  ///       print(failure)
  ///     }
  public struct InvalidAddress: Error, Hashable, CustomStringConvertible {
    /// A sentence without the address, which may have a password.
    public let description: String
  }

  /// A proxy.
  struct Proxy: Sendable, Hashable {
    var host: String
    var port: Int
    /// Whether the proxy is one of SOCKS 5 rather than of HTTP.
    var isSOCKS: Bool
    /// The user name and the password of HTTP proxies, separated by a colon; nil for none.
    var credentials: String?
    let url: URL

    init(_ address: String) throws {
      // curl takes an address without a scheme for that of an HTTP proxy.
      let text = address.contains("://") ? address : "http://\(address)"
      guard let url = URL(string: text), let host = url.host(percentEncoded: false), !host.isEmpty,
        let scheme = url.scheme?.lowercased()
      else {
        throw InvalidAddress(description: "the address of the proxy is not a URL such as http://proxy.example:3128")
      }
      switch scheme {
      case "http": (isSOCKS, port) = (false, url.port ?? 80)
      case "socks5", "socks5h": (isSOCKS, port) = (true, url.port ?? 1080)
      default:
        throw InvalidAddress(description: "a proxy needs an address with http or socks5, not with \(scheme.singleLine)")
      }
      if let obstacle = url.serverObstacle {
        throw InvalidAddress(description: "the address of the proxy is not valid: \(obstacle)")
      }
      self.host = host
      self.url = url
      credentials = url.user(percentEncoded: false).map { "\($0):\(url.password(percentEncoded: false) ?? "")" }
    }
  }

  /// The proxy of each scheme.
  var proxies: [String: Proxy] = [:]
  /// The hosts that are reached without a proxy: names, which include their subdomains, or addresses, each with an optional
  /// port; networks such as `10.0.0.0/8`; `*` for all hosts.
  public var exceptions: [String] = []

  /// Creates settings without a proxy.
  public init() {}

  /// Creates settings with one proxy for all servers.
  ///
  /// - Parameter address: The address of an HTTP proxy, which tunnels all requests with CONNECT, or of a SOCKS proxy, such as
  ///   `http://user:password@proxy.example:3128` or `socks5://127.0.0.1:1080`.
  /// - Throws: ``InvalidAddress``.
  public init(address: String) throws {
    let proxy = try Proxy(address)
    proxies = ["http": proxy, "https": proxy]
  }

  /// Reads the usual variables: `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`. All except `http_proxy` may be in
  /// upper case: programs that are run for web requests receive `HTTP_PROXY` from strangers. Addresses that cannot be used
  /// are ignored.
  ///
  /// - Parameter environment: The variables of a process.
  public init(environment: [String: String]) {
    func value(_ names: String...) -> String? { names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } }
    let all = value("all_proxy", "ALL_PROXY")
    proxies["https"] = (value("https_proxy", "HTTPS_PROXY") ?? all).flatMap { try? Proxy($0) }
    proxies["http"] = (value("http_proxy") ?? all).flatMap { try? Proxy($0) }
    exceptions = (value("no_proxy", "NO_PROXY") ?? "").split(whereSeparator: { ", ".contains($0) }).map(String.init)
  }

  /// Returns the address of the proxy for a server; nil if it is reached without one.
  public func proxy(for url: URL) -> URL? { selected(for: url)?.url }

  /// Returns the proxy for a server.
  func selected(for url: URL) -> Proxy? {
    guard let scheme = url.scheme?.lowercased(), let proxy = proxies[scheme], !isException(url) else { return nil }
    return proxy
  }

  private func isException(_ url: URL) -> Bool {
    guard var host = url.host()?.lowercased() else { return true }
    if host.hasPrefix("[") { host = String(host.dropFirst().dropLast()) }
    let port = url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
    return exceptions.contains { exception in
      var name = exception.lowercased()
      if name == "*" { return true }
      if name.contains("/") {
        return IPAddress(host).map { IPNetwork(name)?.contains($0) ?? false } ?? false
      }
      if name.hasPrefix("[") {
        let parts = name.dropFirst().split(separator: "]", maxSplits: 1)
        guard let address = parts.first else { return false }
        return host == address && (parts.count < 2 || parts[1] == ":\(port)")
      }
      // More than one colon belongs to an address of IPv6.
      if name.filter({ $0 == ":" }).count == 1, let colon = name.firstIndex(of: ":") {
        guard name[colon...].dropFirst() == "\(port)" else { return false }
        name = String(name[..<colon])
      }
      let domain = name.drop { $0 == "." }
      return !domain.isEmpty && (host == domain || host.hasSuffix(".\(domain)"))
    }
  }
}
