import BackgroundFetch
import FaultServer
import Foundation
import News
import NewsClient
import TestKit
import TestSupport
import Testing

@Suite("tidings-fetch notify") struct NotifyCommandTests {
  /// A desktop of which nobody sees anything, and which does not show one of the notifications.
  private struct Screen: NotificationPresenter {
    func present(_ request: NotificationRequest) async throws -> String? {
      if request.title == "Gale" { throw CancellationError() }
      return nil
    }
  }

  @Test("lists the next requests of the app and its last five notifications, the newest first")
  func list() async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let clock = ManualClock()
      var configuration = NewsFetcher.Configuration(
        folder: command.folder, feed: FollowedFeed(server: try #require(URL(string: command.server))), userAgent: "app")
      configuration.presenter = Screen()
      let app = try NewsFetcher(
        configuration, application: ApplicationLifecycle(launchReason: .user, clock: clock), clock: clock)
      // The clock begins at 22:13:20.
      for number in 1...6 {
        // The escape would begin a command for the terminal.
        try await app.notifications.add(NotificationRequest(identifier: "\(number)", title: "Tide \u{1B}\(number)"))
        clock.advance(by: 60)
      }
      try await app.notifications.add(NotificationRequest(identifier: "gale", title: "Gale"))
      for (title, seconds) in [("Low \u{1B}water", 7200.0), ("High water", 3600)] {
        let date = clock.now.date + seconds
        try await app.notifications.add(NotificationRequest(identifier: title, title: title, deliveryDate: date))
      }
      let lines = try await command.run("notify").output.split(separator: "\n").map(String.init)
      #expect(
        lines.suffix(8) == [
          "next      now  Gale", "next      2023-11-14 23:19  High water", "next      2023-11-15 00:19  Low water",
          "shown     2023-11-14 22:18  Tide 6", "shown     2023-11-14 22:17  Tide 5",
          "shown     2023-11-14 22:16  Tide 4", "shown     2023-11-14 22:15  Tide 3",
          "shown     2023-11-14 22:14  Tide 2",
        ])
    }
  }
}

