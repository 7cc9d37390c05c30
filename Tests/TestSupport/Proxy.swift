import Foundation
import TestSockets

/// nginx or Varnish with the configuration of `deploy` before some servers.
package struct Proxy: Sendable {
  package enum Kind: String, Sendable {
    case nginx, varnish

    /// Debian keeps them out of the path of ordinary users.
    var executable: String? {
      ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"]
        .map { $0 + (self == .nginx ? "/nginx" : "/varnishd") }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    package var isInstalled: Bool { executable != nil }
  }

  /// Where certificate and key for TLS are, as PEM.
  package struct Certificate: Sendable {
    package let certificate: String
    package let key: String

    package init(certificate: String, key: String) {
      self.certificate = certificate
      self.key = key
    }
  }

  /// What one address may ask of nginx.
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
  /// Where one with TLS sends plain requests on.
  package let plainPort: Int?
  private let process: ChildProcess
  private let folder: URL

  /// The path of nginx.
  package static var nginx: String { Kind.nginx.executable ?? "nginx" }

  /// Whether there is an nginx.
  package static var isInstalled: Bool { Kind.nginx.isInstalled }

  /// Starts it, and waits until it passes requests on.
  ///
  /// - Parameters:
  ///   - servers: Their ports.
  ///   - cache: Whether nginx keeps answers; Varnish always does.
  ///   - isCounted: Whether nginx remembers requests and can be shut.
  ///   - limit: On what one address may ask of nginx.
  ///   - certificate: For nginx to speak TLS: then `client` speaks to it in vain.
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
        // Of a busy machine; a client may come back on a connection that is about to be closed.
        "-p", "timeout_idle=60",
      ]
    }
    // Varnish calls a compiler.
    process = try ChildProcess(
      arguments, executable: kind.executable ?? kind.rawValue, environment: ["PATH": "/usr/bin:/bin"])
    client = TestClient(url: "http://127.0.0.1:\(port)", isProxy: true)
    try await waitUntilReady(status: certificate == nil ? 200 : 400)
  }

  /// - Parameter status: That of `/healthz`.
  private func waitUntilReady(status: Int) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while true {
      do {
        let request = Data("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        let answer = try await RawConnection.exchange([request], port: port, endsInput: false).first
        if answer?.status == status { return }
        throw TestResponse.Unexpected(description: "\(answer?.status ?? 0) in place of \(status)")
      } catch {
        guard ContinuousClock.now < end else {
          // Its workers end with it only if it is asked.
          process.send(SIGTERM)
          throw TestResponse.Unexpected(
            description: "the proxy does not answer: \(error); \(await process.result().errors)")
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

  /// Runs the body with one, and ends it afterwards.
  package static func with<Value: Sendable>(
    _ proxy: Proxy, _ body: @Sendable (Proxy) async throws -> Value
  ) async throws -> Value {
    do {
      let value = try await body(proxy)
      await proxy.end()
      return value
    } catch {
      await proxy.end()
      throw error
    }
  }

  /// A request as its log has it.
  package struct Request: Sendable {
    package let target: String
    package let isConditional: Bool
    package let status: Int
  }

  /// The requests so far of one that counts; those of this process to see whether it answers are among them.
  package var requests: [Request] {
    get throws {
      let lines = try String(contentsOf: folder.appending(path: "access.log"), encoding: .utf8).split(separator: "\n")
      return lines.compactMap { line in
        let fields = line.split(separator: " ")
        return Request(target: String(fields[0]), isConditional: fields.last != "--", status: Int(fields[1]) ?? 0)
      }
    }
  }

  /// How long one that is closed keeps clients away, in seconds.
  package static let retryAfter = 7200

  /// Answers with 503 and `Retry-After` from now on.
  package func shut() throws { try Data().write(to: folder.appending(path: "closed")) }

  /// Passes requests on again.
  package func reopen() throws { try FileManager.default.removeItem(at: folder.appending(path: "closed")) }
}
