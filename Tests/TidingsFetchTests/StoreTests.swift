import BackgroundFetch
import Foundation
import News
import NewsClient
import NewsStore
import TestKit
import TestSupport
import Testing

@Suite("tidings-fetch with a store that cannot be written") struct StoreTests {
  /// Runs a script in its own mount namespace. `STORE` stands for the store's folder, `"$@"` for the command.
  private func run(_ command: Command, script: String) async throws -> ChildProcess.Result {
    let unshare = try #require(program("unshare"))
    let script = script.replacing("STORE", with: command.folder.path)
    return try await command.start([], wrapper: [unshare, "--mount", "sh", "-c", script, "-"]).result()
  }

  private func decoded(_ line: Substring?) throws -> FetchReport {
    try NewsJSON.decode(FetchReport.self, from: Data((line ?? "").utf8))
  }

  @Test(
    "reads a store on a read-only disk; a fetch fails with a reason, in JSON too",
    .enabled("needs root and the right to mount") { try await mayMount() })
  func readOnly() async throws {
    try await TestServer.with { server in
      try await Command.with(server: server.url) { command in
        _ = try await server.publish("A headline")
        #expect(try await command.fetch().status == 0)
        let script = """
          mount --bind STORE STORE && mount -o remount,bind,ro STORE || exit 99
          "$@" list; echo $?; "$@" badge; echo $?; "$@" snapshot | head -1; "$@" status | grep items
          "$@" fetch --json; echo $?
          "$@" fetch --scheduled >/dev/null; echo $?
          "$@" open 2>&1 | wc -l
          """
        let result = try await run(command, script: script)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 10, "\(result.output) \(result.errors)")
        guard lines.count == 10 else { return }
        #expect(lines[0].hasSuffix("A headline"))
        #expect([lines[1], lines[2], lines[3]] == ["0", "1", "0"])
        #expect(lines[4].hasSuffix("A headline"))
        #expect(lines[5] == "items     1, badge 1")
        let report = try decoded(lines[6])
        #expect(report.result == .failed)
        #expect(report.error?.contains("ead-only") == true, "\(report.error ?? "")")
        #expect(report.requests == 0)
        #expect(lines[7] == "20")
        #expect(lines[8] == "10")
        #expect(!result.errors.contains("Fatal"))
        // The disk works again.
        #expect(try await command.fetch().status == 10)
      }
    }
  }

  @Test(
    "reads a store on a full disk; a fetch fails, and succeeds when there is space again",
    .enabled("needs root and the right to mount") { try await mayMount() })
  func fullDisk() async throws {
    try await TestServer.with { server in
      try await Command.with(server: server.url) { command in
        for number in 0..<20 { _ = try await server.publish(String(repeating: "text \(number) ", count: 500)) }
        let script = """
          mkdir -p STORE; mount -t tmpfs -o size=2m none STORE || exit 99
          "$@" fetch >/dev/null; echo $?
          dd if=/dev/zero of=STORE/fill bs=1k 2>/dev/null
          "$@" list --limit 1; echo $?; "$@" badge
          "$@" fetch --json; echo $?
          rm STORE/fill; "$@" fetch >/dev/null; echo $?
          """
        let result = try await run(command, script: script)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 7, "\(result.output) \(result.errors)")
        guard lines.count == 7 else { return }
        #expect(lines[0] == "0")
        #expect(lines[1].contains("text 19"))
        #expect(lines[2] == "0")
        #expect(lines[3] == "20")
        let report = try decoded(lines[4])
        #expect(report.result == .failed)
        #expect(report.error?.isEmpty == false)
        #expect(lines[5] == "20")
        #expect(lines[6] == "10", "\(result.errors)")
      }
    }
  }

  @Test("replaces a damaged store by a fetch, and keeps all settings")
  func damaged() async throws {
    try await TestServer.with { server in
      try await Command.with(server: server.url) { command in
        _ = try await server.publish("one")
        #expect(try await command.fetch().status == 0)
        #expect(try await command.run("schedule", "set", "2h").status == 0)
        try Data(repeating: 0x5a, count: 20_000).write(to: command.folder.appending(path: "news.sqlite"))
        // The timer's unit runs the command without a server.
        let tick = try await bare(command, "fetch", "--scheduled", "--json")
        #expect([0, 10].contains(tick.status), "\(tick.errors)")
        #expect(tick.errors.contains("is damaged; it was renamed to"))
        let status = try await bare(command, "status")
        #expect(status.output.contains("server    \(server.url)\n"))
        #expect(status.output.contains("interval  2 h\n"))
        #expect(status.errors == "")
        #expect([0, 10].contains(try await bare(command, "fetch").status))
        #expect(try command.storedItems().count == 1)
      }
    }
  }

  @Test("keeps the feed if an option is mistyped, in any command")
  func mistyped() async throws {
    try await TestServer.with { server in
      try await Command.with(server: server.url) { command in
        _ = try await server.publish("one")
        #expect(try await command.fetch().status == 0)
        let before = try await bare(command, "status").output
        #expect(try await bare(command, "--server", "http://127.0.0.1:1", "fetch").status == 20)
        let refused = try await bare(command, "--topics", "harbor", "fetch")
        #expect(refused.status == 20)
        #expect(refused.errors.contains("the server responded with 400: topics"), "\(refused.errors)")
        #expect(refused.errors.contains("harbor"))
        #expect(try await bare(command, "--topics", "harbor", "schedule", "set", "never").status == 0)
        #expect(try await bare(command, "--server", "http://127.0.0.1:1", "schedule", "set", "never").status == 0)
        let after = try await bare(command, "status").output
        func followed(_ text: String) -> [Substring] {
          text.split(separator: "\n").filter {
            ["server", "topics", "items", "checked"].contains($0.prefix { $0 != " " })
          }
        }
        #expect(followed(after) == followed(before))
        #expect(followed(after).count == 4)
        #expect(try await bare(command, "--topics", "harbor", "open").status == 0)
        #expect(try await bare(command, "badge").output == "0\n")
        let (status, report) = try await command.fetch()
        #expect(status == 10)
        #expect(report?.requests == 1)
      }
    }
  }

  /// Runs the command with the store and without a server.
  private func bare(_ command: Command, _ arguments: String...) async throws -> ChildProcess.Result {
    try await ChildProcess(
      ["--store", command.folder.path] + arguments, executable: ChildProcess.tidings + "-fetch",
      environment: ["PATH": "/usr/bin:/bin", "TZ": "UTC"]
    ).result()
  }
}
