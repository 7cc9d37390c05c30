import Foundation
import TestKit
import TestSupport
import Testing

/// The client identities of `limit.conf.template`, as a real nginx computes them.
@Suite(.enabled(if: Proxy.isInstalled)) struct NginxLimitTests {
  /// Each line contains addresses of one network, in the spellings that nginx uses.
  private static let networks = [
    ["2001:db8:1::5", "2001:db8:1::a:b:c", "2001:db8:1:0:ffff::", "2001:db8:1::", "2001:db8:1:0:1:2:3:4"],
    ["2001:db8:1:1::5", "2001:db8:1:1:a:b:c:d"], ["2001:db8:1:10::5", "2001:db8:1:10:a:b:c:d"],
    ["2001:db8::5", "2001:db8:0:0:1::", "2001:db8::1:0:0:5", "2001:db8::1:2:3:4"],
    ["2001:db8:0:1::5", "2001:db8:0:1:2:3:4:5"],
    ["2001::7:1:2:3:4", "2001:0:0:7::"], ["2001::8:1:2:3:4"], ["2001::1", "2001::", "2001::1:2:3:4"],
    ["2001:0:5:0:1::", "2001:0:5::"], ["2001:db8:2:3:4:5:6:7", "2001:db8:2:3::"], ["2001:db8:2:4::"],
  ]

  @Test("Addresses of one network of IPv6 are one client, in every spelling, and other networks are other clients")
  func networks() async throws {
    try await Self.withNginx { ask in
      var seen: [String: Int] = [:]
      for (number, addresses) in Self.networks.enumerated() {
        let clients = Set(try await addresses.asyncMap { try await ask($0) })
        #expect(clients.count == 1, "\(addresses): \(clients)")
        for client in clients {
          let other = seen.updateValue(number, forKey: client)
          #expect(other == nil, "\(client)")
        }
      }
      let (one, other) = (try await ask("192.0.2.1"), try await ask("192.0.2.2"))
      #expect(one != other)
    }
  }

  private static func withNginx(
    _ body: (@Sendable (String) async throws -> String) async throws -> Void
  ) async throws {
    let template = try String(
      contentsOf: Project.root.appending(path: "deploy/nginx/limit.conf.template"), encoding: .utf8)
    let limit = template.replacing("${TIDINGS_RATE}", with: "100r/s").replacing("${TIDINGS_BURST}", with: "400")
    try await withFolder(["limit.conf": limit, "logs/error.log": ""]) { folder in
      let port = try Loopback.freePort()
      let text = """
        daemon off;
        \(getuid() == 0 ? "user root;" : "")
        pid \(folder.path)/nginx.pid;
        events {}
        http {
          access_log off;
          set_real_ip_from 127.0.0.1;
          real_ip_header X-Forwarded-For;
          client_body_temp_path \(folder.path)/bodies;
          proxy_temp_path \(folder.path)/answers;
          fastcgi_temp_path \(folder.path)/fastcgi;
          uwsgi_temp_path \(folder.path)/uwsgi;
          scgi_temp_path \(folder.path)/scgi;
          include \(folder.path)/limit.conf;
          server {
            listen 127.0.0.1:\(port);
            location / { add_header X-Client $tidings_client; return 204; }
          }
        }
        """
      let file = folder.appending(path: "nginx.conf")
      try text.write(to: file, atomically: true, encoding: .utf8)
      let process = try ChildProcess(
        ["-p", folder.path, "-e", folder.appending(path: "logs/error.log").path, "-c", file.path],
        executable: Proxy.nginx, environment: ["PATH": "/usr/bin:/bin"])
      let ask: @Sendable (String) async throws -> String = { address in
        let request = "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(address)\r\nConnection: close\r\n\r\n"
        let bytes = try await RawConnection.bytes([Data(request.utf8)], port: port, endsInput: false)
        // The identity of an IPv4 address is four arbitrary bytes.
        let lines = bytes.split(separator: UInt8(ascii: "\r"))
        let line = try #require(lines.first { $0.dropFirst().starts(with: Data("X-Client: ".utf8)) })
        return line.map { String($0, radix: 16) }.joined(separator: " ")
      }
      let outcome: Result<Void, any Error>
      do {
        try await eventually("nginx listens") { (try? await ask("192.0.2.1")) != nil }
        outcome = .success(try await body(ask))
      } catch { outcome = .failure(error) }
      process.send(SIGTERM)
      _ = await process.result()
      try outcome.get()
    }
  }
}

extension Array {
  fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async throws -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await transform(element)) }
    return values
  }
}
