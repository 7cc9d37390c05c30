import FaultServer
import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

extension FaultTests {
  /// Ends the claims of processes that have died, as time does.
  private static func endClaims(of table: PostgresQuery, _ installation: Installation) async throws {
    _ = try await installation.sql.query(
      "UPDATE \(query: table) SET due_at = clock_timestamp() WHERE lease IS NOT NULL")
  }

  private static func publish(_ count: Int, _ server: RunningServer, _ key: String) async throws {
    for number in 0..<count {
      let item = try await server.send("POST", "/v1/editorial/items", key: key, body: #"{"text": "\#(number)"}"#)
      try #require(item.status == 201)
    }
  }

  @Test(
    "One of two servers is killed while both wake devices: none misses its push, and few receive it twice",
    .enabled(if: PushInstallation.isPossible, "needs openssl"))
  func killedSender() async throws {
    try await PushInstallation.with { push in
      let count = Self.runsLongTests ? 5000 : 2000
      let installation = push.installation
      try await push.register(count)
      let key = try await installation.makeKey()
      try await installation.serve(changes: push.settings) { victim in
        try await installation.serve(changes: push.settings) { survivor in
          try await Self.publish(1, survivor, key)
          try await eventually("a quarter of the messages is sent") { push.messages.count >= count / 4 }
          await victim.process.kill()
          try await eventually("all devices are fanned out to") {
            try await installation.value("SELECT count(*) FROM pushes WHERE fanned_out_at IS NOT NULL") == 1
          }
          try await eventually("the survivor has sent what it can") {
            try await installation.value(
              "SELECT count(*) FROM deliveries WHERE due_at IS NOT NULL AND lease IS NULL", as: Int.self) == 0
          }
          // It records the outcomes of its messages before it ends.
          survivor.process.send(SIGTERM)
          #expect(await survivor.process.result().status == 0)
        }
      }
      let claimed = try await installation.sql.query(
        "SELECT d.address FROM deliveries AS o JOIN devices AS d ON d.id = o.device WHERE o.due_at IS NOT NULL"
      ).map { try $0.decode("address", as: String.self) }
      try await Self.endClaims(of: "deliveries", installation)
      try await installation.serve(changes: push.settings) { _ in
        try await eventually("nothing is owed") {
          try await installation.value("SELECT count(*) FROM deliveries WHERE due_at IS NOT NULL", as: Int.self) == 0
        }
      }
      var received: [String: Int] = [:]
      for message in push.messages {
        let token = try #require(message.firstMatch(of: /"token":"(device-[0-9]+)"/)).1
        received[String(token), default: 0] += 1
      }
      #expect(received.count == count)
      let repeated = received.filter { $0.value > 1 }
      // Nobody knows whether the messages of the victim have arrived. All others have one.
      #expect(Set(repeated.keys).isSubset(of: claimed) && repeated.values.allSatisfy { $0 == 2 })
      Self.report(
        "kill -9 of one of two servers that wake \(count) devices",
        promised: "each device receives its push; those under way may arrive twice",
        seen: "\(received.count) devices, none without its push, \(repeated.count) with two")
    }
  }

  @Test("One of two servers is killed while both send webhooks: each event arrives, those under way twice with one id")
  func killedWebhookSender() async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 204) }) { receiver in
      try await Installation.with { installation in
        let settings = ["TIDINGS_ALLOWED_NETWORKS": "127.0.0.0/8 ::1", "TIDINGS_ALLOW_PLAIN_HTTP": "true"]
        let key = try await installation.makeKey(scopes: ["admin", "items:publish"])
        let slow = Count()
        receiver.respond { request in
          // The first request has arrived, but the sender never learns so.
          request.path == "/slow" && slow.next() == 1 ? FaultResponse().hanging(at: .start) : FaultResponse(status: 204)
        }
        let events = Self.runsLongTests ? 500 : 40
        try await installation.serve(changes: settings) { victim in
          for address in ["127.0.0.1:\(receiver.port)/slow", "localhost:\(receiver.port)/fast"] {
            let body = #"{"url": "http://\#(address)"}"#
            let made = try await victim.send("POST", "/v1/editorial/webhooks", key: key, body: body)
            try #require(made.status == 201, "\(made.text)")
          }
          try await Self.publish(events / 2, victim, key)
          try await eventually("a request hangs") { slow.value == 1 }
          try await installation.serve(changes: settings) { survivor in
            try await Self.publish(events / 2, survivor, key)
            try await eventually("events arrive") { receiver.requests.count { $0.path == "/fast" } >= events / 4 }
            await victim.process.kill()
            survivor.process.send(SIGTERM)
            #expect(await survivor.process.result().status == 0)
          }
        }
        let claimed = try await installation.sql.query("SELECT id FROM webhook_deliveries WHERE lease IS NOT NULL")
          .map { try $0.decode("id", as: UUID.self).uuidString.lowercased() }
        #expect(1...2 ~= claimed.count)
        try await Self.endClaims(of: "webhook_deliveries", installation)
        try await installation.serve(changes: settings) { _ in
          try await eventually("all events have arrived") {
            let delivered = try await installation.value(
              "SELECT count(*) FROM webhook_deliveries WHERE state = 'delivered'", as: Int.self)
            return delivered == 2 * events
          }
        }
        let ids = receiver.requests.compactMap { $0["webhook-id"] }
        let received = Dictionary(grouping: ids) { $0 }.mapValues(\.count)
        #expect(received.count == 2 * events)
        let repeated = received.filter { $0.value > 1 }
        // The survivor gives back a request that its own end cuts short, which may have arrived.
        #expect(Set(repeated.keys).subtracting(claimed).count <= 1 && repeated.values.allSatisfy { $0 == 2 })
        let hung = try #require(receiver.requests.first { $0.path == "/slow" }?["webhook-id"])
        #expect(repeated[hung] == 2)
        Self.report(
          "kill -9 of one of two servers that send \(2 * events) events to webhooks",
          promised: "each event arrives; those under way may arrive twice, with the same `webhook-id`",
          seen: "\(received.count) events, none lost, \(repeated.count) twice")
      }
    }
  }
}
