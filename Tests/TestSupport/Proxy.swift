import Foundation
import TestKit

/// nginx or Varnish with the configuration of `deploy` in front of some servers.
package struct Proxy: Sendable {
  package enum Kind: String, Sendable {
    case nginx, varnish

    /// The path of the program. On Debian it is outside the search path of ordinary users.
    var executable: String? {
      ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"]
        .map { $0 + (self == .nginx ? "/nginx" : "/varnishd") }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    package var isInstalled: Bool { executable != nil }
  }

  /// The paths of a TLS certificate and its key, in PEM files.
  package struct Certificate: Sendable {
    package let certificate: String
    package let key: String

    package init(certificate: String, key: String) {
      self.certificate = certificate
      self.key = key
    }
  }

  /// The rate limit of nginx per client address.
  package struct Limit: Sendable {
    package let rate: String
    package let burst: Int

    package init(rate: String, burst: Int) {
      self.rate = rate
      self.burst = burst
    }
  }

  package let client: TestClient
  package let port: Int
  /// The port on which a proxy with TLS redirects plain requests.
  package let plainPort: Int?
  private let process: ChildProcess
  private let folder: URL

  /// The path of nginx.
  package static var nginx: String { Kind.nginx.executable ?? "nginx" }

  /// Whether nginx is installed.
  package static var isInstalled: Bool { Kind.nginx.isInstalled }

  /// Starts a proxy and waits until it forwards requests.
  ///
  /// - Parameters:
  ///   - servers: The ports of the servers.
  ///   - cache: Whether nginx caches responses; Varnish always does.
  ///   - isCounted: Whether nginx records requests and can be closed with ``shut()``.
  ///   - limit: The rate limit of nginx per client address.
  ///   - certificate: The certificate with which nginx speaks TLS; `client` cannot use the proxy then.
  package init(
    _ kind: Kind = .nginx, servers: [Int], cache: Bool = true, isCounted: Bool = false, limit: Limit? = nil,
    certificate: Certificate? = nil
  ) async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "tidings-\(kind).\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    port = try Loopback.freePort()
    plainPort = certificate == nil ? nil : try Loopback.freePort()
    let arguments: [String]
    switch kind {
    case .nginx:
      let nginx = NginxConfiguration(
        folder: folder, port: port, servers: servers, cache: cache, isCounted: isCounted, limit: limit,
        certificate: certificate, plainPort: plainPort)
      try nginx.text().write(to: folder.appending(path: "nginx.conf"), atomically: true, encoding: .utf8)
      arguments = [
        "-p", folder.path, "-e", folder.appending(path: "error.log").path, "-c",
        folder.appending(path: "nginx.conf").path,
      ]
    case .varnish:
      try VarnishConfiguration(servers: servers).write(to: folder)
      arguments = [
        "-F", "-j", "none", "-n", folder.appending(path: "work").path, "-a", "127.0.0.1:\(port)", "-T", "none", "-f",
        folder.appending(path: "tidings.vcl").path, "-s", "malloc,64m",
        // Long enough for a busy machine: a client might reuse a connection that is about to be closed.
        "-p", "timeout_idle=60",
      ]
    }
    // Varnish runs a compiler, which it finds by `PATH`.
    process = try ChildProcess(
      arguments, executable: kind.executable ?? kind.rawValue, environment: ["PATH": "/usr/bin:/bin"])
    client = TestClient(url: "http://127.0.0.1:\(port)", isProxy: true)
    try await waitUntilReady(status: certificate == nil ? 200 : 400)
  }

  /// Waits until the proxy responds.
  ///
  /// - Parameter status: The expected status of `/healthz`.
  private func waitUntilReady(status: Int) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while true {
      do {
        let request = Data("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        let response = try await RawConnection.exchange([request], port: port, endsInput: false).first
        if response?.status == status { return }
        throw TestResponse.Unexpected(description: "\(response?.status ?? 0) in place of \(status)")
      } catch {
        guard ContinuousClock.now < end else {
          // The worker processes end with it only after SIGTERM.
          process.send(SIGTERM)
          throw TestResponse.Unexpected(
            description: "the proxy does not response: \(error); \(await process.result().errors)")
        }
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  package func end() async {
    process.send(SIGTERM)
    _ = await process.result()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Runs the body with a proxy and stops it afterwards.
  package static func with<Value: Sendable>(
    _ proxy: Proxy, _ body: @Sendable (Proxy) async throws -> Value
  ) async throws -> Value {
    try await withResource(proxy, release: { await $0.end() }, body)
  }

  /// A request from the proxy's log.
  package struct Request: Sendable {
    package let target: String
    package let isConditional: Bool
    package let status: Int
  }

  /// The requests so far, if `isCounted` is set. They include the readiness checks of this process.
  package var requests: [Request] {
    get throws {
      let lines = try String(contentsOf: folder.appending(path: "access.log"), encoding: .utf8).split(separator: "\n")
      return lines.compactMap { line in
        let fields = line.split(separator: " ")
        return Request(target: String(fields[0]), isConditional: fields.last != "--", status: Int(fields[1]) ?? 0)
      }
    }
  }

  /// The `Retry-After` of a closed proxy, in seconds.
  package static let retryAfter = 7200

  /// Closes the proxy: it responses with 503 and `Retry-After` from now on.
  package func shut() throws { try Data().write(to: folder.appending(path: "closed")) }

  /// Forwards requests again.
  package func reopen() throws { try FileManager.default.removeItem(at: folder.appending(path: "closed")) }
}
