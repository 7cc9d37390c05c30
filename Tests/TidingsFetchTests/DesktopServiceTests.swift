import BackgroundFetch
import Foundation
import NewsClient
import TestKit
import TestSupport
import Testing

@Suite(
  "A presenter of notifications on a desktop",
  .enabled(if: Desktop.isInstalled, "needs dbus-daemon and busctl: apt-get install dbus python3-dbus python3-gi"))
struct DesktopServiceTests {
  private static let request = NotificationRequest(identifier: "tide", title: "High water")

  @Test("uses the service that runs, and neither replaces nor closes what another one has shown")
  func restarted() async throws {
    try await Desktop.with { desktop in
      let presenter = desktop.presenter()
      let shown = try await desktop.run(.plain) { try await presenter.present(Self.request) }
      let former = try #require(shown)
      // A service that has ended has closed nothing.
      await #expect(throws: DesktopNotifications.Failure.self) { try await presenter.withdraw(former) }
      try await desktop.run(.markup) {
        #expect(try await presenter.replace(former, with: Self.request) == nil)
        try await presenter.withdraw(former)
        let handle = try await presenter.present(Self.request) ?? ""
        let parts = handle.split(separator: " ")
        try #require(parts.count == 3)
        #expect(try await presenter.replace("other \(parts[1]) \(parts[2])", with: Self.request) == nil)
        #expect(try await presenter.replace(handle, with: Self.request) == handle)
        try await presenter.withdraw(handle)
      }
      // The presenter still knows the service that has ended.
      let last = try await desktop.run(.plain) { try await presenter.present(Self.request) }
      #expect(last != nil)
      #expect(desktop.calls.map(\.method) == ["Notify", "Notify", "Notify", "CloseNotification", "Notify"])
      #expect(desktop.calls.map(\.replaces) == [0, 0, 1, 0, 0])
    }
  }

  @Test("takes what the service does not answer within five seconds for shown, so that it is not shown twice")
  func silence() async throws {
    try await Desktop.with { desktop in
      let clock = ManualClock()
      let presenter = desktop.presenter(clock: clock)
      try await desktop.run(.silent) {
        let showing = Task { try await presenter.present(Self.request) }
        try await eventually("the service has the call") { desktop.calls.count == 1 && clock.sleeping == [5] }
        clock.advance(by: 5)
        #expect(try await showing.value == nil)
        let cancelled = Task { try await presenter.present(Self.request) }
        try await eventually("it calls again") { Self.callers(of: desktop, "Notify") == 1 }
        cancelled.cancel()
        try await eventually("a call that is cancelled ends at once") { Self.callers(of: desktop, "Notify") == 0 }
      }
    }
  }

  @Test("takes a replacement that the service does not answer for made, so that nothing is shown beside it")
  func silentReplacement() async throws {
    try await Desktop.with { desktop in
      let clock = ManualClock()
      let presenter = desktop.presenter(clock: clock)
      try await desktop.run(.silentLater) {
        let handle = try #require(try await presenter.present(Self.request))
        let replacing = Task { try await presenter.replace(handle, with: Self.request) }
        try await eventually("the service has the call") { desktop.calls.count == 2 && clock.sleeping == [5] }
        clock.advance(by: 5)
        #expect(try await replacing.value == handle)
      }
    }
  }

  @Test("ends the program that listens for taps once nobody wants them any more")
  func listening() async throws {
    try await Desktop.with { desktop in
      let presenter = desktop.presenter()
      let listening = Task { for await _ in presenter.taps() {} }
      try await eventually("it listens") { Self.callers(of: desktop, "monitor") == 1 }
      listening.cancel()
      await listening.value
      try await eventually("the program has ended") { Self.callers(of: desktop, "monitor") == 0 }
    }
  }

  /// Returns the number of running programs that call or listen to a bus.
  private static func callers(of desktop: Desktop, _ word: String) -> Int {
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return processes.count { process in
      let command = (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)) ?? ""
      guard command.contains("busctl"), command.contains(word) else { return false }
      let variables = (try? String(contentsOfFile: "/proc/\(process)/environ", encoding: .utf8)) ?? ""
      return variables.contains(desktop.address)
    }
  }

  @Test("limits the texts of a request, and shows buttons where the desktop has them", arguments: [true, false])
  func texts(hasButtons: Bool) async throws {
    try await Desktop.with { desktop in
      let presenter = desktop.presenter()
      try await desktop.run(hasButtons ? .markup : .plain) {
        for (letter, title, body) in [("y", 120, 1000), ("y", 121, 1001), ("e\u{301}", 120, 1000)] {
          var request = NotificationRequest(
            identifier: "tide", title: String(repeating: "x", count: title),
            body: "first\u{1B}\n" + String(repeating: letter, count: body - 6), urgency: .low,
            category: "x-tests.\u{1B}tide")
          request.actions = [.init(identifier: "later", title: "La\u{1B}ter")]
          _ = try await presenter.present(request)
        }
      }
      let title = String(repeating: "x", count: 120)
      #expect(desktop.calls.map(\.summary) == [title, String(repeating: "x", count: 119) + "…", title])
      let bodies = [
        String(repeating: "y", count: 994), String(repeating: "y", count: 993) + "…",
        String(repeating: "e\u{301}", count: 994),
      ]
      #expect(desktop.calls.map(\.body) == bodies.map { "first\n" + $0 })
      let actions = hasButtons ? ["default", "Open", "later", "Later"] : []
      #expect(desktop.calls.map(\.actions) == [actions, actions, actions])
      let hints = ["urgency": "0", "category": "x-tests.tide"]
      #expect(desktop.calls.map(\.hints) == [hints, hints, hints])
    }
  }

  @Test("looks for the bus of the session in the folder of the user too")
  func folder() async throws {
    try await withFolder(["with/bus": "", "without/other": ""]) { folder in
      for (name, isMissing) in [("with", false), ("without", true)] {
        let environment = ["XDG_RUNTIME_DIR": folder.appending(path: name).path, "PATH": "/usr/bin:/bin"]
        let presenter = DesktopNotifications(name: "Tests", environment: environment)
        // The file is no socket, so the bus does not answer.
        let failure = await #expect(throws: DesktopNotifications.Failure.self) {
          _ = try await presenter.present(Self.request)
        }
        #expect(failure?.description.hasPrefix("there is no session bus") == isMissing, "\(name)")
      }
      let environment = ["XDG_RUNTIME_DIR": folder.appending(path: "with").path]
      let failure = await #expect(throws: DesktopNotifications.Failure.self) {
        _ = try await DesktopNotifications(name: "Tests", environment: environment).present(Self.request)
      }
      #expect(failure?.description.hasPrefix("the desktop shows no notifications: ") == true, "there is a default path")
    }
  }
}
