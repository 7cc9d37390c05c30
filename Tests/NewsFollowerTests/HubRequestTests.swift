import FaultServer
import Foundation
import News
import NewsFollower
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The limits of requests to the hubs of followed feeds.
@Suite struct HubRequestTests {
  @Test("Four requests at a time are sent to hubs, and each belongs to its process for three minutes")
  func width() async throws {
    try await Hubs.with { hubs in
      for number in 0..<8 { _ = try await hubs.follow("/\(number)") }
      _ = hubs.web.takeRequests()
      // The fifth request is sent after the first one.
      hubs.web.respond(next: FaultResponse(status: 202))
      hubs.web.respond { _ in FaultResponse(status: 202).hanging(at: .start) }
      async let sent: Double? = hubs.subscriber.sendDue()
      var count = 0
      try await eventually("the sixth request waits, and goes on waiting") {
        let leased = try await hubs.sql.query(
          "SELECT 1 FROM hub_leases WHERE lease IS NOT NULL AND leased_until = asked_at + interval '3 minutes'")
        count = leased.count == 4 && hubs.web.requests.count == 5 ? count + 1 : 0
        return count == 3
      }
      hubs.web.respond { _ in FaultResponse(status: 202) }
      hubs.web.release()
      _ = try await sent
      #expect(hubs.web.requests.map(\.path) == Array(repeating: "/hub", count: 8))
    }
  }

  @Test("The end of a lease that a hub never confirms is requested five times")
  func unconfirmedEnd() async throws {
    try await Hubs.with { hubs in
      let id = try await hubs.follow()
      let request = try #require(try await hubs.send().first)
      #expect(try await hubs.verify(request).status == 200)
      try await hubs.store.removeSubscription(id, if: .exists)
      var modes: [String?] = []
      for _ in 0..<8 {
        modes += try await hubs.send().map(\.mode)
        hubs.advance(7200)
      }
      #expect(modes == Array(repeating: "unsubscribe", count: 5))
      #expect(try await hubs.sql.query("SELECT 1 FROM hub_leases").isEmpty)
    }
  }

  @Test("The failure of a hub is described in 1,000 characters at most")
  func longMessage() async throws {
    try await Hubs.with { hubs in
      // Nothing is sent to this address, because it is not allowed. The reason names it.
      hubs.serve(Hubs.feed(["a"], hubs: ["http://1.1.1.1/" + String(repeating: "a", count: 1500)]))
      let id = try await hubs.follow()
      #expect(try await hubs.send().isEmpty)
      let error = try await hubs.websub(id)?.error
      #expect(error?.count == 1000 && error?.hasPrefix("http://1.1.1.1/aaa") == true, "\(error ?? "")")
    }
  }
}
