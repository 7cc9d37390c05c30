import Foundation
import PostgresClient
import TestSupport
import Testing

/// The console over https, as the browser of somebody elsewhere reaches it.
@Suite(.enabled(if: BrowserDriver.runsAllTests, "make browser"), .enabled(if: Proxy.isInstalled, "needs nginx"))
struct BrowserTransportTests {
  /// The host of the public URL, which only the browser of the test finds.
  private static let host = "news.example"

  @Test(
    "Behind a proxy with TLS, sessions have a cookie that is never sent without it", arguments: [true, false])
  func cookie(javascript: Bool) async throws {
    try await withFolder(["empty": ""]) { folder in
      let certificates = try TestCertificates(in: folder, host: Self.host)
      #expect(certificates.certificate.hasPrefix("-----BEGIN"))
      let file = folder.appending(path: "server.crt").path
      // The port is that to which the proxy redirects requests without TLS.
      let name = javascript ? "secure" : "secure-without-javascript"
      try await BrowserDriver.with(name, publicURL: "https://\(Self.host):8443") { driver in
        let proxy = try await Proxy(
          servers: [driver.server.port],
          certificate: .init(certificate: file, key: folder.appending(path: "server.key").path))
        try await Proxy.with(proxy) { proxy in
          let plainPort = try #require(proxy.plainPort)
          var driver = driver
          driver.programSettings = [
            "CERTIFICATE": file,
            "HOSTS":
              "MAP \(Self.host):8443 127.0.0.1:\(proxy.port), MAP \(Self.host):80 127.0.0.1:\(plainPort)",
          ]
          let steps = try await driver.run("secure", javascript: javascript)
          #expect(steps.map(\.step) == ["signed in", "uploaded", "signed out", "signed out again"])
          #expect(try await driver.installation.value("SELECT count(*) FROM console_sessions") == 0)
        }
      }
    }
  }
}
