import BackgroundFetch
import FaultServer
import Foundation
import News
import NewsClient
import TestKit
import Testing

@Suite("A remote notification") struct NotificationTests {
  @Test("fetches its token, and sends no request if the store has reached it")
  func token() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      let item = feed.publish("two", topics: ["sport"])
      let payload = """
        {"aps":{"content-available":1},"content-id":"\(item.id)","token":"\(feed.token(topics: ["sport"]))"}
        """
      _ = installation.requests()
      let report = await client.receive(RemoteNotification(payload: Data(payload.utf8)))
      #expect(report.inserted == 1)
      let request = try #require(installation.server.takeRequests().first)
      #expect(request.query["at"] != nil)
      let again = await client.receive(RemoteNotification(payload: Data(payload.utf8)))
      #expect(again.result == .noData && again.badge == 2)
      #expect(installation.requests() == [])
    }
  }

  @Test(
    "of another kind is ignored",
    arguments: [
      "", "{}", "[]", "null", #"{"aps":1}"#, #"{"aps":{}}"#, #"{"aps":{"content-available":0}}"#,
      #"{"aps":{"content-available":"1"}}"#, #"{"content-available":1}"#, #"{"aps":{"alert":"x"},"token":7}"#,
    ])
  func others(payload: String) async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      #expect(await client.receive(RemoteNotification(payload: Data(payload.utf8))).result == .noData)
      #expect(installation.requests() == [])
    }
  }

  @Test("with an unknown item or a token of another epoch causes a fetch")
  func unknown() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      _ = installation.requests()
      for extra in [#""content-id":7"#, #""content-id":"\#(UUID())""#, #""token":"1zzzzzz00000.9""#] {
        let payload = #"{"aps":{"content-available":1},\#(extra)}"#
        #expect(await client.receive(RemoteNotification(payload: Data(payload.utf8))).result == .noData)
      }
      #expect(installation.requests() == Array(repeating: "*/v1/changes", count: 3), "no list is transferred again")
      try installation.expectEqual(client)
    }
  }

  @Test("wakes a sleeping app at most three times an hour; further ones are combined later")
  func budget() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      var requests = 0
      for _ in 0..<10 { requests += await client.receive(RemoteNotification()).requests }
      #expect(requests == 3)
      #expect(try client.schedule.pushDelay(at: installation.clock.now) == .seconds(3600))
    }
  }

  @Test("over the limit is made up for by the next allowed wake, once")
  func madeUpFor() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      try client.updateSchedule { $0.setInterval(.duration(.seconds(86_400))) }
      await client.performFetch(.scheduled)
      for _ in 0..<4 { await client.receive(RemoteNotification()) }
      installation.feed.publish("one")
      guard case .wait(let date, .push) = try client.decision() else {
        Issue.record("the push is forgotten")
        return
      }
      installation.clock.advance(by: date.timeIntervalSince(installation.clock.now.date))
      #expect(try client.decision() == .wake(.push, sources: []))
      #expect(await client.performFetch(.push).inserted == 1)
      #expect(try client.schedule.pushDelay(at: installation.clock.now) == nil)
      guard case .wait = try client.decision() else {
        Issue.record("it is made up for again")
        return
      }
    }
  }
}
