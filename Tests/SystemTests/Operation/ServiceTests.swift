import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The server as a service: service manager, signals, version and log.
@Suite struct ServiceTests {
  @Test("The service manager is notified when the server is ready and when it stops", arguments: [false, true])
  func notifications(isAbstract: Bool) async throws {
    try await Installation.with { installation in
      let manager = try NotifySocket(isAbstract: isAbstract)
      defer { manager.close() }
      try await installation.serve(changes: ["NOTIFY_SOCKET": manager.name]) { server in
        let ready = try await manager.next()
        #expect(ready == "READY=1\nSTATUS=Listening on 127.0.0.1:\(server.port)")
        #expect(try await server.status("/readyz") == 200)
        server.process.send(SIGTERM)
        #expect(try await manager.next().hasPrefix("STOPPING=1\n"))
        #expect(await server.process.result().status == 0)
      }
    }
  }

  @Test(
    "Without a reachable service manager, nothing changes",
    arguments: ["/nowhere/socket", "@nobody", "garbage", "@", "/"])
  func noManager(name: String) async throws {
    try await Installation.with { installation in
      try await installation.serve(changes: ["NOTIFY_SOCKET": name]) { server in
        let status = try await server.status("/readyz")
        #expect(status == 200)
      }
    }
  }

  @Test("SIGHUP is ignored")
  func hangUp() async throws {
    try await Installation.with { installation in
      try await installation.serve { server in
        server.process.send(SIGHUP)
        let status = try await server.status("/readyz")
        #expect(status == 200)
        server.process.send(SIGTERM)
        #expect(await server.process.result().status == 0)
      }
    }
  }

  @Test("--version, the first log line, /healthz and /metrics report the same version")
  func version() async throws {
    try await Installation.with { installation in
      let printed = try await installation.run("--version")
      #expect(printed.output == TidingsVersion.current + "\n")
      #expect(printed.status == 0)
      try await installation.serve { server in
        #expect(try await server.send("GET", "/healthz").text.contains(#""version":"\#(TidingsVersion.current)""#))
        let metrics = try await server.send("GET", "/metrics").text
        #expect(metrics.contains("\ntidings_build_info{version=\"\(TidingsVersion.current)\"} 1\n"))
        #expect(metrics.contains(/\nprocess_max_fds [0-9]+\n/))
        server.process.send(SIGTERM)
        let log = await server.process.result().errors
        let first = try #require(log.split(separator: "\n").first.flatMap { RunningServer.LogLine(String($0)) })
        #expect(first.metadata["version"] == TidingsVersion.current)
      }
    }
  }

  @Test("An outage of the database is logged when it begins and when it ends")
  func outage() async throws {
    try await TestCluster.withCluster { cluster in
      let database = try await TestDatabase.create(on: cluster.url)
      try await Installation.with(url: database.url) { installation in
        #expect(try await installation.run("migrate").status == 0)
        try await installation.serve { server in
          var lines: [RunningServer.LogLine] = []
          try await cluster.stop(immediate: true)
          // Each request asks for a connection, in addition to the server's own attempts.
          for number in 1...40 {
            _ = try await server.send("GET", "/v1/items?q=word\(number)")
            _ = try await server.send("GET", "/readyz")
          }
          try await cluster.start()
          // The stream of lines continues after the lines that were read during the start.
          for await line in server.process.errorLines {
            guard let line = RunningServer.LogLine(line) else { continue }
            if line.message.contains("PostgreSQL") { lines.append(line) }
            if line.message == "connected to PostgreSQL again" { break }
          }
          #expect(lines.map(\.message) == ["no connection to PostgreSQL", "connected to PostgreSQL again"], "\(lines)")
          let attempts = Int(lines.last?.metadata["attempts"] ?? "") ?? 0
          #expect(attempts > 1)
          #expect(lines.first?.metadata["error"]?.contains("127.0.0.1") == true)
        }
      }
    }
  }

  @Test("A cluster that does not exist has no URL")
  func noCluster() async throws {
    let script = Project.root.appending(path: "scripts/cluster").path
    let result = try await ChildProcess(
      ["url", "/nowhere/cluster"], executable: script, environment: ["PATH": "/usr/bin:/bin"]
    ).result()
    #expect(result.status == 1)
    #expect(result.output == "")
    #expect(result.errors.contains("/nowhere/cluster") && result.errors.contains("start"))
  }
}
