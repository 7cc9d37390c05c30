import FaultServer
import Foundation
import NewsClient
import TestSupport
import Testing

@Suite("tidings-fetch schedule install") struct InstallTests {
  /// A home folder with a `systemctl` that records its arguments.
  private struct Home {
    let folder: URL
    var variables: [String: String] = [:]
    var units: URL { folder.appending(path: ".config/systemd/user") }
    var environment: [String: String] {
      ["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "PATH": "\(folder.path)/bin:/usr/bin:/bin"]
        .merging(variables) { $1 }
    }

    static func with(systemctl status: Int = 0, _ body: (Home) async throws -> Void) async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-home-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder.appending(path: "bin"), withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let program = folder.appending(path: "bin/systemctl")
      try Data("#!/bin/sh\necho \"$@\" >>\"$HOME/asked\"\nexit \(status)\n".utf8).write(to: program)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
      try await body(Home(folder: folder))
    }

    func run(_ arguments: String..., store: String? = nil) async throws -> ChildProcess.Result {
      try await run(arguments, store: store)
    }

    func run(_ arguments: [String], store: String? = nil) async throws -> ChildProcess.Result {
      let words = (store.map { ["--store", folder.appending(path: $0).path] } ?? []) + arguments
      return try await ChildProcess(
        ["--server", "http://127.0.0.1:1"] + words, executable: ChildProcess.tidings + "-fetch",
        environment: environment
      ).result()
    }

