import Foundation
import News
import PostgresClient
import PushMocks
import Synchronization
import TestKit
import TestSupport
import Testing

/// The button for notifications of the pages for readers, and the service worker, in Chromium. The push service is a mock,
/// and what it has received is delivered by DevTools. Notifications are shown on a desktop of the test, which clicks on
/// them.
@Suite(.enabled(if: BrowserDriver.runsAllTests || BrowserDriver.isInstalled, "needs Chromium and packages of PyPI"))
struct BrowserNotificationTests {
  /// A scenario, and the folder that its driver shares with the test.
  private struct Scenario {
    let driver: BrowserDriver
    let folder: URL

    /// All devices: state, kind, alerts, topics, languages, time zone, and whether each has an endpoint.
    func devices(at endpoint: String) async throws -> String {
      try await driver.installation.value(
        """
        SELECT coalesce(string_agg(concat_ws(' ', state, kind, alerts, coalesce(array_to_string(topics, '+'), 'all'),
          array_to_string(languages, '+'), time_zone, address = \(endpoint)), ', '), 'none') FROM devices
        """)
    }

    /// Waits for a step of the driver, checks the devices after it, and lets the driver go on.
    func check(_ step: String, at endpoint: String, _ expected: String) async throws {
      let done = folder.appending(path: "\(step).done").path
      // The driver has a time limit, and its end ends this loop.
      while !FileManager.default.fileExists(atPath: done) { try await Task.sleep(for: .milliseconds(20)) }
      try await eventually("after “\(step)”: \(expected)") { try await devices(at: endpoint) == expected }
      try Data().write(to: folder.appending(path: "\(step).checked"))
    }

    /// Runs the driver and the checks beside each other. The first error ends both.
    func run(_ name: String, _ checks: @escaping @Sendable () async throws -> Void) async throws -> [BrowserDriver.Step]
    {
      try await withThrowingTaskGroup(of: [BrowserDriver.Step].self) { group in
        group.addTask { try await driver.run(name) }
        group.addTask {
          try await checks()
          return []
        }
        var steps: [BrowserDriver.Step] = []
        for try await result in group { steps += result }
        return steps
      }
    }
  }

  /// Runs the body with a driver whose server sends to a mock, which writes what it has received into the folder.
  private static func with(
    _ name: String, settings: [String: String] = [:],
    _ body: @escaping @Sendable (Scenario, _ subscriptions: [MockSubscription]) async throws -> Void
  ) async throws {
    try await withFolder([:]) { folder in
      let received = Mutex(0)
      try await PushMocks.with({ configuration in
        configuration.observer = { _, event in
          guard case .accepted(let message) = event else { return }
          let number = received.withLock { count in
            count += 1
            return count
          }
          try? message.payload.write(to: folder.appending(path: "message-\(number).json"), options: .atomic)
        }
      }) { mocks in
        try Data(mocks.authority.utf8).write(to: folder.appending(path: "ca.pem"))
        let key = folder.appending(path: "vapid.pem")
        try Data(mocks.webPush.keyPEM.utf8).write(to: key)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
        let subscriptions = [mocks.webPush.subscribe(), mocks.webPush.subscribe()]
        let delivery = [
          "TIDINGS_VAPID_KEY_FILE": key.path, "TIDINGS_VAPID_SUBJECT": "mailto:news@example.org",
          "TIDINGS_PUSH_CA_FILE": folder.appending(path: "ca.pem").path,
          "TIDINGS_PUSH_ORIGINS": mocks.webPush.url,
        ]
        try await BrowserDriver.with(name, settings: delivery.merging(settings) { $1 }) { driver in
          var driver = driver
          driver.programSettings = [
            "FOLDER": folder.path, "SUBSCRIPTIONS": "[\(subscriptions.map(\.json).joined(separator: ","))]",
          ]
          try await body(Scenario(driver: driver, folder: folder), subscriptions)
        }
      }
    }
  }

  @Test("A reader asks for notifications of a topic, receives an alert, opens its item by a click, and ends them")
  func notifications() async throws {
    try await Self.with("notifications") { scenario, subscriptions in
      let (first, second) = (subscriptions[0].endpoint, subscriptions[1].endpoint)
      let rest = "en Europe/Berlin t"
      let steps = try await scenario.run("notifications") {
        try await scenario.check("refused", at: first, "none")
        try await scenario.check("subscribed", at: first, "pending browser t harbour \(rest)")
        try await scenario.check("confirmed", at: first, "active browser t harbour \(rest)")
        try await scenario.check("added", at: first, "active browser t harbour+sport \(rest)")
        try await scenario.check("taken away", at: first, "active browser t harbour \(rest)")
        try await scenario.check("everything", at: first, "active browser t all \(rest)")
        try await scenario.check("changed", at: second, "pending browser t all \(rest)")
        try await scenario.check("stopped", at: first, "none")
        try await scenario.check("subscribed again", at: first, "pending browser t harbour \(rest)")
        try await scenario.check("withdrawn", at: first, "none")
      }
      #expect(steps.map(\.step).contains("opened") && steps.last?.step == "withdrawn")
    }
  }

  @Test("A server that accepts no more registrations asks the reader to try again later")
  func crowd() async throws {
    try await Self.with("crowd", settings: ["TIDINGS_DEVICE_RATE": "1"]) { scenario, subscriptions in
      let steps = try await scenario.run("crowd") {
        try await scenario.check("refused", at: subscriptions[0].endpoint, "none")
      }
      #expect(steps.map(\.step) == ["refused"])
    }
  }
}
