import BackgroundFetch
import Foundation
import NewsClient
import TestKit
import TestSupport
import Testing

@Suite("The program that calls the bus") struct BusProgramTests {
  /// Runs the body with a presenter whose program answers each call with a text, and prints lines for signals.
  ///
  /// - Parameters:
  ///   - monitor: The command of the shell that prints the lines.
  ///   - patterns: Further patterns and commands of the shell for calls.
  private func with(
    reply: String = #"{"data":["bus"]}"#, signals: [String] = [], monitor: String = #"exec /bin/cat "$0-signals""#,
    patterns: String = "", clock: any FetchClock = SystemClock(),
    _ body: (DesktopNotifications, _ program: String) async throws -> Void
  ) async throws {
    let program = """
      #!/bin/sh
      case "$*" in *monitor*) \(monitor);; \(patterns) esac
      exec /bin/cat "$0-reply"

      """
    let lines = signals.map { $0 + "\n" }.joined()
    try await withFolder(["busctl": program, "busctl-reply": reply, "busctl-signals": lines]) { folder in
      let path = folder.appending(path: "busctl").path
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
      let environment = ["PATH": "/nowhere:\(folder.path)", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"]
      try await body(DesktopNotifications(name: "Tests", environment: environment, clock: clock), path)
    }
  }

  /// Returns the taps until the program has ended.
  private func taps(_ presenter: DesktopNotifications) async -> [NotificationTap] {
    var taps: [NotificationTap] = []
    for await tap in presenter.taps() { taps.append(tap) }
    return taps
  }

  /// Returns a signal about a notification.
  ///
  /// - Parameter length: The length of the line in bytes; nil for the shortest one.
  private func signal(_ member: String, _ number: Int, _ text: String, length: Int? = nil) -> String {
    let (start, end) = (
      #"{"sender":":1.7","member":"\#(member)","padding":""#, #"","payload":{"data":[\#(number),"\#(text)"]}}"#
    )
    return start + String(repeating: "x", count: max(0, (length ?? 0) - start.count - end.count)) + end
  }

  @Test("reports taps, and passes the token of the desktop on with the next tap only")
  func tokens() async throws {
    let signals = [
      "no signal", signal("ActivationToken", 3, "focus"), #"{"sender":":1.7","member":"Other","payload":{"data":[]}}"#,
      signal("ActionInvoked", 3, "default"), signal("ActionInvoked", 3, "later"),
    ]
    try await with(signals: signals) { presenter, _ in
      let taps = await taps(presenter)
      #expect(taps.map(\.handle) == ["bus :1.7 3", "bus :1.7 3"])
      #expect(taps.map(\.action) == ["default", "later"])
      #expect(taps.map(\.token) == ["focus", nil])
    }
  }

  @Test("is ended once it has closed its output, so that the taps end too")
  func closedOutput() async throws {
    try await with(monitor: "exec /bin/sleep 600 >&-") { presenter, _ in
      let hasEnded = Flag()
      let listening = Task {
        for await _ in presenter.taps() {}
        hasEnded.set()
      }
      defer { listening.cancel() }
      try await eventually("the taps end") { hasEnded.isSet }
    }
  }

  @Test("may print lines of up to 65,536 bytes; longer ones are dropped")
  func longLines() async throws {
    let signals = [
      signal("ActionInvoked", 1, "default", length: 65_536), signal("ActionInvoked", 2, "default", length: 65_537),
      signal("ActionInvoked", 3, "default", length: 200_000), signal("ActionInvoked", 4, "default"),
    ]
    try await with(signals: signals) { presenter, _ in
      let taps = await taps(presenter)
      #expect(taps.map(\.handle) == ["bus :1.7 1", "bus :1.7 4"])
    }
  }

  @Test("may answer with 65,536 bytes; what follows is not kept", arguments: [(65_536, true), (65_537, false)])
  func longAnswers(bytes: Int, isRead: Bool) async throws {
    let (start, end) = (#"{"data":["bus""#, "]}")
    let reply = start + String(repeating: " ", count: bytes - start.count - end.count) + end
    try await with(reply: reply, signals: [signal("ActionInvoked", 1, "default")]) { presenter, _ in
      let taps = await taps(presenter)
      #expect(taps.count == (isRead ? 1 : 0))
    }
  }

  /// Returns the number of the ends of pipes that this process has open.
  private func pipes() -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.count { name in
      let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
      return file?.hasPrefix("pipe:") == true
    }
  }

  @Test("is ended with the programs that it has started, and leaves no process behind")
  func children() async throws {
    let monitor = #"/bin/sleep 600 >/dev/null 2>&1 & echo $$ $! >"$0-processes"; exec /bin/cat "$0-signals""#
    try await with(signals: [signal("ActionInvoked", 1, "default")], monitor: monitor) { presenter, program in
      #expect(await taps(presenter).count == 1)
      let text = try String(contentsOfFile: program + "-processes", encoding: .utf8)
      let processes = text.split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
      try #require(processes.count == 2)
      defer { if !Self.hasEnded(processes[1]) { kill(processes[1], SIGKILL) } }
      try await eventually("it is reaped") { !FileManager.default.fileExists(atPath: "/proc/\(processes[0])") }
      try await eventually("its child has ended") { Self.hasEnded(processes[1]) }
    }
  }

  /// Whether a process has ended. Nobody may have reaped it yet.
  private static func hasEnded(_ process: Int32) -> Bool {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
    return status.contains(") Z ")
  }

  @Test("that does not answer to a withdrawal has withdrawn nothing")
  func silentWithdrawal() async throws {
    let clock = ManualClock()
    let patterns = #"*CloseNotification*) : >"$0-closing"; exec /bin/sleep 600;;"#
    try await with(patterns: patterns, clock: clock) { presenter, program in
      let withdrawing = Task { try await presenter.withdraw("bus bus 7") }
      try await eventually("it is called") {
        FileManager.default.fileExists(atPath: program + "-closing") && clock.sleeping == [5]
      }
      clock.advance(by: 5)
      let failure = await #expect(throws: DesktopNotifications.Failure.self) { try await withdrawing.value }
      #expect(failure?.description == "the desktop's notification service does not answer")
    }
  }

  @Test("and its answers are checked: the reason of a failure is one sentence")
  func failures() async throws {
    func reason(_ reply: String, _ interpreter: String = "/bin/sh") async throws -> String? {
      var failure: DesktopNotifications.Failure?
      try await with(reply: reply) { presenter, program in
        let text = try String(contentsOfFile: program, encoding: .utf8)
        try Data(text.replacing("/bin/sh", with: interpreter).utf8).write(to: URL(filePath: program))
        failure = await #expect(throws: DesktopNotifications.Failure.self) {
          _ = try await presenter.present(NotificationRequest(identifier: "tide", title: "High water"))
        }
      }
      return failure?.description
    }
    #expect(try await reason("no JSON") == "the session bus has sent an answer that cannot be read")
    #expect(try await reason("", "/nowhere/sh")?.hasPrefix("cannot run /") == true)
  }

  @Test("leaves no pipe open if it cannot be started any more to listen for taps")
  func vanished() async throws {
    try await with(patterns: #"*GetId*) /bin/rm "$0";;"#) { presenter, program in
      let (before, text) = (pipes(), try Data(contentsOf: URL(filePath: program)))
      for _ in 0..<50 {
        try text.write(to: URL(filePath: program))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        #expect(await taps(presenter) == [])
        try #require(!FileManager.default.fileExists(atPath: program))
      }
      // Other tests may run programs meanwhile.
      try await eventually("they are closed") { pipes() < before + 40 }
    }
  }

  @Test("leaves no pipe open")
  func openPipes() async throws {
    try await with { presenter, _ in
      let before = pipes()
      for _ in 0..<50 {
        _ = try await presenter.present(NotificationRequest(identifier: "tide", title: "High water"))
        #expect(await taps(presenter) == [])
      }
      // Other tests may run programs meanwhile.
      try await eventually("they are closed") { pipes() < before + 40 }
    }
  }
}
