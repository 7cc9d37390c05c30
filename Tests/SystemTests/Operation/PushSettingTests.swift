import FaultServer
import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The settings of devices and pushes, as a running server applies them.
@Suite(.enabled(if: PushInstallation.isPossible, "needs openssl")) struct PushSettingTests {
  private static func publish(_ server: RunningServer, _ key: String) async throws {
    let item = try await server.send("POST", "/v1/editorial/items", key: key, body: #"{"text": "x"}"#)
    try #require(item.status == 201)
  }

  @Test(
    "Registrations end at the number of devices, and at the number from an address within a minute",
    arguments: ["TIDINGS_DEVICE_LIMIT", "TIDINGS_DEVICE_RATE"])
  func registrations(name: String) async throws {
    try await PushInstallation.with { push in
      try await push.installation.serve(changes: push.settings.merging([name: "2"]) { $1 }) { server in
        var statuses: [Int] = []
        for number in 1...3 {
          let body = #"{"provider": "fcm", "token": "device-\#(number)"}"#
          statuses.append(try await server.send("POST", "/v1/devices", body: body).status)
        }
        #expect(statuses == [201, 201, 429])
      }
    }
  }

  @Test("A device is woken as often within an hour as the setting says, and the metrics have the delays")
  func budget() async throws {
    try await PushInstallation.with { push in
      let installation = push.installation
      let key = try await installation.makeKey()
      try await push.register(1)
      try await installation.serve(changes: push.settings.merging(["TIDINGS_PUSH_BUDGET": "1"]) { $1 }) { server in
        try await Self.publish(server, key)
        try await eventually("the device is woken") {
          try await installation.value(
            "SELECT count(*) FROM deliveries WHERE due_at IS NULL AND lease IS NULL AND cardinality(sent) = 1") == 1
        }
        let metrics = try await server.send("GET", "/metrics").text
        #expect(metrics.contains("\ntidings_push_delay_seconds_count{provider=\"fcm\"} 1\n"))
        try await Self.publish(server, key)
        try await eventually("the next message waits") {
          try await installation.value(
            "SELECT count(*) FROM deliveries WHERE due_at > now() + interval '50 minutes'") == 1
        }
        #expect(push.messages.count == 1)
      }
    }
  }

  @Test("Publications within the window of the setting become one push")
  func window() async throws {
    try await PushInstallation.with { push in
      let installation = push.installation
      let key = try await installation.makeKey()
      try await push.register(1)
      try await installation.serve(changes: push.settings.merging(["TIDINGS_PUSH_WINDOW": "3600"]) { $1 }) { server in
        for _ in 0..<2 { try await Self.publish(server, key) }
        try await eventually("both items are noticed") {
          try await installation.value("SELECT count(*) FROM outbox") == 0
        }
        let waiting = try await installation.value(
          "SELECT count(*) FROM pushes WHERE starts_at > now() + interval '50 minutes'", as: Int.self)
        let all = try await installation.value("SELECT count(*) FROM pushes", as: Int.self)
        #expect(waiting == 1 && all == 1)
      }
    }
  }
}

/// The events of items, as a running server sends them to webhooks.
@Suite struct WebhookSettingTests {
  @Test("A request to a webhook names the installation, and a redirect of its receiver is not followed")
  func webhook() async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 307, headers: [("Location", "/other")]) }) { receiver in
      try await Installation.with { installation in
        let key = try await installation.makeKey(scopes: ["admin", "items:publish"])
        let settings = [
          "TIDINGS_ALLOWED_NETWORKS": "127.0.0.1", "TIDINGS_ALLOW_PLAIN_HTTP": "true",
          "TIDINGS_PUBLIC_URL": "https://news.example/",
        ]
        try await installation.serve(changes: settings) { server in
          let made = try await server.send(
            "POST", "/v1/editorial/webhooks", key: key, body: #"{"url": "\#(receiver.url)/hook"}"#)
          try #require(made.status == 201, "\(made.text)")
          let item = try await server.send("POST", "/v1/editorial/items", key: key, body: #"{"text": "x"}"#)
            .json(EditorialItem.self, status: 201).item
          try await eventually("the outcome is recorded") {
            try await installation.value("SELECT count(*) FROM webhook_attempts WHERE status = 307") == 1
          }
          let request = try #require(receiver.requests.first)
          #expect(receiver.requests.allSatisfy { $0.path == "/hook" })
          #expect(request["User-Agent"] == "Tidings/\(TidingsVersion.current) (+https://news.example)")
          let url = "https://news.example/v1/items/\(item.id.uuidString.lowercased())"
          #expect(String(decoding: request.body, as: UTF8.self).contains(#""url":"\#(url)""#))
        }
      }
    }
  }
}
