import FaultServer
import Foundation
import News
import NewsClient
import TestKit
import TestSupport
import Testing

@Suite("tidings-fetch with damaged files") struct StoreFaultTests {
  /// A fault of the store. A script that receives the store's folder as `$1` causes it and then becomes the command.
  enum Trouble: String, CaseIterable {
    case fullDisk, readOnlyDisk, otherUser

    /// Returns the wrapper that precedes the command.
    func wrapper(_ folder: URL) -> [String] {
      let script =
        switch self {
        case .fullDisk:
          """
          copy=$(mktemp -d) && cp -a "$1/." "$copy/" && size=$(($(du -sk "$copy" | cut -f 1) + 64))
          mount -t tmpfs -o "size=${size}k" tmpfs "$1" && cp -a "$copy/." "$1/"
          rm -rf "$copy"; head -c 1000000 /dev/zero >"$1/ballast" 2>/dev/null
          shift; exec "$@"
          """
        case .readOnlyDisk:
          #"mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" || exit 99; shift; exec "$@""#
        case .otherUser:
          #"chmod 700 "$1"; shift; exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@""#
        }
      return ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, "sh", folder.path]
    }
  }

  /// All commands that need the store, and whether they only read it.
  static let commands: [(words: [String], reads: Bool)] = [
    (["fetch", "--json"], false), (["fetch", "--scheduled", "--json"], false), (["list", "--json"], true),
    (["snapshot", "--json"], true), (["log", "--json"], true), (["list"], true), (["snapshot"], true),
    (["badge"], true), (["search", "one"], true), (["read", "--all"], false), (["log"], true), (["status"], true),
    (["schedule", "show"], true), (["open"], false),
    (["schedule", "set", "1h"], false), (["signout"], false), (["transfers", "--json"], true),
    (["transfers", "pause", "1"], false), (["transfers", "resume", "1"], false), (["transfers", "cancel", "1"], false),
    (["download", "SERVER/y", "--output", "/tmp/tidings-none", "--json"], false),
    (["upload", "/etc/hostname", "SERVER/y", "--json"], false), (["watch", "--json"], false),
    (["simulate", "fetch"], false), (["simulate", "push"], false),
  ]

  @Test(
    "ends with a documented code and a message, in JSON if requested", .enabled(if: getuid() == 0),
    arguments: Trouble.allCases)
  func troubles(trouble: Trouble) async throws {
    let feed = FaultFeed()
    feed.publish("one")
    try await FaultServer.with({ request in
      request.path.hasPrefix("/v1/") ? feed.respond(request) : FaultResponse(status: 404)
    }) { server in
      try await Command.with(server: server.url) { command in
        #expect(try await command.fetch().status == 0)
        let output = command.folder.appending(path: "x").path
        #expect(try await command.run("download", server.url + "/x", "--output", output, "--wait").status == 20)
        for (words, _) in Self.commands {
          let words = words.map { $0.replacingOccurrences(of: "SERVER", with: server.url) }
          let process = try command.start(words, wrapper: trouble.wrapper(command.folder))
          let timer = Task {
            // `watch` does not end by itself.
            try await Task.sleep(for: .seconds(words.contains("watch") ? 3 : 60))
            process.send(SIGTERM)
          }
          let result = await process.result()
          timer.cancel()
          expectOrderly(result, words, trouble)
          if trouble != .otherUser, words == ["transfers", "--json"] {
            #expect(result.status == 0 && result.output.contains(#""state":"failed""#), "\(trouble): \(result.errors)")
          }
        }
        // The items are still stored.
        #expect(try await command.run("list").status == 0)
        #expect(try await command.items().count == 1)
      }
    }
  }

  private func expectOrderly(_ result: ChildProcess.Result, _ words: [String], _ trouble: Trouble) {
    let what = "\(trouble) \(words): \(result.status) \(result.output) \(result.errors)"
    #expect([0, 10, 20].contains(result.status), "\(what)")
    #expect(
      !result.errors.contains("rror:") && !result.errors.contains("SQL") && !result.errors.contains("("), "\(what)")
    if result.status == 20 {
      #expect(!result.errors.isEmpty || !result.output.isEmpty, "\(what)")
      if trouble == .otherUser { #expect(result.errors.contains("belongs to the user with the number"), "\(what)") }
    }
    guard words.contains("--json") else { return }
    for line in result.output.split(separator: "\n") {
      #expect((try? JSONSerialization.jsonObject(with: Data(line.utf8))) != nil, "\(what)")
    }
    #expect(result.status == 0 || !result.output.isEmpty, "\(what)")
  }

  @Test(
    "fetches although the list of transfers is damaged, logs that, and creates a new list", arguments: [0, 100],
    [[], ["--media", "all"]])
  func damagedJournal(offset: Int, options: [String]) async throws {
    let feed = FaultFeed()
    feed.publish("one")
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: server.url) { command in
        #expect(try await command.fetch().status == 0)
        #expect(try await command.run("transfers").status == 0)
        let journal = command.folder.appending(path: "transfers/journal.sqlite")
        var bytes = try Data(contentsOf: journal)
        bytes.replaceSubrange(offset..<offset + 4000, with: Data(repeating: 0x5A, count: 4000))
        try bytes.write(to: journal)
        feed.publish("two")
        let result = try await command.start(["fetch", "--json"] + options).result()
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains(#""inserted":1"#))
        let list = try await command.run("transfers")
        #expect((list.status, list.output) == (0, ""))
        // A fetch without files does not need the list.
        let errors = options.isEmpty ? result.errors + list.errors : result.errors
        #expect(errors.contains("the list of transfers is damaged; it was renamed to"), "\(result.errors)")
        #expect(try await command.fetch().status == 10)
      }
    }
  }

  /// The files of a store, relative to its folder.
  static let files = [
    "news.sqlite", "fetch.lock", "holds.json", "holds.json.lock", "attachments", "attachments/.handed-over",
    "transfers",
    "transfers/journal.sqlite", "transfers/worker.lock", "settings.json", "habits.json", "read.json",
  ]

  /// The kinds of damage: other content, a folder, or no file.
  enum Damage: CaseIterable {
    case garbage, folder, nothing
  }

  private static let damages = files.flatMap { path in Damage.allCases.map { (path, $0) } }

  @Test("ends regularly if any of its files is something else", arguments: slice(of: damages))
  func damagedFiles(path: String, damage: Damage) async throws {
    let feed = FaultFeed()
    feed.publish("one")
    try await FaultServer.with({ request in
      request.path.hasPrefix("/v1/")
        ? feed.respond(request) : FaultResponse(status: 503, headers: [("Retry-After", "3600")])
    }) { server in
      try await Command.with(server: server.url) { command in
        #expect(try await command.fetch("--media", "all").status == 0)
        // A download from another origin does not postpone fetches from the server.
        let url = server.url.replacing("127.0.0.1", with: "localhost") + "/x"
        let output = command.folder.path + "/x"
        _ = try await command.run("download", url, "--output", output, "--wait", "--timeout", "1")
        let file = command.folder.appending(path: path)
        try? FileManager.default.removeItem(at: file)
        switch damage {
        case .garbage: try Data(repeating: 0x5A, count: 5000).write(to: file)
        case .folder:
          try FileManager.default.createDirectory(
            at: file.appending(path: "occupied"), withIntermediateDirectories: true)
        case .nothing: break
        }
        let commands = [
          ["fetch", "--json", "--media", "all"], ["list", "--json"], ["transfers", "--json"], ["status"],
          ["download", url, "--output", output, "--json"], ["transfers", "cancel", "1"], ["read", "--all"],
        ]
        for words in commands {
          let result = try await command.start(words).result()
          let what = "\(path) \(damage) \(words): \(result.status) \(result.output) \(result.errors)"
          // Without the list, transfer 1 does not exist.
          #expect([0, 10, 20].contains(result.status) || words == ["transfers", "cancel", "1"], "\(what)")
          #expect(!result.errors.contains("SQL") && !result.errors.contains("rash"), "\(what)")
          #expect(result.status != 20 || !result.errors.isEmpty, "\(what)")
          if words[0] == "fetch", path.hasPrefix("transfers") || path.hasPrefix("holds") || path.hasPrefix("attach") {
            // A fetch succeeds even if the transfers are damaged.
            #expect([0, 10].contains(result.status), "\(what)")
          }
          if words[0] == "fetch", path == "attachments", damage == .garbage {
            #expect(result.errors.contains("cannot download the files of items: "), "\(what)")
          }
          guard words.contains("--json") else { continue }
          for line in result.output.split(separator: "\n") {
            #expect((try? JSONSerialization.jsonObject(with: Data(line.utf8))) != nil, "\(what)")
          }
        }
      }
    }
  }

  @Test("ends in time without a response, with the reason", .timeLimit(.minutes(3)))
  func silentServer() async throws {
    try await FaultServer.with({ _ in FaultResponse().hanging(at: .start) }) { server in
      try await Command.with(server: server.url) { command in
        let output = command.folder.appending(path: "x").path
        let url = server.url + "/x"
        let commands = [
          ["download", url, "--output", output, "--wait", "--timeout", "2", "--json"],
          ["upload", "/etc/hostname", url, "--wait", "--timeout", "2", "--json"],
          ["transfers", "--wait", "--timeout", "2", "--json"],
        ]
        for words in commands {
          let start = ContinuousClock.now
          let result = try await command.start(words).result()
          #expect(result.status == 20, "\(words): \(result.errors)")
          #expect(ContinuousClock.now - start < .seconds(30))
          #expect(result.errors.contains("no data for 2 s"), "\(result.errors)")
          #expect(result.output.contains(#""state":"running""#))
        }
        for number in 1...2 { _ = try await command.run("transfers", "cancel", "\(number)") }
      }
    }
  }

  @Test("prints why there is no response, without a network too", .enabled(if: getuid() == 0))
  func noNetwork() async throws {
    try await Command.with(server: "http://news.example.invalid") { command in
      for words in [["fetch"], ["fetch", "--json"]] {
        let process = try command.start(words, wrapper: ["/usr/bin/unshare", "-n"])
        let result = await process.result()
        #expect(result.status == 20)
        #expect(result.errors.hasPrefix("tidings-fetch: no response from news.example.invalid: "), "\(result.errors)")
        #expect(!result.errors.contains("rror") && !result.errors.contains("("), "\(result.errors)")
      }
    }
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let result = try await command.run("fetch")
      #expect(result.output == "failed: no response from 127.0.0.1:1: connection refused\n")
      #expect(result.errors.hasPrefix("tidings-fetch: no response from 127.0.0.1:1: connection refused\n"))
    }
  }

  @Test(
    "counts no request without a route, and prints that a server refuses it at one of its addresses",
    .enabled(if: program("ip") != nil), .enabled("needs root and the right to mount") { try await mayMount() },
    arguments: [("192.0.2.1", "no route to host"), ("two.example:1", "connection refused")])
  func addresses(server: String, reason: String) async throws {
    // There is a route to one address of the name only.
    let script = #"""
      hosts=$(mktemp) && printf '2001:db8::1 two.example\n127.0.0.1 two.example\n' >"$hosts" || exit 99
      mount --bind "$hosts" /etc/hosts && rm "$hosts" || exit 99
      ip link set lo up && ip route add unreachable 192.0.2.1 || exit 99
      exec "$@"
      """#
    try await Command.with(server: "http://" + server) { command in
      let wrapper = ["/usr/bin/unshare", "-nm", "/bin/sh", "-c", script, "sh"]
      let (status, report) = try await command.fetch(wrapper: wrapper)
      #expect(status == 20)
      #expect(report?.requests == 0)
      #expect(report?.error?.hasSuffix(": " + reason) == true, "\(report?.error ?? "")")
    }
  }
}
