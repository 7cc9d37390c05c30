import Foundation
import TestKit
import TestSupport
import Testing

/// Whether a program is installed.
private func has(_ program: String) -> Bool {
  ["/usr/bin/", "/bin/"].contains { FileManager.default.isExecutableFile(atPath: $0 + program) }
}

/// The shipped files for operators: units, rules, a dashboard.
@Suite struct DeploymentTests {
  private static let folder = Project.root.appending(path: "deploy")

  private static func run(_ program: String, _ arguments: String..., in folder: URL) async throws -> ChildProcess.Result
  {
    let arguments = ["-C", folder.path, program] + arguments
    let environment = ["PATH": "/usr/bin:/bin"]
    return try await ChildProcess(arguments, executable: "/usr/bin/env", environment: environment).result()
  }

  /// Runs the body with a copy of the unit whose program exists.
  private static func withUnit(_ body: (URL) async throws -> Void) async throws {
    let unit = try String(contentsOf: folder.appending(path: "systemd/tidings.service"), encoding: .utf8)
    try await withFolder(["tidings.service": unit.replacing("/usr/local/bin/tidings", with: "/bin/true")], body)
  }

  @Test("systemd-analyze verify reports nothing about the unit", .enabled(if: has("systemd-analyze")))
  func unit() async throws {
    try await Self.withUnit { folder in
      let result = try await Self.run("systemd-analyze", "verify", "./tidings.service", in: folder)
      #expect(result.status == 0)
      #expect(result.output + result.errors == "")
    }
  }

  @Test("systemd considers the server started when it sends READY=1")
  func readiness() throws {
    let lines = try Self.text("deploy/systemd/tidings.service").split(separator: "\n")
    #expect(lines.filter { $0.hasPrefix("Type=") } == ["Type=notify"])
  }

