import FaultServer
import Foundation
import News
import NewsClient
import TestSupport
import Testing

@Suite("tidings-fetch push") struct PushCommandTests {
  /// Runs the command with an input.
  private func run(_ command: Command, _ arguments: [String], input: String) async throws -> ChildProcess.Result {
    try await command.start(arguments, wrapper: ["/bin/sh", "-c", #"printf %s "$0" | "$@""#, input]).result()
  }

  @Test("receives payloads of any form: a fetch, nothing, or a refusal of too much input")
  func receive() async throws {
    let feed = FaultFeed()
    feed.publish("one")
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: server.url) { command in
        for payload in ["", "{", "[]", #"{"aps":{}}"#, #"{"content-available":1}"#, #"{"token":7,"aps":7}"#] {
          let result = try await run(command, ["push", "receive"], input: payload)
          #expect(result.status == 10 && result.output.hasPrefix("noData: "), "\(payload) \(result.errors)")
        }
        #expect(server.requests.isEmpty)
        let fetched = try await run(command, ["push", "receive", "--json"], input: #"{"content-id":7}"#)
        #expect(fetched.status == 0 && fetched.output.contains(#""inserted":1"#), "\(fetched.errors)")
        for (size, status) in [(65_536, 10), (65_537, 64)] as [(Int, Int32)] {
          let large = #"{"token":"\#(String(repeating: "x", count: size - 12))"}"#
          let result = try await run(command, ["push", "receive"], input: large)
          #expect(result.status == status && (result.output == "") == (status == 64), "\(size) \(result.errors)")
        }
      }
    }
  }

  @Test("says when pushes above the limit are made up for, if the schedule has wakes")
  func pending() async throws {
    let feed = FaultFeed()
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: server.url) { command in
        for _ in 0..<4 {
          let result = try await run(command, ["push", "receive"], input: #"{"aps":{"content-available":1}}"#)
          #expect(result.status == 10, "\(result.errors)")
        }
        #expect(server.requests.count == 3)
        #expect(!(try await command.run("push", "status").output.contains("pending")))
        #expect(try await command.run("schedule", "set", "minimum").status == 0)
        #expect(try await command.run("push", "status").output.contains("\npending   a push, made up for at "))
      }
    }
  }

