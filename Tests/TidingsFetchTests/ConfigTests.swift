import FaultServer
import Foundation
import NewsClient
import TestSupport
import Testing

@Suite("The settings of tidings-fetch") struct ConfigTests {
  /// A home folder of its own.
  private struct Home {
    let folder: URL
    var variables: [String: String] = [:]
    var file: URL { folder.appending(path: ".config/tidings-fetch/default/settings.json") }
    var state: URL { folder.appending(path: ".local/state/tidings-fetch") }

    static func with(_ body: (Home) async throws -> Void) async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-home-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      try await body(Home(folder: folder))
    }

    func run(_ words: String...) async throws -> ChildProcess.Result { try await start(words) }

    func start(_ words: [String]) async throws -> ChildProcess.Result {
      let environment = ["HOME": folder.path, "PATH": "/usr/bin:/bin", "TZ": "UTC"].merging(variables) { $1 }
      return try await ChildProcess(words, executable: ChildProcess.tidings + "-fetch", environment: environment)
        .result()
    }

    func write(_ json: String) throws {
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(json.utf8).write(to: file)
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: state.appending(path: path).path) }
  }

  @Test("are enough for a fetch; options replace variables, which replace the file, which replaces the store")
  func precedence() async throws {
    let feeds = (0..<4).map { _ in FaultFeed() }
    for (number, feed) in feeds.enumerated() { feed.publish("text", title: "Server \(number)") }
    try await FaultServer.with(feeds[0].respond) { stored in
      try await FaultServer.with(feeds[1].respond) { configured in
        try await FaultServer.with(feeds[2].respond) { variable in
          try await FaultServer.with(feeds[3].respond) { option in
            try await Home.with { home in
              func title() async throws -> String { try await home.run("status", "--format", "%t").output }
              let nameless = try await home.run("fetch")
              #expect(nameless.status == 64)
              #expect(try await home.run("--server", stored.url, "fetch").status == 0)
              #expect(try await title() == "Server 0\n")
              #expect(home.exists("default/news.sqlite"))
              // A choice stays until its server has responded.
              #expect(try await home.run("config", "set", "server", "http://127.0.0.1:1").status == 0)
              #expect(try await home.run("--server", option.url, "fetch").status == 0)
              #expect(try await home.run("config", "get", "server").output == "http://127.0.0.1:1\n")
              #expect(try await home.run("config", "set", "server", configured.url).status == 0)
              #expect(try await home.run("fetch").status == 0)
              #expect(try await title() == "Server 1\n")
              var other = home
              other.variables["TIDINGS_FETCH_SERVER"] = variable.url
              #expect(try await other.run("fetch").status == 0)
              #expect(try await title() == "Server 2\n")
              #expect(try await other.run("config").output == "server    \(variable.url)  (TIDINGS_FETCH_SERVER)\n")
              #expect(try await other.run("--server", option.url, "fetch").status == 0)
              #expect(try await title() == "Server 3\n")
              // A server that has responded is the new choice.
              #expect(try await home.run("config", "get", "server").output == "\(option.url)\n")
              #expect(try await home.run("config", "unset", "server").status == 0)
              #expect(try await home.run("config").output == "")
              #expect(try await home.run("fetch").status == 10)
              #expect(try await title() == "Server 3\n")
            }
          }
        }
      }
    }
  }

  @Test("are kept apart by the name of the store, and survive the loss of its folder")
  func names() async throws {
    let feed = FaultFeed()
    feed.publish("text", topics: ["sport"])
    try await FaultServer.with(feed.respond) { server in
      try await Home.with { home in
        for (key, value) in [("server", server.url), ("topics", "sport"), ("interval", "2h"), ("notify", "on")] {
          #expect(try await home.run("--name", "work", "config", "set", key, value).status == 0)
        }
        #expect(try await home.run("--name", "work", "fetch").status == 0)
        #expect(home.exists("work/news.sqlite") && !home.exists("default"))
        #expect(try await home.run("config").output == "other stores: work\n")
        try FileManager.default.removeItem(at: home.state)
        #expect(try await home.run("fetch", "--name", "work").status == 0)
        let status = try await home.run("--name", "work", "status").output
        #expect(status.contains("topics    sport\n") && status.contains("interval  2 h\n"), "\(status)")
        #expect(try await home.run("--name", "work", "notify").output.hasPrefix("desktop   on\n"))
        #expect(try await home.run("--name", "transfers", "list").status == 64)
        // The folder of a named store has the same settings.
        let folder = home.state.appending(path: "work").path
        #expect(try await home.run("--store", folder, "config", "get", "interval").output == "2h\n")
        // Another folder has settings of its own.
        let other = home.folder.appending(path: "other").path
        #expect(try await home.run("--store", other, "config", "set", "media", "all").status == 0)
        #expect(try await home.run("--store", other, "config").output.hasPrefix("media     all\n"))
        #expect(try await home.run("--store", other, "config", "path").output == "\(other)/settings.json\n")
      }
    }
  }

  @Test("follow later choices by other commands: the interval, notifications, and the end of background fetches")
  func choices() async throws {
    try await Home.with { home in
      try home.write(#"{"server":"http://127.0.0.1:1","interval":"2h","notify":true,"exec":"env"}"#)
      // There is no desktop. Without the choices of the file, notifications would be off.
      #expect(try await home.run("notify", "test", "--quiet", "none").status == 20)
      #expect(try await home.run("schedule", "show").output.hasPrefix("interval  2 h\n"))
      #expect(try await home.run("schedule", "set", "minimum").status == 0)
      #expect(try await home.run("config", "get", "interval").output == "minimum\n")
      #expect(try await home.run("schedule", "show").output.hasPrefix("interval  minimum\n"))
      #expect(try await home.run("notify", "set", "--no-notify", "--exec", "true").status == 0)
      #expect(try await home.run("config", "get", "notify").output == "off\n")
      #expect(try await home.run("notify").output.hasPrefix("desktop   off\nprogram   /usr/bin/true\n"))
      #expect(try await home.run("notify", "set", "--quiet", "22:00-07:00").status == 0)
      let notify = try await home.run("notify").output
      #expect(notify == "desktop   off\nprogram   /usr/bin/true\nquiet     22:00-07:00\n")
      #expect(try await home.run("config", "get", "quiet").output == "22:00-07:00\n")
      var other = home
      other.variables["TIDINGS_FETCH_NOTIFY"] = "on"
      for set in [
        try await other.run("notify", "set", "--no-notify"), try await other.run("config", "set", "notify", "off"),
      ] {
        #expect(set.status == 0 && set.errors.contains("TIDINGS_FETCH_NOTIFY is set, and is used instead\n"))
      }
      #expect(try await home.run("signout").status == 0)
      #expect(try await home.run("config", "get", "interval").output == "never\n")
      #expect(try await home.run("fetch", "--scheduled").output.contains("background fetch is off"))
      // An app that opens the folder finds the same choices.
      #expect(!NewsFetcher.notificationOptions(in: home.state.appending(path: "default")).showsNews)
      #expect(try await home.run("config", "set", "notify", "on").status == 0)
      #expect(NewsFetcher.notificationOptions(in: home.state.appending(path: "default")).showsNews)
    }
  }

  @Test("that are wrong are refused with a sentence that names the place, and change nothing")
  func faults() async throws {
    try await Home.with { home in
      for (key, value) in [
        ("server", "ftp://x"), ("topics", "A b"), ("interval", "2x"), ("media", "some"), ("notify", "yes"),
        ("exec", "/nowhere"), ("window", "201"), ("quiet", "22:00"), ("launch", "true"),
        ("proxy", "ftp://x"), ("caFile", "/nowhere"), ("caFile", "/etc/hostname"),
        ("colour", "red"),
      ] {
        let result = try await home.run("config", "set", key, value)
        #expect(result.status == 64 && result.errors.hasPrefix("Error: "), "\(key): \(result.errors)")
      }
      #expect(!FileManager.default.fileExists(atPath: home.file.path))
      #expect(try await home.run("config", "get", "server").status == 20)
      for json in [
        "{", "[]", #"{"intervall":"2h"}"#, #"{"interval":"2x"}"#, #"{"interval":[1]}"#, #"{"topics":{}}"#,
      ] {
        try home.write(json)
        let result = try await home.run("--server", "http://127.0.0.1:1", "fetch", "--json")
        #expect(result.status == 20, "\(json)")
        #expect(result.errors.contains(home.file.path), "\(result.errors)")
        #expect(result.output.contains(#""result":"failed""#))
      }
      try home.write("{")
      #expect(try await home.run("config", "set", "media", "all").status == 20)
      #expect(try String(contentsOf: home.file, encoding: .utf8) == "{")
      let folder = home.file.deletingLastPathComponent().deletingLastPathComponent()
      try FileManager.default.removeItem(at: folder)
      try Data().write(to: folder)
      let occupied = try await home.run("config", "set", "media", "all")
      #expect(occupied.status == 20)
      #expect(
        occupied.errors.contains(folder.path) && occupied.errors.hasSuffix(": not a directory\n"), "\(occupied.errors)")
      try FileManager.default.removeItem(at: folder)
      var other = home
      other.variables["TIDINGS_FETCH_INTERVAL"] = "2x"
      #expect(
        try await other.run("--store", home.folder.path, "list").errors.contains("TIDINGS_FETCH_INTERVAL must be"))
    }
  }

  @Test("that name a missing program or missing certificates prevent no reading")
  func missing() async throws {
    try await Home.with { home in
      try home.write(
        #"{"server":"https://127.0.0.1:1","exec":"/nowhere/x","caFile":"/nowhere/ca.pem"}"#)
      #expect(try await home.run("list").status == 0)
      let fetch = try await home.run("fetch")
      #expect(fetch.status == 20)
      #expect(fetch.output.contains("cannot read the certificates in /nowhere/ca.pem"), "\(fetch.output)")
    }
  }

  @Test("keep passwords from the screen and from other users, and the file of settings a link")
  func secrets() async throws {
    try await Home.with { home in
      let target = home.folder.appending(path: "dotfiles.json")
      try Data("{}".utf8).write(to: target)
      try home.write("{}")
      try FileManager.default.removeItem(at: home.file)
      try FileManager.default.createSymbolicLink(at: home.file, withDestinationURL: target)
      let input = home.folder.appending(path: "input")
      try Data("http://user:secret@proxy.example:3128\n".utf8).write(to: input)
      let environment = ["HOME": home.folder.path, "PATH": "/usr/bin:/bin"]
      let set = try await ChildProcess(
        ["config", "set", "proxy", "-"], executable: ChildProcess.tidings + "-fetch", environment: environment,
        input: input.path
      ).result()
      #expect(set.status == 0, "\(set.errors)")
      #expect(try await home.run("config").output == "proxy     http://user:…@proxy.example:3128\n")
      #expect(try String(contentsOf: target, encoding: .utf8).contains("secret"))
      #expect(try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions] as? Int == 0o600)
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: home.file.path) == target.path)
    }
  }

  @Test("of a store in the place of earlier versions stay valid there")
  func earlierVersion() async throws {
    let feed = FaultFeed()
    feed.publish("text", title: "Old")
    try await FaultServer.with(feed.respond) { server in
      try await Home.with { home in
        #expect(try await home.run("--store", home.state.path, "--server", server.url, "fetch").status == 0)
        #expect(try await home.run("--store", home.state.path, "schedule", "set", "2h").status == 0)
        #expect(try await home.run("fetch").status == 10)
        #expect(try await home.run("status", "--format", "%t").output == "Old\n")
        #expect(try await home.run("schedule", "show").output.hasPrefix("interval  2 h\n"))
        #expect(!home.exists("default"))
        // The damaged cache is replaced in the same place.
        try FileManager.default.removeItem(at: home.state.appending(path: "news.sqlite"))
        #expect(try await home.run("fetch").status == 0)
        #expect(!home.exists("default") && home.exists("news.sqlite"))
      }
    }
  }

  @Test("of an earlier version, which kept them in two files, are taken over once")
  func takeOver() async throws {
    try await Home.with { home in
      let earlier = home.folder.appending(path: ".config/tidings-fetch/config.json")
      let store = home.state.appending(path: "work/settings.json")
      for (file, json) in [
        (earlier, #"{"stores":{"work":{"server":"http://127.0.0.1:1","proxy":"none"},"x":{"later":1}}}"#),
        (
          store,
          #"""
          {"source":{"server":"http://127.0.0.1:2","topics":["sport"],"extent":{"window":{"_0":100}}},
          "notifications":{"notify":true,"quiet":{"from":"22:00","to":"07:00"}},"interval":"7200","launch":["/bin/true"]}
          """#
        ),
      ] {
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(json.utf8).write(to: file)
      }
      let before = try await home.run("--name", "work", "config").output
      #expect(before == "server    http://127.0.0.1:1\nproxy     none\n")
      #expect(try await home.run("--name", "work", "list").status == 0)
      let all = """
        server    http://127.0.0.1:1
        topics    sport
        interval  7200
        notify    on
        quiet     22:00-07:00
        launch    /bin/true
        proxy     none

        """
      #expect(try await home.run("--name", "work", "config").output == all)
      #expect(try await home.run("--name", "work", "config", "unset", "proxy").status == 0)
      #expect(try await home.run("--name", "work", "config", "get", "proxy").status == 20)
      let link = try FileManager.default.destinationOfSymbolicLink(atPath: store.path)
      #expect(try await home.run("--name", "work", "config", "path").output == "\(link)\n")
      #expect(try await home.run("--name", "x", "config").errors.contains("'later' is not a setting"))
    }
  }

  @Test("Variables that are empty are not set: they name no folder, no store and no value")
  func emptyVariables() async throws {
    let feed = FaultFeed()
    feed.publish("text", topics: ["sport"])
    try await FaultServer.with(feed.respond) { server in
      try await Home.with { original in
        var home = original
        for name in [
          "TIDINGS_FETCH_STORE", "TIDINGS_STORE", "TIDINGS_FETCH_NAME", "TIDINGS_FETCH_SERVER", "TIDINGS_SERVER",
          "TIDINGS_FETCH_TOPICS", "TIDINGS_FETCH_INTERVAL", "TIDINGS_FETCH_MEDIA", "TIDINGS_FETCH_NOTIFY",
          "TIDINGS_FETCH_EXEC", "TIDINGS_FETCH_PROXY", "TIDINGS_FETCH_CA_FILE", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
        ] {
          home.variables[name] = ""
        }
        #expect(try await home.run("config", "path").output == "\(home.file.path)\n")
        #expect(try await home.run("config", "set", "server", server.url).status == 0)
        #expect(try await home.run("config", "set", "topics", "sport").status == 0)
        let fetch = try await home.run("fetch")
        #expect(fetch.status == 0 && home.exists("default/news.sqlite"), "\(fetch.errors)")
        #expect(try await home.run("config").output == "server    \(server.url)\ntopics    sport\n")
        #expect(try await home.run("schedule", "install", "--no-start").status == 0)
        let unit = home.folder.appending(path: ".config/systemd/user/tidings-fetch.service").path
        #expect(FileManager.default.fileExists(atPath: unit))
        // The variable of another name applies.
        home.variables["TIDINGS_STORE"] = home.folder.appending(path: "elsewhere").path
        #expect(try await home.run("fetch", "--server", server.url).status == 0)
        #expect(FileManager.default.fileExists(atPath: home.folder.appending(path: "elsewhere/news.sqlite").path))
        (home.variables["HOME"], home.variables["TIDINGS_STORE"]) = ("", "")
        let homeless = try await home.run("config", "path")
        #expect(homeless.status == 64 && homeless.errors.contains("HOME is not set"), "\(homeless.errors)")
      }
    }
  }

  @Test("--timeout ends a fetch from a server that never answers, and the requests about a registration")
  func timeout() async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 200).hanging(at: .start) }) { server in
      try await Home.with { home in
        let result = try await home.run("--server", server.url, "fetch", "--timeout", "1")
        #expect(result.status == 20)
        #expect(result.output == "failed: the fetch did not end within 1 s (--timeout)\n")
        let offer = try await home.run("--server", server.url, "push", "offer", "--timeout", "1")
        #expect(offer.status == 20)
        #expect(offer.errors.contains("no response within 1 s"), "\(offer.errors)")
        let credentials = #"{"expires":"2027-02-24T06:00:00.000Z","id":"\#(UUID())","secret":"s"}"#
        let register = ["--server", server.url, "push", "register", "--provider", "fcm", "--token", "t"]
        let silent = try await home.start(register + ["--timeout", "1"])
        #expect(silent.status == 20 && silent.errors.contains("no response within 1 s"), "\(silent.errors)")
        server.respond(next: .json(credentials, status: 201))
        #expect(try await home.start(register).status == 0)
        let removal = try await home.run("--server", server.url, "push", "remove", "--timeout", "1")
        #expect(removal.status == 20 && removal.errors.contains("no response within 1 s"), "\(removal.errors)")
      }
    }
  }
}
