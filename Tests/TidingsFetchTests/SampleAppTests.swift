import FaultServer
import Foundation
import News
import TestKit
import TestSupport
import Testing

@Suite(
  "The sample app",
  .enabled(if: Desktop.isInstalled, "needs dbus-daemon and busctl: apt-get install dbus python3-dbus python3-gi"))
struct SampleAppTests {
  @Test("stays current by itself, and shows a breaking item on the desktop, also after a restart")
  func notification() async throws {
    let feed = FaultFeed()
    feed.publish("old", title: "Old")
    try await Desktop.with { desktop in
      try await FaultServer.with(feed.respond) { server in
        try await withFolder([:]) { folder in
          try await desktop.run(.markup) {
            for title in ["Flood", "Storm"] {
              let app = try ChildProcess(
                [server.url, folder.appending(path: "store").path],
                executable: URL(filePath: ChildProcess.tidings).deletingLastPathComponent()
                  .appending(path: "sample-app").path,
                environment: ["PATH": "/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS": desktop.address])
              try await withResource(app, release: { await $0.kill() }) { _ in
                try await eventually("the app follows the server") {
                  server.requests.contains { $0.path == "/v1/events" }
                }
                feed.publishBreaking(title)
                try await eventually("the desktop shows the item") { desktop.calls.last?.summary == title }
              }
              _ = server.takeRequests()
            }
          }
          #expect(desktop.calls.map(\.summary) == ["Flood", "Storm"])
          #expect(desktop.calls.allSatisfy { $0.hints["urgency"] == "2" })
        }
      }
    }
  }
}