  @Test("fails to decrypt what is not for the store, without a word of it")
  func encrypted() async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let result = try await run(command, ["push", "receive", "--encrypted", "--json"], input: "hidden words")
      #expect(result.status == 20 && result.output.contains("cannot decrypt the push"), "\(result.errors)")
      #expect(!result.errors.contains("hidden") && !result.output.contains("hidden"))
    }
  }

  @Test(
    "refuses a registration without an address, or with that of another service",
    arguments: [
      ["--provider", "fcm"], ["--provider", "webpush", "--token", "t"], ["--provider", "apns", "--token", "00"],
      ["--provider", "fcm", "--token", "t", "--app", "a"], ["--provider", "mail", "--token", "t"],
      ["--provider", "fcm", "--token", "t", "--endpoint", "https://a.example/"],
    ])
  func arguments(_ arguments: [String]) async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let result = try await command.start(["push", "register"] + arguments).result()
      #expect(result.status == 64 && result.output == "", "\(result.errors)")
    }
  }

  @Test("registers what its options say, and prints the state of the registration")
  func registration() async throws {
    let feed = FaultFeed()
    let id = "01900000-0000-7000-8000-00000000abcd"
    let credentials = #"{"expires":"2027-02-24T06:00:00.000Z","id":"\#(id)","secret":"s"}"#
    try await FaultServer.with({ request in
      guard request.path.hasPrefix("/v1/devices") else { return feed.respond(request) }
      return .json(credentials, status: request.method == "POST" ? 201 : 200)
    }) { server in
      try await Command.with(server: server.url) { original in
        var changed = original
        changed.variables["TZ"] = "Europe/Berlin"
        let command = changed
        func register(_ options: [String]) async throws -> (output: String, sent: DeviceRegistration) {
          let result = try await command.start(["push", "register"] + options).result()
          #expect(result.status == 0, "\(result.errors)")
          let requests = server.takeRequests().filter { $0.path.hasPrefix("/v1/devices") }
          let body = try #require(requests.last?.body)
          return (result.output, try NewsJSON.decode(DeviceRegistration.self, from: body))
        }
        let apns = [
          "--provider", "apns", "--token", "00ff", "--app", "example.reader", "--sandbox", "--alerts",
          "--languages", "de,en", "--quiet", "22:00-07:00",
        ]
        let app = try await register(apns)
        #expect(app.sent.provider == .apns && app.sent.kind == .app && app.sent.token == "00ff")
        #expect(app.sent.app == "example.reader" && app.sent.environment == .sandbox && app.sent.alerts)
        #expect(app.sent.languages == ["de", "en"] && app.sent.topics == nil)
        #expect(app.sent.quiet == QuietHours(from: 22 * 60, to: 7 * 60) && app.sent.timeZone == "Europe/Berlin")
        #expect(app.output.contains("made up for once you set an interval") && !app.output.contains("registered;"))
        let fcm = ["--provider", "fcm", "--token", "t"]
        for (languages, expected) in [(" en, de ,", ["en", "de"]), ("", nil)] as [(String, [String]?)] {
          let other = try await register(fcm + ["--topics", "arts, sport", "--languages", languages])
          #expect(other.sent.languages == expected && other.sent.topics == ["arts", "sport"])
        }
        let own = try await command.run("push", "status", "--topics", "news").output
        #expect(own.contains("topics    arts, sport\n"), "they are not those of the feed: \(own)")
        let again = try await register(apns)
        #expect(again.sent == app.sent)
        let status = try await command.run("push", "status").output
        for line in ["provider  apns\n", "topics    all\n", "alerts    on\n", "state     active\n"] {
          #expect(status.contains(line), "\(status)")
        }
        #expect(try await command.run("schedule", "set", "minimum").status == 0)
        let web = try await register([
          "--provider", "webpush", "--endpoint", "https://push.example/1", "--quiet", "none",
        ])
        #expect(web.sent.kind == .unifiedpush && web.sent.subscription?.endpoint == "https://push.example/1")
        #expect(web.sent.environment == nil && !web.sent.alerts && web.sent.quiet == nil && web.sent.timeZone == nil)
        #expect(web.output == "registered; the server sends pushes once the first one was received\n")
        #expect(try await command.run("push", "status").output.contains("state     waiting for the first push\n"))
      }
    }
  }

  @Test(
    "prints the push services of the server and its key, or that there are none",
    arguments: [
      (#"{"providers":["fcm","later","webpush"],"webPush":{"publicKey":"BAk"}}"#, "fcm, webpush\nkey       BAk"),
      (#"{"providers":[]}"#, "none"),
    ])
  func offer(answer: String, text: String) async throws {
    try await FaultServer.with({ request in
      request.path == "/v1/push" ? FaultResponse.json(answer) : FaultResponse(status: 404)
    }) { server in
      try await Command.with(server: server.url) { command in
        let offer = try await command.run("push", "offer")
        #expect(offer.output == "providers \(text)\n")
      }
    }
  }

  @Test("keeps a registration that cannot be sent, and prints no address")
  func unreachable() async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let result = try await run(
        command, ["push", "register", "--provider", "fcm", "--token", "-"], input: "secret-token\n")
      #expect(result.status == 20 && !result.errors.contains("secret-token"), "\(result.errors)")
      let status = try await command.run("push", "status", "--json")
      #expect(status.status == 0 && status.output.contains(#""provider":"fcm""#), "\(status.errors)")
      #expect(!status.output.contains("secret-token") && !status.output.contains("renewed"))
      #expect(try await command.run("push", "status").output.contains("has not accepted"))
      #expect(try await command.run("push", "remove").status == 0)
      #expect(try await command.run("push", "status").output.hasPrefix("provider  none"))
    }
  }

  @Test("is over after a sign-out without a response: the next run of the timer deletes the registration")
  func lateRemoval() async throws {
    let feed = FaultFeed()
    let isDown = Flag()
    let id = "01900000-0000-7000-8000-00000000abcd"
    let credentials = #"{"expires":"2027-02-24T06:00:00.000Z","id":"\#(id)","secret":"s"}"#
    try await FaultServer.with({ request in
      guard request.path.hasPrefix("/v1/devices") else { return feed.respond(request) }
      if request.method == "DELETE" { return FaultResponse(status: isDown.isSet ? 503 : 204) }
      return .json(credentials, status: request.method == "POST" ? 201 : 200)
    }) { server in
      try await Command.with(server: server.url) { command in
        #expect(try await command.run("push", "register", "--provider", "fcm", "--token", "t").status == 0)
        isDown.set()
        #expect(try await command.run("signout").status == 20)
        isDown.set(false)
        // The time of the attempt is forgotten. There is a minute between two of them.
        let file = command.folder.appending(path: "device.json")
        let text = try String(contentsOf: file, encoding: .utf8)
        try #require(text.contains("\"attempted\""))
        try Data(text.replacing("\"attempted\"", with: "\"former\"").utf8).write(to: file)
        #expect(try await command.run("fetch", "--scheduled").status == 10)
        #expect(server.takeRequests().filter { $0.method == "DELETE" }.count == 2)
        #expect(!FileManager.default.fileExists(atPath: file.path))
      }
    }
  }

  @Test("launches no program before the user allows it")
  func app() async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      var outputs: [String] = []
      for arguments in [[], ["set", "/bin/sh", "--background", "-x"], ["show"], ["unset"], []] {
        let result = try await command.start(["app"] + arguments).result()
        #expect(result.status == 0, "\(result.errors)")
        outputs.append(result.output)
      }
      let none = "none: the app is not launched\n"
      #expect(outputs == [none, "", "/bin/sh --background -x\n", "", none])
      let unknown = try await command.run("app", "set", "/nowhere/app")
      #expect(unknown.status == 64)
    }
  }

  @Test("launch one program at a time, even if it does not handle pushes, and pass it no descriptors")
  func overlapping() async throws {
    let feed = FaultFeed()
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: server.url) { command in
        try FileManager.default.createDirectory(at: command.home, withIntermediateDirectories: true)
        let log = command.home.appending(path: "launches").path
        let program = command.home.appending(path: "program")
        try Data("#!/bin/sh\necho start $(ls /proc/self/fd | wc -l) >>\(log)\nsleep 1000\n".utf8).write(to: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        #expect(try await command.run("schedule", "set", "minimum").status == 0)
        #expect(try await command.run("app", "set", program.path).status == 0)
        for number in 0..<3 {
          feed.publish("item \(number)")
          let payload = #"{"aps":{"content-available":1},"token":"\#(feed.token())"}"#
          let start = ContinuousClock.now
          let result = try await run(command, ["push", "receive"], input: payload)
          #expect(result.status == 0, "\(result.output) \(result.errors)")
          if number > 0 { #expect(ContinuousClock.now - start < .seconds(9)) }
        }
        let launches = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        // Standard input, output and error, and the folder that ls reads.
        #expect(launches == ["start 4"])
        let record = try Data(contentsOf: command.folder.appending(path: "launched.json"))
        let process = try JSONDecoder().decode([String: JSONNumberOrText].self, from: record)["process"]?.number
        kill(-(try #require(process)), SIGKILL)
      }
    }
  }

  @Test("launch a program without the session or the tap that has launched this process")
  func inheritedLaunch() async throws {
    try await Command.with(server: "http://127.0.0.1:1") { original in
      var command = original
      for name in ["TIDINGS_LAUNCH_SESSION", "TIDINGS_LAUNCH_NOTIFICATION", "TIDINGS_LAUNCH_ACTION"] {
        command.variables[name] = "old"
      }
      command.variables.merge(["TIDINGS_LAUNCH_REASON": "old", "XDG_ACTIVATION_TOKEN": "old", "KEPT": "kept"]) { $1 }
      try FileManager.default.createDirectory(at: command.home, withIntermediateDirectories: true)
      let output = command.home.appending(path: "environment").path
      #expect(try await command.run("schedule", "set", "minimum").status == 0)
      #expect(try await command.run("app", "set", "/bin/sh", "-c", "env >\(output)").status == 0)
      _ = try await run(command, ["push", "receive"], input: #"{"aps":{"content-available":1}}"#)
      let lines = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
      #expect(lines.contains("TIDINGS_LAUNCH_REASON=push") && lines.contains("KEPT=kept"), "\(lines)")
      #expect(lines.filter { $0.hasSuffix("=old") } == [])
    }
  }

  /// A value of the record of a launch.
  private struct JSONNumberOrText: Decodable {
    let number: Int32?

    init(from decoder: any Decoder) throws { number = try? decoder.singleValueContainer().decode(Int32.self) }
  }
}
