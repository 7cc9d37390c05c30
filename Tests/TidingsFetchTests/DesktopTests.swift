import BackgroundFetch
import FaultServer
import Foundation
import News
import NewsClient
import TestKit
import TestSupport
import Testing

@Suite(
  "Notifications on a desktop",
  .enabled(if: Desktop.isInstalled, "needs dbus-daemon and busctl: apt-get install dbus python3-dbus python3-gi"))
struct DesktopTests {
  /// Runs the body with a server with one item, a store that has fetched it, and a bus.
  private func with(_ body: @Sendable (FaultFeed, Command, Desktop) async throws -> Void) async throws {
    try await Desktop.with { desktop in
      let feed = FaultFeed()
      try await FaultServer.with(feed.respond) { server in
        try await Command.with(server: server.url) { command in
          var command = command
          command.variables["DBUS_SESSION_BUS_ADDRESS"] = desktop.address
          feed.publish("old", title: "Old")
          try await fetch(command, expecting: 0)
          #expect(desktop.calls == [])
          try await body(feed, command, desktop)
        }
      }
    }
  }

  /// Fetches with notifications, and checks the exit status.
  private func fetch(_ command: Command, expecting status: Int32) async throws {
    #expect(try await command.fetch("--notify").status == status)
  }

  @Test(
    "are raised by a fetch, with markup escaped only where the desktop shows markup",
    arguments: [
      (Desktop.Kind.markup, "1 &lt; 2 &amp;&amp; &lt;b&gt;3&lt;/b&gt;"), (.plain, "1 < 2 && <b>3</b>"),
    ])
  func markup(kind: Desktop.Kind, body: String) async throws {
    try await with { feed, command, desktop in
      try await desktop.run(kind) {
        feed.publishBreaking("--help <b>\u{1B}]0;owned\u{7}", text: "1 < 2 && <b>3\u{202E}</b>")
        try await fetch(command, expecting: 0)
      }
      let call = try #require(desktop.calls.first)
      #expect(desktop.calls.count == 1)
      #expect((call.app, call.summary, call.body) == ("Tidings", "--help <b>]0;owned", body))
      #expect((call.replaces, call.timeout) == (0, -1))
      #expect(
        call.hints == ["urgency": "2", "desktop-entry": "tidings-fetch", "category": "x-tidings.breaking"])
    }
  }

  @Test("list the titles of several items, shorten long ones, and ask for the capabilities once")
  func several() async throws {
    try await with { feed, command, desktop in
      try await desktop.run(.markup) {
        feed.publish("text", title: "Fish & chips")
        feed.publish("text", title: String(repeating: "\u{65}\u{301}", count: 300))
        feed.publishBreaking("Flood")
        try await fetch(command, expecting: 0)
      }
      #expect(desktop.allCalls.filter { $0.method == "GetCapabilities" }.count == 1)
      let group = try #require(desktop.calls.last)
      #expect(desktop.calls.map(\.summary) == ["Flood", "2 new stories"])
      #expect(group.hints["urgency"] == "1")
      let lines = group.body.split(separator: "\n")
      #expect(lines.last == "Fish &amp; chips")
      #expect(lines.first?.count == 120)
    }
  }

  @Test("follow the stored choices in fetches of all kinds")
  func stored() async throws {
    try await with { feed, command, desktop in
      try await desktop.run(.markup) {
        #expect(try await command.run("schedule", "set", "minimum").status == 0)
        #expect(try await command.run("notify", "set", "--notify").output.contains("desktop   on\n"))
        feed.publish("one", title: "One")
        #expect(try await command.fetch().status == 0)
        feed.publish("two", title: "Two")
        let watch = try command.start(["watch"])
        try await eventually("watch shows an item") { desktop.calls.map(\.summary).contains("Two") }
        watch.send(SIGTERM)
        #expect(await watch.result().status == 0)
        feed.publish("three", title: "Three")
        #expect(try await command.run("simulate", "fetch").status == 0)
        feed.publish("four", title: "Four")
        #expect(try await command.fetch("--no-notify").status == 0)
      }
      #expect(desktop.calls.map(\.summary) == ["One", "Two", "Three"])
      let shown = try await command.run("notify")
      #expect(shown.output.contains("Three\n"))
    }
  }

  @Test("about a breaking item are replaced and closed while the same desktop runs")
  func corrections() async throws {
    try await with { feed, command, desktop in
      var item = try await desktop.run(.markup) {
        var item = feed.publishBreaking("Flod")
        try await fetch(command, expecting: 0)
        item.title = "Flood"
        feed.publish([item])
        try await fetch(command, expecting: 0)
        return item
      }
      #expect(desktop.calls.map(\.summary) == ["Flod", "Flood"])
      #expect(desktop.calls.map(\.replaces) == [0, 1])
      try await desktop.run(.markup) { [item] in
        var item = item
        item.title = "A flood"
        feed.publish([item])
        try await fetch(command, expecting: 0)
        let other = feed.publishBreaking("Storm")
        try await fetch(command, expecting: 0)
        feed.retract(other.id)
        try await fetch(command, expecting: 0)
      }
      #expect(desktop.calls.map(\.summary) == ["Flod", "Flood", "Storm", ""])
      #expect(desktop.calls.last?.method == "CloseNotification")
      item.title = nil
    }
  }

  @Test(
    "that the user taps launch the app with the item, and with the token of the desktop for this notification",
    arguments: [Desktop.Kind.tapping, .tappingElsewhere])
  func taps(kind: Desktop.Kind) async throws {
    try await with { feed, command, desktop in
      let output = command.folder.appending(path: "tapped").path
      #expect(
        try await command.run("app", "set", "/bin/sh", "-c", "env >\(output).new; mv \(output).new \(output)").status
          == 0)
      #expect(try await command.run("schedule", "set", "minimum").status == 0)
      #expect(try await command.run("notify", "set", "--notify").status == 0)
      try await desktop.run(kind) {
        let watch = try command.start(["watch"])
        // A tap before watch listens is lost, so another item follows.
        try await eventually("the tap has launched the app") {
          feed.publish("text", title: "Ferry")
          try await Task.sleep(for: .seconds(1))
          return FileManager.default.fileExists(atPath: output)
        }
        watch.send(SIGTERM)
        #expect(await watch.result().status == 0)
      }
      let environment = try String(contentsOfFile: output, encoding: .utf8)
      #expect(environment.contains("TIDINGS_LAUNCH_REASON=notification\n"))
      #expect(environment.contains("TIDINGS_LAUNCH_NOTIFICATION=item"))
      #expect(environment.contains("TIDINGS_LAUNCH_ACTION=default\n"))
      #expect(environment.contains("XDG_ACTIVATION_TOKEN=focus\n") == (kind == .tapping))
    }
  }

  @Test("that the user taps open the page of the item, which is read then, if they launch no app")
  func tappedPage() async throws {
    try await with { feed, command, desktop in
      try await withFolder(["viewer": "#!/bin/sh\necho \"$1\" >>\"$0-opened\"\n"]) { folder in
        let viewer = folder.appending(path: "viewer").path
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: viewer)
        var command = command
        command.variables["BROWSER"] = viewer
        #expect(try await command.run("notify", "set", "--notify").status == 0)
        try await desktop.run(.tapping) { [command] in
          let watch = try command.start(["watch"])
          // A tap before watch listens is lost, so another item follows.
          try await eventually("the tap has opened a page") {
            var item = NewsItem(
              id: UUID(), version: 0, date: feed.items[0].date + 1, text: "text", title: "Ferry", updated: Date())
            item.url = "https://news.example/\(item.id)"
            feed.publish([item])
            try await Task.sleep(for: .seconds(1))
            return FileManager.default.fileExists(atPath: viewer + "-opened")
          }
          let opened = try String(contentsOfFile: viewer + "-opened", encoding: .utf8)
          let item = try #require(feed.items.first { opened.hasPrefix("\($0.url ?? "none")\n") })
          try await eventually("it is read") {
            let unread = try await command.run("list", "--unread", "--json").output.lowercased()
            return !unread.contains(item.id.uuidString.lowercased())
          }
          watch.send(SIGTERM)
          #expect(await watch.result().status == 0)
        }
      }
    }
  }

  @Test(
    "about a retracted item are closed by a process with a desktop, once, even if a process without one has fetched",
    arguments: [Desktop.Kind.markup, .closing])
  func withdrawal(kind: Desktop.Kind) async throws {
    try await with { feed, command, desktop in
      try await desktop.run(kind) {
        let item = feed.publishBreaking("Flood")
        try await fetch(command, expecting: 0)
        feed.retract(item.id)
        var timer = command
        timer.variables["DBUS_SESSION_BUS_ADDRESS"] = ""
        let result = try await timer.start(["fetch", "--notify"]).result()
        #expect(result.status == 0 && result.errors.contains("there is no session bus"), "\(result.errors)")
        #expect(desktop.calls.map(\.method) == ["Notify"])
        for _ in 0..<2 {
          #expect(try await command.start(["fetch", "--notify"]).result().errors == "")
        }
      }
      #expect(desktop.calls.map(\.method) == ["Notify", "CloseNotification"])
    }
  }

  /// Runs the command with a push.
  private func receive(
    _ payload: String, _ command: Command, _ options: [String] = ["--notify"]
  ) async throws -> ChildProcess.Result {
    try await command.start(
      ["push", "receive"] + options, wrapper: ["/bin/sh", "-c", #"printf %s "$0" | "$@""#, payload]
    ).result()
  }

  @Test("about alerts of pushes have a title, are urgent if they are breaking, and are not raised unless wanted")
  func alerts() async throws {
    try await with { _, command, desktop in
      try await desktop.run(.markup) {
        for payload in [#"{"title":"Ferry","body":"It sails."}"#, #"{"body":"Storm","breaking":"1"}"#] {
          let result = try await receive(payload, command)
          #expect(result.status == 10, "\(result.errors)")
        }
        #expect(try await receive(#"{"title":"Unwanted"}"#, command, []).status == 10)
      }
      #expect(desktop.calls.map(\.summary) == ["Ferry", "Storm"])
      #expect(desktop.calls.map(\.body) == ["It sails.", ""])
      #expect(desktop.calls.map { $0.hints["urgency"] } == ["1", "2"])
      #expect(desktop.calls.allSatisfy { $0.hints["category"] == "x-tidings.news" })
    }
  }

  @Test("about alerts of pushes are raised by the process that stays alive, to which they are passed")
  func alertOfWatch() async throws {
    try await with { _, command, desktop in
      #expect(try await command.run("notify", "set", "--notify").status == 0)
      try await desktop.run(.markup) {
        let watch = try command.start(["watch"])
        let lock = FetchLock(path: command.folder.appending(path: "app.lock").path)
        try await eventually("it receives pushes") { try lock.isHeld }
        #expect(try await receive(#"{"title":"Ferry"}"#, command, []).status == 10)
        try await eventually("it is shown") { desktop.calls.map(\.summary) == ["Ferry"] }
        watch.send(SIGTERM)
        #expect(await watch.result().status == 0)
      }
    }
  }

  @Test("about the alert of a push are not raised again by the fetch of its item or later, and are closed with it")
  func alert() async throws {
    try await with { feed, command, desktop in
      try await desktop.run(.markup) {
        let item = feed.publishBreaking("Flood")
        let payload = #"{"aps":{"alert":{"title":"Flood","body":"text"}},"content-id":"\#(item.id)"}"#
        let pushed = try await receive(payload, command)
        #expect(pushed.status == 10, "\(pushed.errors)")
        #expect(desktop.calls.map(\.summary) == ["Flood"])
        try await fetch(command, expecting: 0)
        #expect(try await receive(payload, command).status == 10)
        #expect(desktop.calls.count == 1)
        feed.retract(item.id)
        try await fetch(command, expecting: 0)
      }
      #expect(desktop.calls.map(\.method) == ["Notify", "CloseNotification"])
    }
  }

  @Test("wait for a desktop that hangs or is missing; the fetch has its own result, and the reason is logged once")
  func missing() async throws {
    try await with { feed, command, desktop in
      try await desktop.run(.hanging) {
        feed.publish("one", title: "One")
        try await fetch(command, expecting: 0)
      }
      #expect(try await command.run("notify").output.contains("waiting   1 item\n"))
      let reason = "the desktop's notification service does not answer"
      #expect(try await command.run("log", "--limit", "1").output.contains("notifications: \(reason)\n"))
      let next = try await command.start(["fetch", "--notify"]).result()
      #expect(next.status == 10)
      #expect(next.errors.contains("org.freedesktop.Notifications"))
      #expect(try await command.start(["fetch", "--notify"]).result().errors == "")
      try await desktop.run(.markup) {
        // A tick without a wake delivers too.
        let tick = try await command.start(["fetch", "--scheduled", "--notify"]).result()
        #expect(tick.status == 10)
        #expect(tick.errors == "")
      }
      #expect(desktop.calls.map(\.summary) == ["One"])
      #expect(!(try await command.run("notify").output.contains("waiting")))
    }
  }

  @Test("need a session bus and busctl; their absence is explained, and changes no result")
  func noBus() async throws {
    try await with { feed, command, _ in
      feed.publish("one", title: "One")
      var homeless = command
      homeless.variables["DBUS_SESSION_BUS_ADDRESS"] = ""
      let result = try await homeless.start(["fetch", "--notify"]).result()
      #expect(result.status == 0)
      #expect(result.errors.contains("there is no session bus"))
      let test = try await homeless.run("notify", "test", "--notify")
      #expect(test.status == 20)
      #expect(try await homeless.run("notify", "test").status == 64, "they are off")
      #expect(test.errors.contains("there is no session bus"))
      var bare = command
      bare.variables["PATH"] = "/nowhere"
      let other = try await bare.start(["fetch", "--notify"]).result()
      #expect(other.status == 10)
      #expect(other.errors.contains("need busctl, a program of systemd"))
    }
  }

  @Test("are raised once by the next fetch if the process is killed before the call, and at most twice after it")
  func killed() async throws {
    try await with { feed, command, desktop in
      for method in ["GetCapabilities", "Notify"] {
        try await withFolder(["busctl": ""]) { folder in
          // Calls the desktop and kills the caller, which cannot record the call.
          let script = """
            #!/bin/sh
            case "$*" in *\(method)*) [ \(method) = Notify ] && /usr/bin/busctl "$@"; kill -KILL $PPID; exit 1;; esac
            exec /usr/bin/busctl "$@"
            """
          let file = folder.appending(path: "busctl")
          try Data(script.utf8).write(to: file)
          try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
          try await desktop.run(.markup) {
            feed.publish("text", title: method)
            var doomed = command
            doomed.variables["PATH"] = "\(folder.path):/usr/bin:/bin"
            try await fetch(doomed, expecting: -SIGKILL)
            #expect(try command.storedItems().first?.title == method)
            try await fetch(command, expecting: 10)
            try await fetch(command, expecting: 10)
          }
        }
      }
      #expect(desktop.calls.map(\.summary) == ["GetCapabilities", "Notify", "Notify"])
    }
  }
}

extension FaultFeed {
  /// Publishes a breaking item.
  @discardableResult
  func publishBreaking(_ title: String, text: String = "text") -> NewsItem {
    let date = items.map(\.date).max() ?? Date(timeIntervalSince1970: 1_767_225_600)
    var item = NewsItem(id: UUID(), version: 0, date: date + 1, text: text, title: title, updated: date)
    item.breaking = true
    return publish([item])[0]
  }
}
