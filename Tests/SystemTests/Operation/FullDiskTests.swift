import Foundation
import News
import TestKit
import TestSupport
import Testing

/// A server whose database and folder for files are on a full disk. Requires root, as `Disk` does.
@Suite(.enabled(if: getuid() == 0, "needs root")) struct FullDiskTests {
  /// Sends an item that needs room.
  private static func write(_ key: String, to server: RunningServer) async throws -> TestResponse {
    let text = String((0..<200_000).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() ?? "x" })
    return try await server.send("POST", "/v1/editorial/items", key: key, body: #"{"text": "\#(text)"}"#)
  }

  @Test("A full disk is named in answers, /readyz, the log, metrics and by doctor until there is room")
  func full() async throws {
    let settings = ["max_wal_size=64MB", "min_wal_size=32MB"]
    try await Disk.with(megabytes: 256) { disk in
      try await TestCluster.withCluster(settings: settings, in: disk.folder) { cluster in
        let database = try await TestDatabase.create(on: cluster.url)
        try await Installation.with(url: database.url) { installation in
          #expect(try await installation.run("migrate").status == 0)
          let changes = ["TIDINGS_MEDIA_DIRECTORY": disk.folder.appending(path: "media").path]
          let key = try await installation.makeKey(scopes: ["items:publish", "media:write"])
          try await installation.serve(changes: changes) { server in
            #expect(try await Self.write(key, to: server).status == 201)
            try disk.fill()
            try await eventually("a write is refused") { try await Self.write(key, to: server).status == 503 }
            try await Self.expectFull(server, key)
            let (findings, _) = try await DoctorTests.examine(installation, changes)
            #expect(findings["disk"]?.status == "problem", "\(findings)")
            #expect(findings["disk"]?.message.contains("the disk of the database is full") == true)
            #expect(findings["media"]?.status == "problem", "\(findings)")

            try disk.empty()
            // Nobody writes meanwhile.
            try await eventually("the server knows that there is room") {
              try await server.send("GET", "/readyz").text == #"{"status":"ready"}"#
            }
            #expect(try await Self.write(key, to: server).status == 201)
            server.process.send(SIGTERM)
            let lines = await server.process.result().errors.split(separator: "\n")
              .compactMap { RunningServer.LogLine(String($0)) }
            let refusal = lines.first { $0.message == "the database accepts no writes" }
            #expect(refusal?.metadata["error"]?.contains("Make room on its disk") == true, "\(lines)")
            #expect(lines.contains { $0.message == "the database accepts writes again" })
          }
        }
      }
    }
  }

  private static func expectFull(_ server: RunningServer, _ key: String) async throws {
    let refused = try await Self.write(key, to: server)
    let problem = try refused.json(Problem.self, status: 503)
    #expect(problem.type == "/problems/database-full", "\(refused.text)")
    #expect(refused["Retry-After"] == "60")
    let ready = try await server.send("GET", "/readyz")
    #expect(ready.status == 200)
    #expect(ready.text == #"{"status":"ready","writes":"database-full"}"#)
    let metrics = try await server.send("GET", "/metrics").text
    #expect(metrics.contains("\ntidings_writes_refused{reason=\"database-full\"} 1\n"))
    #expect(try await server.send("GET", "/v1/items").status == 200)
    let file = try await server.client.send(
      "POST", "/v1/editorial/media", key: key, headers: [("Content-Type", "image/png")],
      file: SampleMedia.png(bytes: 1_000_000))
    #expect(file.status == 507, "\(file.text)")
  }
}
