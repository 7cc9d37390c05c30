import FaultServer
import Foundation
import HTTPTransfer
import News
import NewsClient
import TestKit
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
    try await FaultServer.with({ request in
      request.path.hasPrefix("/v1/devices") ? FaultResponse(status: 503) : feed.respond(request)
    }) { server in
      try await Command.with(server: server.url) { command in
        struct Status: Decodable { var pending: Date }
        let start = Date()
        for _ in 0..<4 {
          let result = try await run(command, ["push", "receive"], input: #"{"aps":{"content-available":1}}"#)
          #expect(result.status == 10, "\(result.errors)")
        }
        #expect(server.requests.count == 3)
        #expect(!(try await command.run("push", "status").output.contains("pending")))
        #expect(try await command.run("schedule", "set", "minimum").status == 0)
        #expect(try await command.run("push", "status").output.contains("\npending   a push, made up for at "))
        let object = try await command.run("push", "status", "--json").output
        let pending = try NewsJSON.decode(Status.self, from: Data(object.utf8)).pending
        #expect(start + 3598 <= pending && pending <= Date() + 3602, "\(object)")
        #expect(try await command.run("push", "register", "--provider", "fcm", "--token", "t").status == 20)
        let status = try await command.run("push", "status").output
        #expect(status.hasPrefix("provider  fcm\n") && status.contains("\npending   a push, made up for at "))
      }
    }
  }

  /// The device that every server of these tests makes.
  private static let id = "01900000-0000-7000-8000-00000000abcd"

  /// Runs the body with a server that accepts each registration.
  private static func withDeviceServer(_ body: (FaultServer) async throws -> Void) async throws {
    let feed = FaultFeed()
    let credentials = #"{"expires":"2027-02-24T06:00:00.000Z","id":"\#(id)","secret":"s"}"#
    try await FaultServer.with(
      { request in
        guard request.path.hasPrefix("/v1/devices") else { return feed.respond(request) }
        return .json(credentials, status: request.method == "POST" ? 201 : 200)
      }, body)
  }

  @Test("reads an address without the white space around it, and prints all of the registration except the address")
  func address() async throws {
    try await Self.withDeviceServer { server in
      try await Command.with(server: server.url) { command in
        let words = ["push", "register", "--provider", "fcm", "--token", "-"]
        let result = try await run(command, words, input: " t7\r\n\n")
        #expect(result.status == 0, "\(result.errors)")
        let body = try #require(server.takeRequests().last?.body)
        #expect(try NewsJSON.decode(DeviceRegistration.self, from: body).token == "t7")
        let endpoint = ["push", "register", "--provider", "webpush", "--endpoint", "-"]
        #expect(try await run(command, endpoint, input: "https://push.example/1\n").status == 0)
        let other = try #require(server.takeRequests().last?.body)
        let subscription = try NewsJSON.decode(DeviceRegistration.self, from: other).subscription
        #expect(subscription?.endpoint == "https://push.example/1")
        #expect(try await run(command, words, input: "t7").status == 0)
        let text = try await command.run("push", "status").output
        for part in [
          "\nserver    \(server.url)\n", "\nalerts    off\n", "\nrenewed   20",
          ", ends 2027-02-24 06:00 without a renewal\n",
        ] {
          #expect(text.contains(part), "\(text)")
        }
        let object = try await command.run("push", "status", "--json").output
        for part in [
          #""provider":"fcm""#, #""server":"\#(server.url)""#, #""topics":[]"#, #""alerts":false"#,
          #""id":"\#(Self.id)""#,
          #""renewed":"20"#, #""expires":"2027-02-24T06:00:00"#, #""isConfirmed":true"#,
        ] {
          #expect(object.contains(part), "\(object)")
        }
      }
    }
  }

  @Test("downloads the attachments of the items that a push has brought, if that is wanted")
  func attachments() async throws {
    let feed = FaultFeed()
    try await FaultServer.with({ request in
      guard request.path.hasPrefix("/v1/media/") else { return feed.respond(request) }
      return FaultResponse(headers: [("Content-Type", "image/png")], body: Data("png".utf8))
    }) { server in
      try await Command.with(server: server.url) { command in
        for number in 1...2 {
          let files = ["/v1/media/\(number)", server.url + "/?\(number)"].map {
            News.Attachment(url: $0, type: "image/png", bytes: 3)
          }
          let title = "Ferry \(number) " + String(repeating: "x", count: 50)
          feed.publish([
            NewsItem(
              id: UUID(), version: 0, date: Date(timeIntervalSince1970: 1_767_225_600 + Double(number)), text: "text",
              title: title, attachments: files, updated: Date(timeIntervalSince1970: 0))
          ])
          let options = number == 1 ? ["--media", "all"] : []
          let result = try await run(command, ["push", "receive"] + options, input: #"{"content-id":\#(number)}"#)
          #expect(result.status == 0, "\(result.errors)")
        }
        let lines = try await command.run("transfers").output.split(separator: "\n")
        try #require(lines.count == 2, "\(lines)")
        #expect(lines[0].hasPrefix("1  ") && lines[1].hasPrefix("2  "), "\(lines)")
        let note = try #require(lines[0].firstMatch(of: /1 \((Ferry 1 x[^)]*)\)/)?.1, "\(lines)")
        #expect(note.count == 40)
        #expect(lines[1].contains("  \(server.url)/?1 (Ferry 1 x"), "it has no name: \(lines)")
        let item = try #require(try command.storedItems().last)
        try await eventually("the command names the file") {
          let text = try await command.run("show", item.id.uuidString.lowercased()).output
          return text.contains(/\/attachments\/[0-9a-f]{64}\n/)
        }
      }
    }
  }

  @Test("continues the downloads of the store that are due")
  func downloads() async throws {
    try await FaultServer.with({ _ in FaultResponse(body: Data("x".utf8)) }) { server in
      try await Command.with(server: server.url) { command in
        let (url, file) = (try #require(URL(string: server.url + "/x")), command.folder.appending(path: "x"))
        let journal = try TransferJournal(store: command.folder)
        try journal.resume(try journal.add(TransferRequest(download: url, to: file)).number)
        #expect(try await run(command, ["push", "receive"], input: "{}").status == 10)
        try await eventually("it is complete") { FileManager.default.fileExists(atPath: file.path) }
      }
    }
  }

  @Test("fails to decrypt what is not for the store, without a word of it")
  func encrypted() async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let result = try await run(command, ["push", "receive", "--encrypted", "--json"], input: "hidden words")
      #expect(result.status == 20 && result.output.contains("cannot decrypt the push"), "\(result.errors)")
      #expect(!result.errors.contains("hidden") && !result.output.contains("hidden"))
      let folder = try await command.start(
        ["push", "receive"], wrapper: ["/bin/sh", "-c", #""$@" </tmp"#, "sh"]
      ).result()
      #expect(folder.status == 20 && folder.errors.contains("cannot read the input: "), "\(folder.errors)")
    }
  }

  @Test(
    "refuses a registration without an address, or with that of another service",
    arguments: [
      ["--provider", "fcm"], ["--provider", "webpush"], ["--provider", "webpush", "--token", "t"],
      ["--provider", "apns", "--token", "00"], ["--provider", "fcm", "--token", "t", "--app", "a"],
      ["--provider", "mail", "--token", "t"],
      ["--provider", "fcm", "--token", "t", "--endpoint", "https://a.example/"],
      ["--provider", "webpush", "--token", "t", "--endpoint", "https://a.example/"],
      ["--provider", "fcm", "--token", "t", "--sandbox"],
    ])
  func arguments(_ arguments: [String]) async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let result = try await command.start(["push", "register"] + arguments).result()
      #expect(result.status == 64 && result.output == "", "\(result.errors)")
    }
  }

  @Test("registers what its options say, and prints the state of the registration")
  func registration() async throws {
    try await Self.withDeviceServer { server in
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
      // The escape would begin a command for the terminal.
      (#"{"providers":["fcm","later","webpush"],"webPush":{"publicKey":"B\u001bAk"}}"#, "fcm, webpush\nkey       BAk"),
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
      let received = try await run(command, ["push", "receive"], input: #"{"content-id":7}"#)
      #expect(received.status == 20 && received.output.hasPrefix("failed: "), "\(received.output)")
      #expect(received.errors.contains("127.0.0.1:1"), "\(received.errors)")
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