  @Test("systemd-analyze security rates the exposure of the unit as low", .enabled(if: has("systemd-analyze")))
  func sandbox() async throws {
    try await Self.withUnit { folder in
      let result = try await Self.run(
        "systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=15", "./tidings.service", in: folder
      )
      #expect(result.status == 0, "\(result.output.suffix(500))\(result.errors)")
    }
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: Project.root.appending(path: path), encoding: .utf8)
  }

  @Test("The test of the containers sets no name that looks like a setting")
  func testVariables() async throws {
    let compose = try Self.text("docker-compose.yml")
    let service = try #require(compose.firstMatch(of: /(?s)\n  test:\n(.*?)\n\n/)).1
    let names = service.matches(of: /(?m)^ {6}([A-Z][A-Z_]+):[ ]/).map { String($0.1) }
    #expect(names.count == 4)
    let script = try Self.text("deploy/container/end-to-end")
    for name in names {
      #expect(script.contains("$\(name)") || script.contains("((\(name)") || script.contains("{\(name)"))
    }
    try await Installation.with { installation in
      let changes = Dictionary(names.map { ($0, "1") }) { $1 }
      let result = try await installation.run("doctor", changes: changes)
      #expect(!result.output.contains("not a setting"), "\(result.output)")
    }
  }

  @Test("Compose trusts the fixed address of nginx, and not the gateway of its network")
  func trust() throws {
    let compose = try Self.text("docker-compose.yml").replacing("${TIDINGS_NETWORK:-172.31.83}", with: "172.31.83")
    let trusted = try #require(
      compose.firstMatch(of: /TIDINGS_TRUSTED_PROXIES: \$\{TIDINGS_TRUSTED_PROXIES:-([0-9.]+)\}/)
    ).1
    let address = try #require(compose.firstMatch(of: /ipv4_address: ([0-9.]+)/)).1
    #expect(trusted == address && trusted == "172.31.83.10")
    // Other containers, and the gateway, which is the first address, have other ones.
    #expect(compose.contains("- subnet: 172.31.83.0/24\n") && compose.contains("ip_range: 172.31.83.128/25\n"))
    for document in ["docs/deployment.md", "deploy/environment.example", "README.md"] {
      #expect(!(try Self.text(document).contains(/TRUSTED_PROXIES[^\n]*172\.[0-9.]+\/(8|12|16|24)/)), "\(document)")
    }
  }

  @Test("Compose publishes only nginx beyond loopback, and contains no password")
  func exposure() throws {
    let compose = try Self.text("docker-compose.yml")
    let ports = compose.matches(of: /(?m)^ +- (\S+:[0-9]+)$/).map { String($0.1) }
    #expect(ports.filter { !$0.hasPrefix("127.0.0.1:") } == ["${TIDINGS_PORT:-8080}:80"])
    #expect(ports.count == 3)
    for file in ["docker-compose.yml", "deploy/container/push.yml", "deploy/container/tls.yml"] {
      let text = try Self.text(file)
      #expect(text.firstMatch(of: /(?i)password(__file)?: +[^\/\s]/) == nil, "\(file)")
    }
    #expect(compose.firstMatch(of: /\/\/[a-z]+:[^@\/]+@/) == nil)
  }

  @Test("Each image of Compose is a variable, and none from elsewhere is the latest there is")
  func images() throws {
    let images = try Self.text("docker-compose.yml").matches(of: /(?m)^ +image: (.+)$/).map { String($0.1) }
    #expect(images.count == 8)
    for image in images {
      let parts = try #require(image.wholeMatch(of: /\$\{[A-Z_]+_IMAGE:-([a-z\/-]+):([a-z0-9.-]+)\}/), "\(image)")
      #expect(parts.2 != "latest" || parts.1.hasPrefix("tidings"), "\(image)")
    }
  }

  @Test(
    "nginx is never allowed to exceed the bounds of Cache-Control", arguments: ["tidings", "limit", "tls", "redirect"])
  func staleness(template: String) throws {
    let lines = try Self.text("deploy/nginx/\(template).conf.template").split(separator: "\n")
    #expect(!lines.contains { $0.drop(while: { $0 == " " }).hasPrefix("proxy_cache_use_stale") })
  }

  @Test("Each alert fires for its fault, and only for it", .enabled(if: has("promtool")))
  func alerts() async throws {
    let folder = Self.folder.appending(path: "observe")
    for arguments in [("check", "rules", "alerts.yml"), ("test", "rules", "alerts.test.yml")] {
      let result = try await Self.run("promtool", arguments.0, arguments.1, arguments.2, in: folder)
      #expect(result.status == 0, "\(result.output)\(result.errors)")
    }
    let configuration = try await Self.run("promtool", "check", "config", "prometheus.yml", in: folder)
    #expect(configuration.status == 0, "\(configuration.errors)")
  }

  @Test("Alerts and dashboard use only metrics that the server exports")
  func metrics() async throws {
    let exported = try await Installation.with { installation in
      // Metrics of a standby need one.
      try await installation.serve(changes: ["DATABASE_READ_URL": installation.url]) { server in
        _ = try await server.send("GET", "/v1/items")
        try await eventually("the standby was asked") {
          try await server.send("GET", "/metrics").text.contains("\ntidings_standby_lag_seconds 0")
        }
        return try await server.send("GET", "/metrics").text
      }
    }
    for name in ["alerts.yml", "dashboard.json"] {
      let text = try String(contentsOf: Self.folder.appending(path: "observe/\(name)"), encoding: .utf8)
      let used = Set(text.matches(of: /\b(tidings|process)_[a-z_]+/).map { String($0.output.0) })
      #expect(used.count > 5)
      for metric in used {
        #expect(exported.contains("\n\(metric)"), "\(name) uses \(metric)")
      }
    }
    let dashboard = try Data(contentsOf: Self.folder.appending(path: "observe/dashboard.json"))
    #expect(try JSONSerialization.jsonObject(with: dashboard) is [String: Any])
  }
}
