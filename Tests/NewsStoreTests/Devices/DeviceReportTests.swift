import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The proof of an address, and the reports of devices.
@Suite struct DeviceReportTests {
  private static let start = Date.pushStart

  @Test("A device of Web Push receives nothing but a code until it returns it")
  func confirmation() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.webPush(1, .unifiedpush))
      #expect(try #require(try await store.device(device.id)).isPending)
      let message = try #require(try await store.claim(.webpush).first)
      #expect(message.kind == .confirmation && message.content.alert == nil && message.content.contentID == nil)
      #expect(!message.asksForReport && message.deviceKind == .unifiedpush)
      try await store.recordOutcomes([PushOutcome(message: message, result: .sent)], at: Self.start)
      try await sql.publish([UUID(1)])
      try await store.wake()
      #expect(try await store.claim(.webpush).isEmpty)
      let code = try #require(message.content.code)
      let other = String(code.reversed())
      for wrong in [other, "x"] {
        #expect(try await store.confirmDevice(device.id, secret: device.secret, code: wrong) == false)
      }
      #expect(try await store.confirmDevice(device.id, secret: other, code: code) == nil)
      #expect(try await store.confirmDevice(UUID(), secret: device.secret, code: code) == nil)
      #expect(try #require(try await store.device(device.id)).isPending)
      #expect(try await store.confirmDevice(device.id, secret: device.secret, code: code) == true)
      // A repeat, because the answer may have been lost.
      #expect(try await store.confirmDevice(device.id, secret: device.secret, code: code) == true)
      #expect(try await store.confirmDevice(device.id, secret: device.secret, code: other) == false)
      #expect(try await store.device(device.id)?.isPending == false)
      try await sql.publish([UUID(2)])
      try await store.wake(at: Self.start + 1)
      let push = try #require(try await store.claim(.webpush, at: Self.start + 1).first)
      #expect(push.kind == .silent && push.content.contentID == UUID(2) && push.content.code == nil)
    }
  }

  @Test("Each attempt has a code of its own, and only the last one is accepted")
  func codes() async throws {
    try await NewsDatabase.withStore { store, _ in
      let device = try await store.register(.webPush(1))
      let first = try #require(try await store.send(.webpush, .retry(after: 30, reason: "busy")).first)
      #expect(try await store.claim(.webpush, at: Self.start + 29).isEmpty)
      let second = try #require(try await store.claim(.webpush, at: Self.start + 30).first)
      let codes = try (#require(first.content.code), #require(second.content.code))
      #expect(codes.0 != codes.1 && second.attempts == 1)
      #expect(try await store.confirmDevice(device.id, secret: device.secret, code: codes.0) == false)
      #expect(try await store.confirmDevice(device.id, secret: device.secret, code: codes.1) == true)
    }
  }

  @Test("However often a stranger registers an address, it gets a code a minute at most")
  func codeRate() async throws {
    try await NewsDatabase.withStore { store, _ in
      for second in 0..<5 { try await store.register(.webPush(1), at: Self.start + Double(second)) }
      #expect(try await store.send(.webpush, at: Self.start + 5).count == 1)
      for second in 6..<60 { try await store.register(.webPush(1), at: Self.start + Double(second)) }
      #expect(try await store.claim(.webpush, at: Self.start + 64).isEmpty)
      let claimed = try await store.claim(.webpush, at: Self.start + 65)
      #expect(claimed.count == 1)
      // The outcome of the claimed message is not known.
      try await store.register(.webPush(1), at: Self.start + 66)
      #expect(try await store.claim(.webpush, at: Self.start + 125).isEmpty)
      #expect(try await store.claim(.webpush, at: Self.start + 126).count == 1)
    }
  }

  @Test("A registration during the message with its code is followed by a code, whatever becomes of that message")
  func registeredMeanwhile() async throws {
    try await NewsDatabase.withStore { store, _ in
      let device = try await store.register(.webPush(1))
      let message = try #require(try await store.claim(.webpush).first)
      try await store.register(.webPush(1), at: Self.start + 1)
      try await store.recordOutcomes([PushOutcome(message: message, result: .sent)], at: Self.start + 2)
      let again = try await store.claim(.webpush, at: Self.start + 61)
      #expect(again.map(\.kind) == [.confirmation] && again.map(\.device) == [device.id])
    }
  }

  @Test("A registration voids the code that its device has not returned yet")
  func registeredBeforeReturn() async throws {
    try await NewsDatabase.withStore { store, _ in
      try await store.register(.webPush(1))
      let code = try #require(try await store.send(.webpush).first?.content.code)
      let device = try await store.register(.webPush(1), at: Self.start + 1)
      #expect(try await store.confirmDevice(device.id, secret: device.secret, code: code) == false)
      let next = try #require(try await store.send(.webpush, at: Self.start + 60).first?.content.code)
      #expect(try await store.confirmDevice(device.id, secret: device.secret, code: next) == true)
    }
  }

  @Test("A registration after a failure has its code sent at once, as a first attempt")
  func registeredAfterFailure() async throws {
    try await NewsDatabase.withStore { store, _ in
      try await store.register(.webPush(1))
      try await store.send(.webpush, .retry(after: 600, reason: "busy"))
      try await store.register(.webPush(1), at: Self.start + 10)
      let message = try #require(try await store.claim(.webpush, at: Self.start + 10).first)
      #expect(message.kind == .confirmation && message.attempts == 0)
    }
  }

  @Test("A device that moves to Web Push gets its code there, and nothing at its former service")
  func movedToWebPush() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.fcm())
      try await sql.publish([UUID(1)])
      try await store.wake()
      _ = try await store.updateDevice(
        device.id, secret: device.secret, .webPush(1, .unifiedpush), limits: .none, at: Self.start + 1)
      #expect(try await store.claim(.fcm, at: Self.start + 1).isEmpty)
      #expect(try await store.nextDue(.webpush, at: Self.start) == 1)
      let codes = try await store.claim(.webpush, at: Self.start + 1)
      #expect(codes.map(\.kind) == [.confirmation] && codes.map(\.content.contentID) == [nil])
    }
  }

  @Test("A confirmed address stays active when it registers again with its keys, and proves new ones")
  func sameKeys() async throws {
    try await NewsDatabase.withStore { store, _ in
      let device = try await store.registerConfirmed(.webPush(1))
      let again = try await store.register(.webPush(1), at: Self.start + 100)
      #expect(try await store.device(device.id)?.isPending == false)
      let renewed = try await store.updateDevice(
        device.id, secret: again.secret, .webPush(1), limits: .none, at: Self.start + 101)
      #expect(renewed != nil)
      #expect(try await store.device(device.id)?.isPending == false)
      try await store.register(.webPush(1, key: 2), at: Self.start + 102)
      #expect(try await store.device(device.id)?.isPending == true)
    }
  }

  @Test("Each of the two keys of a confirmed address has to be proven again if it is new", arguments: [true, false])
  func oneNewKey(isPublicKey: Bool) async throws {
    try await NewsDatabase.withStore { store, _ in
      let device = try await store.registerConfirmed(.webPush(1))
      var renewed = DeviceRegistration.webPush(1)
      let other = try #require(DeviceRegistration.webPush(1, key: 2).subscription).keys
      if isPublicKey {
        renewed.subscription?.keys.p256dh = other.p256dh
      } else {
        renewed.subscription?.keys.auth = other.auth
      }
      #expect(try await store.register(renewed, at: Self.start + 100).id == device.id)
      #expect(try await store.device(device.id)?.isPending == true)
    }
  }

  @Test("The code for an address does not confirm another one")
  func formerCode() async throws {
    try await NewsDatabase.withStore { store, _ in
      let device = try await store.register(.webPush(1))
      let code = try #require(try await store.send(.webpush).first?.content.code)
      _ = try await store.updateDevice(
        device.id, secret: device.secret, .webPush(2), limits: .none, at: Self.start + 1)
      #expect(try await store.confirmDevice(device.id, secret: device.secret, code: code) == false)
      #expect(try await store.device(device.id)?.isPending == true)
    }
  }

  @Test("An update with a new endpoint has to be confirmed again")
  func newEndpoint() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.registerConfirmed(.webPush(1, .unifiedpush))
      try await sql.publish([UUID(1)])
      try await store.wake()
      _ = try await store.updateDevice(device.id, secret: device.secret, .webPush(2, .unifiedpush), limits: .none)
      #expect(try await store.device(device.id)?.isPending == true)
      let message = try #require(try await store.claim(.webpush, at: Self.start + 60).first)
      #expect(message.kind == .confirmation)
    }
  }

  @Test("A report counts for its push once for each device, with its result")
  func reports() async throws {
    try await NewsDatabase.withStore { store, sql in
      let devices = [
        try await store.register(.apns(1)), try await store.register(.apns(2)), try await store.register(.apns(3)),
      ]
      try await sql.publish([UUID(1)])
      try await store.wake()
      let push = try #require(try await store.send().first).push
      let token = try await store.feedToken()
      let results = [
        (0, DeviceReport.Result?.none), (0, .newData), (1, .newData), (1, .newData), (2, .noData), (2, .newData),
      ]
      for (device, result) in results {
        let report = DeviceReport(token: token, push: push, result: result)
        #expect(
          try await store.report(devices[device].id, secret: devices[device].secret, report, at: Self.start + 5))
      }
      let unknown = DeviceReport(token: token, push: UUID(), result: .noData)
      #expect(try await store.report(devices[0].id, secret: devices[0].secret, unknown, at: Self.start + 6))
      let read = try #require(try await store.push(push))
      #expect(read.reports == 3 && read.woke == 2 && read.foundNews == 1 && read.sent == 3)
      // A report without a push in between does not count the push again.
      for push in [nil, push] {
        let report = DeviceReport(token: token, push: push, result: .newData)
        #expect(try await store.report(devices[1].id, secret: devices[1].secret, report, at: Self.start + 6))
      }
      #expect(try await store.push(push)?.reports == 3)
      #expect(
        try await store.device(devices[0].id)?.lastReport
          == .init(epoch: token.epoch, version: token.version, at: Self.start + 6))
    }
  }

  @Test("A report that arrives before the outcome of its message counts like any other")
  func earlyReport() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.apns())
      try await sql.publish([UUID(1)])
      try await store.wake()
      let message = try #require(try await store.claim().first)
      let report = DeviceReport(token: try await store.feedToken(), push: message.push, result: .newData)
      #expect(try await store.report(device.id, secret: device.secret, report, at: Self.start + 1))
      let reported = try #require(try await store.push(message.push))
      #expect(reported.reports == 1 && reported.woke == 1 && reported.foundNews == 1 && reported.sent == 0)
      try await store.recordOutcomes([PushOutcome(message: message, result: .sent)], at: Self.start + 2)
      let sent = try #require(try await store.push(message.push))
      #expect(sent.reports == 1 && sent.woke == 1 && sent.foundNews == 1 && sent.sent == 1)
      // A registration forgets the push too.
      try await store.register(.apns(), at: Self.start + 3)
      #expect(try await sql.value("SELECT count(*) FROM devices WHERE reported_push IS NOT NULL") == 0)
    }
  }

  @Test("A device that has read only a part of the changes has no version")
  func partialReport() async throws {
    try await NewsDatabase.withStore { store, _ in
      let device = try await store.register(.apns(1))
      let token = SyncToken(epoch: "k3x9qa", scope: .feed, version: 9, isPartial: true)
      #expect(try await store.report(device.id, secret: device.secret, DeviceReport(token: token)))
      #expect(try #require(try await store.device(device.id)).lastReport == nil)
    }
  }
}