    func names() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: units.path).sorted()
    }

    var asked: String { (try? String(contentsOf: folder.appending(path: "asked"), encoding: .utf8)) ?? "" }
  }

  private static let names = ["plain", #"a "b" 50% $HOME \"#]

  @Test("writes two units for a store, and prints the remaining steps", arguments: names)
  func units(name: String) async throws {
    try await Home.with { home in
      let installation = try await home.run("schedule", "install", "--no-start", store: name)
      #expect(installation.status == 0)
      #expect(installation.output.contains("schedule set minimum"))
      #expect(installation.output.contains("loginctl enable-linger"))
      let names = try home.names()
      #expect(names.count == 2)
      #expect(names.allSatisfy { $0.wholeMatch(of: /tidings-fetch-[0-9a-f]{8}\.(service|timer)/) != nil })
    }
  }

  @Test(
    "writes units that systemd accepts, for any name of a store",
    .enabled(if: program("systemd-analyze") != nil, "needs systemd-analyze"), arguments: names)
  func verified(name: String) async throws {
    try await Home.with { home in
      #expect(try await home.run("schedule", "install", "--no-start", store: name).status == 0)
      let names = try home.names()
      #expect(names.count == 2)
      let analyze = try #require(program("systemd-analyze"))
      let verdict = try await ChildProcess(
        ["--user", "verify"] + names.map { home.units.appending(path: $0).path }, executable: analyze,
        environment: home.environment
      ).result()
      #expect(verdict.status == 0)
      #expect(verdict.output == "")
      #expect(verdict.errors == "")
    }
  }

  @Test("keeps the units of each store apart, starts their timers, and removes them")
  func stores() async throws {
    try await Home.with { home in
      #expect(try await home.run("schedule", "install").status == 0)
      #expect(try await home.run("schedule", "install", "--media", "thumbnails", store: "other").status == 0)
      let names = try home.names()
      #expect(names.count == 4)
      #expect(names.contains("tidings-fetch.service"))
      let other = try #require(names.first { $0.hasPrefix("tidings-fetch-") && $0.hasSuffix(".service") })
      let texts = try ["tidings-fetch.service", other].map {
        try String(contentsOf: home.units.appending(path: $0), encoding: .utf8)
      }
      #expect(texts[0].contains("/.local/state/tidings-fetch"))
      #expect(!texts[0].contains("--media"))
      #expect(texts[1].contains("fetch --scheduled --media thumbnails --report-failures\n"))
      let timer = other.replacing(".service", with: ".timer")
      #expect(home.asked.contains("--user enable --now tidings-fetch.timer\n"))
      #expect(home.asked.contains("--user enable --now \(timer)\n"))

      #expect(try await home.run("schedule", "uninstall", store: "other").status == 0)
      #expect(home.asked.contains("--user disable --now \(timer)\n"))
      #expect(try home.names() == ["tidings-fetch.service", "tidings-fetch.timer"])
      #expect(try await home.run("schedule", "uninstall", store: "other").output.contains("no timer is installed"))
    }
  }

  @Test("stores choices about notifications for all fetches, and leaves time for them to the service")
  func notifications() async throws {
    try await Home.with { home in
      let options = ["--notify", "--exec", "true", "--quiet", "22:00-07:00"]
      #expect(try await home.run(["schedule", "install", "--no-start"] + options).status == 0)
      let choices = try await home.run("notify").output
      #expect(choices.contains("desktop   on\n"))
      #expect(choices.contains("/true\n"))
      #expect(choices.contains("quiet     22:00-07:00\n"))
      let service = try String(contentsOf: home.units.appending(path: "tidings-fetch.service"), encoding: .utf8)
      #expect(service.contains("fetch --scheduled --report-failures\n"))
      // 30 s for the fetch, 10 s for other processes, and 30 s for the runs of the program.
      #expect(service.contains("TimeoutStartSec=80\n"))
      // Installing again without options keeps the choices.
      #expect(try await home.run("schedule", "install", "--no-start").status == 0)
      #expect(try await home.run("notify").output == choices)
    }
  }

  @Test("names the units after the store, and keeps the proxy, the authorities and the variables of the command")
  func named() async throws {
    try await Home.with { home in
      var other = home
      let certificates = home.folder.appending(path: "ca 50%.pem").path
      other.variables = [
        "HTTPS_PROXY": #"http://u:p$%"@proxy.example:3128"#, "TIDINGS_FETCH_MEDIA": "thumbnails", "OTHER": "x",
        "TIDINGS_FETCH_NAME": "unused",
      ]
      let options = ["--name", "work", "--ca-file", certificates, "schedule", "install", "--no-start"]
      #expect(try await other.run(options).status == 0)
      #expect(try home.names() == ["tidings-fetch-work.service", "tidings-fetch-work.timer"])
      let file = home.units.appending(path: "tidings-fetch-work.service")
      let service = try String(contentsOf: file, encoding: .utf8)
      #expect(service.contains(#"Environment="HTTPS_PROXY=http://u:p$%%\"@proxy.example:3128""# + "\n"), "\(service)")
      #expect(service.contains("Environment=\"TIDINGS_FETCH_CA_FILE=\(home.folder.path)/ca 50%%.pem\"\n"))
      #expect(service.contains(" --name work fetch --scheduled --media thumbnails --report-failures\n"))
      #expect(!service.contains("OTHER") && !service.contains("unused"))
      #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
      if let analyze = program("systemd-analyze") {
        let verdict = try await ChildProcess(
          ["--user", "verify"] + home.names().map { home.units.appending(path: $0).path }, executable: analyze,
          environment: home.environment
        ).result()
        #expect(verdict.status == 0 && verdict.errors == "", "\(verdict.errors)")
      }
      #expect(try await home.run("--name", "work", "schedule", "uninstall").status == 0)
      #expect(try home.names() == [])
    }
  }

  @Test("shows a lasting failure to systemd with each run of the timer, until a fetch succeeds")
  func lasting() async throws {
    let feed = FaultFeed()
    feed.publish("text")
    let isDown = Flag()
    try await FaultServer.with({ isDown.isSet ? FaultResponse(status: 500) : feed.respond($0) }) { server in
      try await Command.with(server: server.url) { command in
        #expect(try await command.run("schedule", "set", "2h").status == 0)
        isDown.set()
        #expect(try await command.run("fetch").status == 20)
        let tick = ["fetch", "--scheduled", "--report-failures"]
        let failed = try await command.start(tick).result()
        #expect(failed.status == 20)
        #expect(failed.errors.contains("tidings-fetch log prints the reason") || failed.errors.contains("500"))
        #expect(try await command.start(tick).result().status == 20)
        #expect(try await command.run("fetch", "--scheduled").status == 10)
        isDown.set(false)
        #expect(try await command.run("fetch").status == 0)
        #expect(try await command.start(tick).result().status == 10)
        let between = try await command.fetch("--scheduled").report
        #expect(between?.requests == 0 && between?.badge == 1, "a run without a wake reports the badge")
      }
    }
  }

  @Test("ends with 20 and a command to try if the timer cannot be started")
  func notStarted() async throws {
    try await Home.with(systemctl: 1) { home in
      let result = try await home.run("schedule", "install")
      #expect(result.status == 20)
      #expect(result.errors.contains("systemctl --user enable --now tidings-fetch.timer"))
    }
  }
}
