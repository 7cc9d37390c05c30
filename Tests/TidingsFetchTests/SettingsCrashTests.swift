import FaultServer
import Foundation
import News
import TestSupport
import Testing

@Suite("A change of settings or read marks that fails") struct SettingsCrashTests {
  @Test(
    "leaves the old or the new setting, and all others, at any system call",
    .enabled(if: CallFault.isAvailable, "needs strace"),
    arguments: CallFault.allCases)
  func settings(fault: CallFault) async throws {
    try await Command.with(server: "https://news.example") { command in
      let folder = command.home.appending(path: ".config/tidings-fetch/default")
      for (key, value) in [("server", "https://news.example"), ("interval", "2h"), ("topics", "harbour")] {
        #expect(try await command.startAtHome(["config", "set", key, value]).result().status == 0)
      }
      var old = "harbour"
      var failures = 0
      try await fault.inject { wrapper in
        let new = old == "harbour" ? "sport" : "harbour"
        let result = try await command.startAtHome(["config", "set", "topics", new], wrapper: wrapper).result()
        let list = try await command.startAtHome(["config", "list"]).result()
        let lines = list.output.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(list.status == 0, "\(list.errors)")
        #expect(lines.count == 3 && lines[0] == ["server", "https://news.example"] && lines[2] == ["interval", "2h"])
        let stored = lines.count == 3 ? lines[1].dropFirst().joined() : list.output
        if result.status == 0 {
          #expect(stored == new)
        } else {
          failures += 1
          #expect(stored == old || stored == new)
          if fault == .fullDisk {
            #expect(result.status == 20 && stored == old)
            #expect(
              result.errors.contains("no space") || result.errors.contains("the disk is full"), "\(result.errors)")
          }
        }
        old = stored
        return result.status == 0
      }
      #expect(failures > 0)
      #expect(try await command.startAtHome(["config", "set", "topics", "end"]).result().status == 0)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(names == ["settings.json"])
    }
  }

  @Test(
    "loses no setting of an earlier version at any system call", .enabled(if: CallFault.isAvailable, "needs strace"),
    arguments: CallFault.allCases)
  func takeOver(fault: CallFault) async throws {
    try await Command.with(server: "https://news.example") { command in
      let files = [
        ".config/tidings-fetch/config.json": #"{"stores":{"default":{"server":"https://news.example"}}}"#,
        ".local/state/tidings-fetch/default/settings.json": #"{"notifications":{"notify":true},"interval":"2h"}"#,
      ]
      try await fault.inject { wrapper in
        try? FileManager.default.removeItem(at: command.home)
        for (path, json) in files {
          let file = command.home.appending(path: path)
          try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
          try Data(json.utf8).write(to: file)
        }
        let result = try await command.startAtHome(["config", "set", "topics", "sport"], wrapper: wrapper).result()
        #expect(try await command.startAtHome(["list"]).result().status == 0)
        let lines = try await command.startAtHome(["config"]).result().output.split(separator: "\n").map(String.init)
        let old = ["server    https://news.example", "interval  2h", "notify    on"]
        #expect(lines.filter { $0 != "topics    sport" } == old, "\(result.errors)")
        #expect(result.status != 0 || lines.contains("topics    sport"))
        return result.status == 0
      }
    }
  }

  @Test(
    "leaves the old or the new marks at any system call, in the store and in the copy that survives its loss",
    .enabled(if: CallFault.isAvailable, "needs strace"), arguments: CallFault.allCases)
  func marks(fault: CallFault) async throws {
    let feed = FaultFeed()
    for number in 0..<3 { feed.publish("text \(number)") }
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: server.url) { command in
        #expect(try await command.fetch().status == 0)
        let ids = try await command.items().map(\.id.uuidString)
        #expect(try await command.run("read", ids[0]).status == 0)
        var failures = 0
        var reads = true
        try await fault.inject { wrapper in
          let old = reads ? "2" : "1"
          let new = reads ? "1" : "2"
          let words = [reads ? "read" : "unread", ids[1]]
          let result = try await command.start(words, wrapper: wrapper).result()
          let allowed = result.status == 0 ? [new] : [old, new]
          #expect(allowed.contains(try await unread(command)), "\(words) \(result.errors)")
          #expect(allowed.contains(try await unreadAfterLoss(command)), "\(words) \(result.errors)")
          if result.status == 0 {
            reads.toggle()
          } else {
            failures += 1
            if fault == .fullDisk { #expect(result.status == 20 && Self.namesFullDisk(result), "\(result.errors)") }
            // The next change meets what was left, and may be the same one.
            #expect(try await command.run(words[0], ids[1]).status == 0)
            #expect(try await unread(command) == new)
            #expect(try await command.run(reads ? "unread" : "read", ids[1]).status == 0)
            #expect(try await unreadAfterLoss(command) == old)
          }
          return result.status == 0
        }
        #expect(failures > 0)
      }
    }
  }

  private static func namesFullDisk(_ result: ChildProcess.Result) -> Bool {
    result.errors.contains("no space left on device") || result.errors.contains("the disk is full")
  }

  private func unread(_ command: Command) async throws -> String {
    try await command.run("list", "--unread", "--count").output.trimmingCharacters(in: .newlines)
  }

  /// Returns the number of unread items of a copy of the store that has lost its database and has fetched it again.
  private func unreadAfterLoss(_ command: Command) async throws -> String {
    try await Command.with(server: command.server) { copy in
      try FileManager.default.copyItem(at: command.folder, to: copy.folder)
      for name in ["news.sqlite", "news.sqlite-wal", "news.sqlite-shm"] {
        try? FileManager.default.removeItem(at: copy.folder.appending(path: name))
      }
      #expect(try await copy.fetch().status == 0)
      return try await unread(copy)
    }
  }
}
