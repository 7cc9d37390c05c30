import BackgroundFetch
import FaultServer
import Foundation
import News
import NewsClient
import TestKit
import Testing

@Suite("A push that has launched an app") struct PushLaunchTests {
  /// The record of a launch.
  private struct Launch: Decodable {
    var process: Int32

    /// Whether the program has ended. Nobody may have reaped it yet.
    var isOver: Bool {
      guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
      return status.contains(") Z ")
    }
  }

  @Test("is handled by the sender if the program cannot be started, which is logged")
  func missingApp() async throws {
    try await Installation.with { installation in
      let log = Reports()
      let sender = try installation.machineClient(log)
      try sender.setLaunchCommand(["/nowhere/app"])
      installation.feed.publish("one")
      let push = #"{"aps":{"content-available":1},"push":"\#(UUID())","token":"\#(installation.feed.token())"}"#
      #expect(await sender.deliver(Data(push.utf8)).inserted == 1)
      #expect(log.texts.count == 1, "\(log.texts)")
      #expect(log.texts.first?.hasPrefix("cannot launch the app: ") == true, "\(log.texts)")
      let folder = installation.folder.appending(path: "pushes").path
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }
  }

  @Test(
    "is handled by the sender if the app has ended after 5 s, or has not received pushes within 10 s",
    arguments: [(["/bin/true"], 5.0), (["/bin/sleep", "600"], 10.0)])
  func idleApp(command: [String], seconds: Double) async throws {
    try await Installation.with { installation in
      let (sender, clock, reports) = (try installation.client(), installation.clock, Reports())
      try sender.setLaunchCommand(command)
      installation.feed.publish("one")
      let push = #"{"aps":{"content-available":1},"push":"\#(UUID())","token":"\#(installation.feed.token())"}"#
      let start = clock.now
      let delivery = Task { reports.add(await sender.deliver(Data(push.utf8))) }
      let record = installation.folder.appending(path: "launched.json")
      var launch: Launch?
      defer { if let launch, !launch.isOver { kill(launch.process, SIGKILL) } }
      try await eventually("the app was launched") {
        launch = (try? Data(contentsOf: record)).flatMap { try? JSONDecoder().decode(Launch.self, from: $0) }
        return launch.map { $0.isOver == (seconds == 5) } ?? false
      }
      try await eventually("the sender has handled it") {
        // Each step waits for the check after the previous one.
        if clock.sleeping.contains(where: { $0 <= 0.5 }) { clock.advance(by: 0.5) }
        return reports.all.count == 1
      }
      await delivery.value
      #expect(reports.all.map(\.inserted) == [1])
      #expect(seconds...seconds + 1 ~= clock.now.seconds(since: start))
    }
  }
}
