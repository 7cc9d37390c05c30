import BackgroundFetch
import FaultServer
import Foundation
import GRDB
import HTTPTransfer
import News
import NewsClient
import Synchronization
import TestKit
import Testing

@Suite("A wake by a push") struct PushWakeTests {
  private func push(_ id: UUID = UUID(), token: SyncToken? = nil, contentID: UUID? = nil) -> RemoteNotification {
    RemoteNotification(contentID: contentID, token: token, id: id)
  }

  @Test("does not follow from a push that was received before, by whichever process")
  func duplicates() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      let id = UUID()
      #expect(await client.receive(push(id)).requests == 1)
      for again in [client, try installation.client()] {
        #expect(await again.receive(push(id)).result == .noData)
      }
      #expect(installation.requests().count == 1)
      // The third one in this hour is allowed, so the duplicates were not counted.
      for _ in 0..<2 { #expect(await client.receive(push()).requests == 1) }
      #expect(await client.receive(push()).requests == 0)
    }
  }

  @Test("fetches all items again if the store was deleted meanwhile, whatever token it had")
  func deletedStore() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      for name in ["news.sqlite", "news.sqlite-wal", "news.sqlite-shm"] {
        try? FileManager.default.removeItem(at: installation.folder.appending(path: name))
      }
      #expect(await client.receive(push(token: installation.feed.token())).inserted == 1)
      try installation.expectEqual(client)
    }
  }

  @Test("fails without a request if the push cannot be recorded")
  func unrecorded() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      await client.performFetch()
      _ = installation.requests()
      try await DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path).write { db in
        try db.execute(sql: "CREATE TRIGGER refusal BEFORE INSERT ON state BEGIN SELECT RAISE(ABORT, 'refused'); END")
      }
      let report = await client.receive(push())
      #expect(report.result == .failed && report.error != nil)
      #expect(installation.requests() == [])
    }
  }

  @Test("whose fetch fails is logged if it cannot be stored that it is pending")
  func unstoredPending() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let log = Reports()
      let client = try installation.machineClient(log)
      await client.performFetch()
      try await DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path).write { db in
        try db.execute(
          sql: """
            CREATE TRIGGER refusal BEFORE INSERT ON state
            WHEN NEW.name = 'pushes' AND CAST(NEW.json AS TEXT) LIKE '%"pending"%'
            BEGIN SELECT RAISE(ABORT, 'refused'); END
            """)
      }
      installation.feed.publish("two")
      installation.feed.fault(next: .busy(500, retryAfter: nil))
      #expect(await client.receive(push(token: installation.feed.token())).result == .failed)
      #expect(log.texts.contains { $0.hasPrefix("cannot store that a push is pending: ") }, "\(log.texts)")
    }
  }

  @Test("postpones the next poll if the push has brought the data")
  func postponesPoll() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      try client.updateSchedule { $0.setInterval(.duration(.seconds(7200))) }
      await client.performFetch(.scheduled)
      installation.clock.advance(by: 7000)
      installation.feed.publish("two")
      #expect(await client.receive(push(token: installation.feed.token())).inserted == 1)
      guard case .wait(let until, _) = try client.decision() else {
        Issue.record("it polls although the push has brought the data")
        return
      }
      #expect(until >= installation.clock.now.date + 7200)
    }
  }

  @Test("leaves a state during its fetch from which a later process makes up for it")
  func killed() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      try client.updateSchedule { $0.setInterval(.duration(.seconds(86_400))) }
      await client.performFetch(.scheduled)
      installation.feed.publish("two")
      installation.feed.fault(next: .hang(at: .start))
      let handler = Task { await client.receive(push(token: installation.feed.token())) }
      try await eventually("it waits") { installation.requests().contains("*/v1/changes") }
      // A process that is killed now leaves this schedule.
      let (schedule, now) = (try installation.client().schedule, installation.clock.now)
      func later(_ seconds: Double) -> FetchInstant {
        FetchInstant(date: now.date + seconds, uptime: now.uptime + seconds, boot: now.boot)
      }
      #expect(schedule.decision(at: later(60)) != .wake(.push, sources: []))
      #expect(schedule.decision(at: later(90)) == .wake(.push, sources: []))
      handler.cancel()
      #expect(await handler.value.result == .failed)
      #expect(await client.performFetch(.scheduled).inserted == 1)
      #expect(try client.schedule.pushDelay(at: later(600)) == nil)
    }
  }

  @Test("is made up for if another process is fetching, whether the push has a token", arguments: [true, false])
  func busy(hasToken: Bool) async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      try client.updateSchedule { $0.setInterval(.duration(.seconds(86_400))) }
      await client.performFetch(.scheduled)
      installation.feed.publish("one")
      let lock = FetchLock(path: installation.folder.appending(path: "fetch.lock").path)
      let held = try #require(try lock.acquire())
      #expect(await client.receive(push(token: hasToken ? installation.feed.token() : nil)).result == .failed)
      held.release()
      #expect(try client.decision() == .wake(.push, sources: []))
      #expect(await client.performFetch(.scheduled).inserted == 1)
    }
  }

  @Test("over the limit stays pending if a fetch that began before it does not reach its token")
  func staleFetch() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      try client.updateSchedule { $0.setInterval(.duration(.seconds(86_400))) }
      await client.performFetch(.scheduled)
      for _ in 0..<3 { await client.receive(push()) }
      // A token of another epoch has no meaning any more, and does not outlast one of this epoch.
      let foreign = try #require(SyncToken("1zzzzzz00000.9"))
      await client.receive(push(token: foreign))
      let before = installation.feed.snapshot
      installation.feed.publish("two")
      #expect(await client.receive(push(token: installation.feed.token())).requests == 0)
      installation.feed.fault(next: .stale(before))
      #expect(await client.performFetch(.manual).result == .noData)
      #expect(try client.schedule.pushDelay(at: installation.clock.now) == .seconds(3600), "the push is still owed")
      #expect(await client.performFetch(.manual).inserted == 1)
      #expect(try client.schedule.pushDelay(at: installation.clock.now) == nil)
      #expect(await client.receive(push(token: foreign)).requests == 0)
      #expect(try client.schedule.pushDelay(at: installation.clock.now) == .seconds(3600))
      #expect(await client.performFetch(.manual).result == .noData)
      #expect(try client.schedule.pushDelay(at: installation.clock.now) == nil, "no fetch can reach that token")
    }
  }

  @Test("does not follow from one of the last hundred pushes again")
  func lastPushes() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      let seen = Reports()
      let observation = client.remoteNotifications.add { push in seen.note(push.id?.uuidString ?? "none") }
      let ids = (0..<101).map { _ in UUID() }
      func receive(_ id: UUID) async {
        await client.receive(RemoteNotification(payload: Data(#"{"title":"Flood","push":"\#(id)"}"#.utf8)))
      }
      for id in ids.prefix(100) { await receive(id) }
      await receive(ids[0])
      #expect(seen.texts.count == 100)
      for id in [ids[100], ids[0]] { await receive(id) }
      #expect(seen.texts.count == 102, "only a hundred are known")
      withExtendedLifetime(observation) {}
    }
  }

  @Test("stays pending if its own fetches do not reach its token")
  func staleResponses() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      try client.updateSchedule { $0.setInterval(.duration(.seconds(86_400))) }
      await client.performFetch(.scheduled)
      let outdated = #"{"changes":[],"more":false,"token":"\#(installation.feed.token())"}"#
      installation.feed.publish("two")
      installation.feed.fault(next: .response(.json(outdated)), times: 2)
      #expect(await client.receive(push(token: installation.feed.token())).result == .noData)
      #expect(try client.decision() == .wake(.push, sources: []))
      #expect(await client.performFetch(.scheduled).inserted == 1)
    }
  }

  @Test("reports what its first fetch has brought, also if the second one for its token brings nothing")
  func staleSecondResponse() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      let client = try installation.client()
      await client.performFetch(.scheduled)
      let one = feed.token()
      feed.publish("two")
      let outdated = [one, feed.token()].map { feed.respond(FaultRequest(target: "/v1/changes?since=\($0)")) }
      feed.publish("three")
      for response in outdated { feed.fault(next: .response(response)) }
      let report = await client.receive(push(token: feed.token()))
      #expect(report.result == .newData && report.inserted == 1)
      #expect(feed.faultsLeft == 0)
    }
  }

  @Test("over the limit stays pending until the newest token is reached, in whatever order the pushes arrive")
  func olderPush() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      try client.updateSchedule { $0.setInterval(.duration(.seconds(86_400))) }
      await client.performFetch(.scheduled)
      for _ in 0..<3 { await client.receive(push()) }
      installation.feed.publish("two")
      let (older, before) = (installation.feed.token(), installation.feed.snapshot)
      installation.feed.publish("three")
      for token in [installation.feed.token(), older] {
        #expect(await client.receive(push(token: token)).requests == 0)
      }
      installation.feed.fault(next: .stale(before))
      #expect(await client.performFetch(.manual).inserted == 1)
      #expect(try client.schedule.pushDelay(at: installation.clock.now) == .seconds(3600))
      #expect(await client.performFetch(.manual).inserted == 1)
      #expect(try client.schedule.pushDelay(at: installation.clock.now) == nil)
    }
  }

  @Test("fetches again after a fetch that it has joined and that began before it")
  func joined() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      try client.updateSchedule { $0.setInterval(.duration(.seconds(86_400))) }
      await client.performFetch(.scheduled)
      _ = installation.requests()
      installation.feed.fault(next: .hang(at: .start))
      let first = Task { await client.performFetch(.manual) }
      try await eventually("it waits") { !installation.requests().isEmpty }
      installation.feed.publish("two")
      let push = push(token: installation.feed.token())
      let second = Task { await client.receive(push) }
      try await eventually("the push is recorded") { try client.schedule.pushes != PushRateLimit() }
      // A process that is killed now leaves this schedule.
      let (schedule, now) = (try installation.client().schedule, installation.clock.now)
      let later = FetchInstant(date: now.date + 90, uptime: now.uptime + 90, boot: now.boot)
      #expect(schedule.decision(at: later) == .wake(.push, sources: []), "the push is made up for")
      installation.server.release()
      #expect(await first.value.result == .noData)
      #expect(await second.value.inserted == 1)
    }
  }

  @Test(
    "over the limit is made up for again if the fetch for it fails or its process is killed", arguments: [false, true])
  func failedFetch(isKilled: Bool) async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      try client.updateSchedule { $0.setInterval(.duration(.seconds(86_400))) }
      await client.performFetch(.scheduled)
      for _ in 0..<3 { await client.receive(push()) }
      installation.feed.publish("two")
      #expect(await client.receive(push(token: installation.feed.token())).requests == 0)
      installation.clock.advance(by: 3600)
      #expect(try client.decision() == .wake(.push, sources: []))
      _ = installation.requests()
      installation.feed.fault(next: isKilled ? .hang(at: .start) : .busy(500, retryAfter: nil))
      let handler = Task { await client.performFetch(.scheduled) }
      if isKilled {
        try await eventually("it waits") { !installation.requests().isEmpty }
        // A process that is killed now leaves this schedule.
        let (schedule, now) = (try installation.client().schedule, installation.clock.now)
        let later = FetchInstant(date: now.date + 90, uptime: now.uptime + 90, boot: now.boot)
        #expect(schedule.decision(at: later) == .wake(.push, sources: []))
        handler.cancel()
      }
      #expect(await handler.value.result == .failed)
      installation.clock.advance(by: isKilled ? 90 : 900)
      #expect(try client.decision() == .wake(.push, sources: []))
      #expect(await client.performFetch(.scheduled).inserted == 1)
      #expect(try client.schedule.pushDelay(at: installation.clock.now) == nil)
    }
  }

  @Test("over the limit uses up no later wake if the user fetches meanwhile")
  func fetchOfTheUser() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      try client.updateSchedule { $0.setInterval(.duration(.seconds(86_400))) }
      await client.performFetch(.scheduled)
      for _ in 0..<4 { await client.receive(push()) }
      installation.clock.advance(by: 3600)
      #expect(try client.decision() == .wake(.push, sources: []))
      #expect(await client.performFetch(.manual).requests == 1)
      for _ in 0..<3 { #expect(await client.receive(push()).requests == 1) }
    }
  }

  @Test("has no limit while the app is visible")
  func foreground() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      await client.application.enterForeground()
      for _ in 0..<6 { #expect(await client.receive(push()).requests == 1) }
      _ = await client.application.suspend()
      #expect(await client.receive(push()).requests == 1, "the visible app has used up no wake")
    }
  }

  @Test("notifies observers once, when the item is stored")
  func observers() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      let texts = Mutex<[String]>([])
      let observation = client.remoteNotifications.add { [unowned client] push in
        let item = push.contentID.flatMap { try? client.item($0) }
        texts.withLock { $0.append(item?.text ?? "unknown") }
      }
      let item = installation.feed.publish("one")
      let notification = push(token: installation.feed.token(), contentID: item.id)
      await client.receive(notification)
      await client.receive(notification)
      await client.receive(push(contentID: UUID()))
      #expect(texts.withLock(\.self) == ["one", "unknown"])
      // The second of these pushes exceeds the limit of an hour.
      for _ in 0..<2 { await client.receive(push()) }
      #expect(texts.withLock(\.self) == ["one", "unknown", "unknown"])
      withExtendedLifetime(observation) {}
    }
  }
}
