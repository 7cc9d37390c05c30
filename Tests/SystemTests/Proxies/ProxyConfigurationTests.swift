import Foundation
import News
import TestKit
import TestSupport
import Testing

/// The shipped configurations of nginx and Varnish, apart from caching.
@Suite struct ProxyConfigurationTests {
  private static let limit = Proxy.Limit(rate: "30r/m", burst: 20)

  @Test("A client over its limit gets a problem with Retry-After", .enabled(if: Proxy.isInstalled))
  func limit() async throws {
    try await EdgeSetting.with(.nginx, limit: Self.limit) { setting in
      var refused: [TestResponse] = []
      for _ in 0..<40 {
        if let answer = try await setting.undeclared("/v1/items"), answer.status == 429 { refused.append(answer) }
      }
      #expect(5...20 ~= refused.count)
      for answer in refused {
        #expect(answer["Retry-After"] == "1")
        #expect(answer["Cache-Control"] == "no-store")
        #expect(answer["Content-Type"] == "application/problem+json")
        #expect(answer.text.hasPrefix(#"{"status":429,"title":"#))
      }
      try await eventually("requests are accepted again") { try await setting.undeclared("/v1/items")?.status == 200 }
    }
  }

  @Test("With a certificate nginx speaks HTTP/2 and sends plain requests on", .enabled(if: Proxy.isInstalled))
  func security() async throws {
    try await withFolder(["empty": ""]) { folder in
      let made = try TestCertificates(in: folder, host: "news.example")
      let certificate = Proxy.Certificate(
        certificate: folder.appending(path: "server.crt").path, key: folder.appending(path: "server.key").path)
      let authority = made.authority
      try await Installation.with { installation in
        try await installation.serve { server in
          try await Proxy.with(try await Proxy(servers: [server.port], certificate: certificate)) { proxy in
            let process = try ChildProcess(
              [
                "-sS", "--http2", "--cacert", authority, "--resolve", "news.example:\(proxy.port):127.0.0.1",
                "-o", "/dev/null", "-w", "%{http_version} %{http_code} %header{strict-transport-security}",
                "https://news.example:\(proxy.port)/v1/items",
              ], executable: "/usr/bin/curl", environment: ["HOME": folder.path])
            let result = await process.result()
            #expect(result.output == "2 200 max-age=31536000", "\(result.errors)")
            let plain = try #require(proxy.plainPort)
            for (target, status) in [
              ("/v1/items?limit=5", 308), ("/v1/editorial/items", 403), ("/v1/devices", 403),
              ("/v1/devices/a/state", 403),
            ] {
              let answer = try await EdgeSetting.undeclared(target, port: plain)
              #expect(answer?.status == status)
              if status == 308 { #expect(answer?["Location"] == "https://news.example:8443" + target) }
            }
          }
        }
      }
    }
  }

  @Test("Large notices of hubs reach the server, and no response of a callback is stored", arguments: Edge.installed)
  func callbacks(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      let target = "/v1/websub/AAAAAAAAAAAAAAAAAAAAAA"
      let notice = try await setting.proxy.send("POST", target, file: Data(count: 2 << 20))
      #expect(notice.status == 410)
      for _ in 0..<3 { #expect(try await setting.get(target).status == 404) }
      #expect(try await setting.requests("/v1/websub/{token}") == 4)
    }
  }

  /// A server of Varnish's own test tool sends the responses that Tidings never sends but a cache must handle
  /// correctly.
  @Test(
    "In Varnish, an uncacheable 410 replaces a stored response; a 503 or 429 does not",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/varnishtest")))
  func invalidation() async throws {
    let folder = Project.root.appending(path: "deploy/varnish")
    let process = try ChildProcess(
      ["-D", "vcl=\(folder.path)", folder.appending(path: "tidings.vtc").path], executable: "/usr/bin/varnishtest",
      environment: ["PATH": "/usr/sbin:/usr/bin:/bin", "TMPDIR": FileManager.default.temporaryDirectory.path])
    let result = await process.result()
    #expect(result.status == 0, "\(result.output.suffix(4000))\(result.errors)")
  }
}
