import FaultServer
import Foundation
import News
import TestKit
import TestSupport
import Testing

@Suite(
  "The first steps with notifications in docs/client.md",
  .enabled(if: Desktop.isInstalled, "needs dbus-daemon and busctl: apt-get install dbus python3-dbus python3-gi"))
struct FirstStepsTests {
  @Test("lead from nothing to a timer and to a notification for a breaking item")
  func firstSteps() async throws {
    let feed = FaultFeed()
    feed.publish("old", title: "Old")
    try await Desktop.with { desktop in
      try await FaultServer.with(feed.respond) { server in
        try await withFolder([:]) { home in
          let tool = ChildProcess.tidings + "-fetch"
          let environment = [
            "HOME": home.path, "PATH": "/usr/bin:/bin", "TZ": "UTC", "DBUS_SESSION_BUS_ADDRESS": desktop.address,
          ]
          @Sendable func news(_ line: String) async throws -> ChildProcess.Result {
            try await ChildProcess(
              line.split(separator: " ").map(String.init), executable: tool, environment: environment
            )
            .result()
          }
          try await desktop.run(.markup) {
            #expect(try await news("--server \(server.url) fetch").status == 0)
            #expect(try await news("notify test --notify").status == 0)
            #expect(desktop.calls.map(\.summary) == ["Old"])
            #expect(try await news("schedule set minimum").status == 0)
            #expect(try await news("schedule install --notify --no-start").status == 0)
            let units = home.appending(path: ".config/systemd/user")
            let service = try String(contentsOf: units.appending(path: "tidings-fetch.service"), encoding: .utf8)
            let command = try #require(service.firstMatch(of: /ExecStart=(.*)/)).1
            // The quotes of a unit are those of the shell as well.
            let tick = try await ChildProcess(["-c", String(command)], executable: "/bin/sh", environment: environment)
              .result()
            #expect(tick.status == 10, "\(tick.errors)")
            #expect(tick.errors == "")
            feed.publishBreaking("Flood")
            feed.publish("text", title: "Other")
            // The schedule has its first wake later; this is the same wake now.
            #expect(try await news("simulate fetch").status == 0)
            #expect(desktop.calls.map(\.summary) == ["Old", "Flood", "Other"])
            #expect(desktop.calls.first { $0.summary == "Flood" }?.hints["urgency"] == "2")
            // An item that is read meanwhile raises nothing.
            let item = feed.publishBreaking("Storm")
            #expect(try await news("read --all").status == 0)
            #expect(try await news("fetch --no-notify").status == 0)
            #expect(try await news("read \(item.id.uuidString)").status == 0)
            #expect(try await news("fetch").status == 10)
            #expect(desktop.calls.count == 3)
          }
        }
      }
    }
  }
}