@Suite("The program for new items") struct ProgramTests {
  /// Runs the body with a server with one item, a store that has fetched it, and a program.
  ///
  /// - Parameter script: A script of the shell. `$out` is the folder of the program.
  private func with(
    _ script: String, _ body: @Sendable (FaultFeed, Command, _ folder: URL) async throws -> Void
  ) async throws {
    try await withFolder([:]) { folder in
      let file = folder.appending(path: "program")
      try Data("#!/bin/sh\nout=\(folder.path)\n\(script)\n".utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
      let feed = FaultFeed()
      try await FaultServer.with(feed.respond) { server in
        try await Command.with(server: server.url) { command in
          feed.publish("old", title: "Old")
          #expect(try await command.fetch("--exec", file.path).status == 0)
          #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["program"])
          try await body(feed, command, folder)
        }
      }
    }
  }

  private func text(_ folder: URL, _ name: String) throws -> String {
    try String(contentsOf: folder.appending(path: name), encoding: .utf8)
  }

  @Test("receives the items of a fetch as the server sends them, and their numbers, once and without arguments")
  func input() async throws {
    let script = """
      cat >>$out/items
      echo "$# $TIDINGS_NEW $TIDINGS_BREAKING $TIDINGS_STORE" >>$out/variables
      ls /proc/self/fd | tr '\\n' ' ' >$out/descriptors
      """
    try await with(script) { feed, original, folder in
      var command = original
      // The command may have such a program among its parents.
      command.variables.merge(["TIDINGS_NEW": "9", "TIDINGS_BREAKING": "9", "TIDINGS_STORE": "/nowhere"]) { $1 }
      let program = folder.appending(path: "program").path
      feed.publish("one", topics: ["sport"], title: "One \"quoted\" 'title' $HOME")
      feed.publishBreaking("Flood")
      #expect(try await command.fetch("--exec", program).status == 0)
      #expect(try await command.fetch("--exec", program).status == 10)
      let items = try NewsJSON.decode(ItemList.self, from: Data(try text(folder, "items").utf8)).items
      #expect(items == Array(feed.items.prefix(2)))
      #expect(try text(folder, "items").hasSuffix("}\n"), "it is a line")
      let store = command.folder.path
      #expect(try text(folder, "variables").split(separator: "\n").map { $0.trimmingSuffix("/") } == ["0 2 1 \(store)"])
      // ls opens the folder itself.
      #expect(try text(folder, "descriptors") == "0 1 2 3 ")
      #expect(try await command.run("log", "--limit", "2").output.contains(", program 0\n"))
    }
  }

  @Test(
    "changes no result, however it behaves",
    arguments: [
      ("exec <&-; exit 3", "3"), ("head -c 5 >/dev/null; exit 4", "4"), ("yes | head -c 9000000; exit 5", "5"),
      ("yes no | head -c 9000000 >&2; exit 6", "6"), ("(while :; do echo x >&2; sleep 0.01; done) & exit 7", "7"),
      ("echo bad >/dev/stderr; exit 8", "8"),
    ])
  func behaviour(script: String, status: String) async throws {
    try await with("echo $$ >>$out/runs; \(script)") { feed, command, folder in
      feed.publish(String(repeating: "long ", count: 40_000), title: "One")
      let result = try await command.start(["fetch", "--json", "--exec", "\(folder.path)/program"]).result()
      #expect(result.status == 0)
      #expect(result.output.split(separator: "\n").count == 1)
      #expect(result.errors.contains("/program has ended with status \(status)"))
      #expect(result.errors.count < 1000)
      #expect(try await command.run("log", "--limit", "1").output.contains(", program \(status), notifications: "))
      #expect(try await command.fetch("--exec", "\(folder.path)/program").status == 10)
      #expect(try text(folder, "runs").split(separator: "\n").count == 1)
    }
  }

  @Test("is ended with its children after ten seconds, and not run again")
  func hanging() async throws {
    try await with("sleep 3600 & echo $! $$ >>$out/processes; wait") { feed, command, folder in
      feed.publish("one", title: "One")
      let program = "\(folder.path)/program"
      let result = try await command.start(["fetch", "--exec", program]).result()
      #expect(result.status == 0)
      #expect(result.errors.contains("did not end within 10 s"))
      let processes = try text(folder, "processes").split(whereSeparator: \.isWhitespace).compactMap { pid_t($0) }
      #expect(processes.count == 2)
      for process in processes { try await eventually("it has ended") { Self.isOver(process) } }
      #expect(try await command.fetch("--exec", program).status == 10)
      #expect(try text(folder, "processes").split(separator: "\n").count == 1)
    }
  }

  /// Whether a process has ended. Nobody may have reaped it yet.
  private static func isOver(_ process: pid_t) -> Bool {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
    return status.contains(") Z ")
  }

  @Test("is stored by its absolute path; one that is missing later is reported, and waits")
  func stored() async throws {
    try await with("cat >/dev/null; echo run >>$out/runs") { feed, command, folder in
      let program = "\(folder.path)/program"
      #expect(try await command.run("notify", "set", "--exec", "true").output.contains("program   /"))
      // The escape would begin a command for the terminal.
      try FileManager.default.copyItem(atPath: program, toPath: "\(folder.path)/tool\u{1B}[2J")
      let shown = try await command.run("notify", "set", "--exec", "\(folder.path)/tool\u{1B}[2J").output
      #expect(shown.contains("program   \(folder.path)/tool[2J\n"), "\(shown)")
      #expect(try await command.run("notify", "set", "--exec", program).output.contains("program   \(program)\n"))
      #expect(try await command.run("notify", "set", "--exec", "\(folder.path)/none").status == 64)
      #expect(try await command.run("notify", "set", "--exec", folder.path).status == 64, "it is a folder")
      for quiet in ["22:00-22:00", "22:00--07:00", "-07:00", "22:00-", "22:00-07:00-08:00", "22:00"] {
        #expect(try await command.run("notify", "set", "--quiet=\(quiet)").status == 64, "\(quiet)")
      }
      for quiet in ["22:00-07:05", "none"] {
        #expect(try await command.run("notify", "set", "--quiet", quiet).output.contains("quiet     \(quiet)\n"))
      }
      #expect(try await command.run("notify", "set").status == 64)
      try FileManager.default.moveItem(atPath: program, toPath: program + "-moved")
      feed.publish("one", title: "One")
      let result = try await command.start(["fetch"]).result()
      #expect(result.status == 0)
      #expect(result.errors.contains("cannot run \(program): No such file or directory"))
      try FileManager.default.moveItem(atPath: program + "-moved", toPath: program)
      #expect(try await command.fetch().status == 10)
      #expect(try text(folder, "runs") == "run\n")
      #expect(try await command.run("notify", "test").status == 0)
      #expect(try await command.run("notify", "set", "--exec", "none").output.contains("program   none\n"))
    }
  }

  @Test(
    "waits if its input cannot be written, which is reported",
    .enabled("needs root and the right to mount") { try await mayMount() })
  func unwritableInput() async throws {
    try await with("cat >/dev/null; echo run >>$out/runs") { feed, command, folder in
      try await withFolder([:]) { temporary in
        let script = """
          mount -t tmpfs -o size=4k none "$1" && head -c 9000 /dev/zero >"$1/ballast" 2>/dev/null
          export TMPDIR="$1"; shift; exec "$@"
          """
        let options = ["fetch", "--exec", "\(folder.path)/program"]
        feed.publish("one", title: "One")
        let wrapper = ["/usr/bin/unshare", "--mount", "sh", "-c", script, "sh", temporary.path]
        let result = try await command.start(options, wrapper: wrapper).result()
        #expect(result.status == 0)
        #expect(result.errors.contains("cannot write \(temporary.path)/tidings-"), "\(result.errors)")
        #expect(result.errors.contains(": No space left on device"), "\(result.errors)")
        #expect(try await command.start(options).result().status == 10)
        #expect(try text(folder, "runs") == "run\n")
      }
    }
  }

  @Test(
    "misses no item, and receives none more than twice, if the fetch is killed at any system call that writes",
    .enabled(if: program("strace") != nil, "needs strace"))
  func killed() async throws {
    let strace = try #require(program("strace"))
    try await with("cat >>$out/items") { feed, command, folder in
      let options = ["fetch", "--exec", "\(folder.path)/program"]
      var published: [NewsItem] = []
      for call in ["pwrite64", "write", "fdatasync", "ftruncate"] {
        var (number, unharmed) = (1, 0)
        while unharmed < 2, number < 200 {
          published.append(feed.publish("text", title: "\(call) \(number)"))
          // Only the fetch is traced, not the program.
          let wrapper = [strace, "-qq", "-f", "-b", "execve", "-o", "/dev/null"]
          let process = try command.start(
            options, wrapper: wrapper + ["-e", "inject=\(call):signal=KILL:when=\(number)"])
          unharmed = await process.result().status == 0 ? unharmed + 1 : 0
          _ = try await command.start(options).result()
          number += 1
        }
        #expect(number < 200)
      }
      let lists = try text(folder, "items").split(separator: "\n").map { line in
        try NewsJSON.decode(ItemList.self, from: Data(line.utf8)).items.map(\.id)
      }
      let counts = Dictionary(lists.joined().map { ($0, 1) }, uniquingKeysWith: +)
      #expect(published.allSatisfy { counts[$0.id] != nil })
      #expect(counts.values.allSatisfy { $0 <= 2 })
      #expect(counts.count == published.count)
    }
  }
}

extension Substring {
  fileprivate func trimmingSuffix(_ suffix: String) -> String {
    String(hasSuffix(suffix) ? dropLast(suffix.count) : self)
  }
}
