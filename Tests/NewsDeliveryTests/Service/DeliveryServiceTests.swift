import Foundation
import News
import NewsDelivery
import NewsStore
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// The way of a publish to the push services.
@Suite struct DeliveryServiceTests {
  @Test("A publish wakes each device of each push service once, and the outcomes are recorded and counted")
  func publish() async throws {
    try await Deliveries.with { deliveries in
      let apns = ScriptedSender(.apns)
      let fcm = ScriptedSender(.fcm)
      let ids = (try await deliveries.register(30, .apns), try await deliveries.register(40, .fcm))
      try await deliveries.withService([apns, fcm], reportRate: 1) {
        try await eventually("the devices are counted") {
          deliveries.store.deliveryCounts().devices.values.sorted() == [30, 40]
        }
        try await deliveries.publish()
        try await eventually("all devices are woken") { fcm.messages.count >= 40 && apns.messages.count >= 30 }
        try await eventually("nothing is owed") { try await deliveries.owed() == 0 }
        #expect(apns.messages.count == 30 && Set(apns.devices) == ids.0)
        #expect(fcm.messages.count == 40 && Set(fcm.devices) == ids.1)
        let token = try #require(SyncToken(fcm.messages.first?.content.token ?? ""))
        #expect(fcm.messages.allSatisfy { $0.asksForReport })
        #expect(token.version == 1 && fcm.messages.allSatisfy { $0.kind == .silent && $0.content.contentID != nil })

        try await eventually("the outcomes are counted") {
          deliveries.outcomes(.apns) == ["sent": 30] && deliveries.outcomes(.fcm) == ["sent": 40]
        }
        let delays = fcm.messages.compactMap { $0.dueAt.map { deliveries.now.timeIntervalSince($0) } }
        #expect(delays.count == 40 && delays.allSatisfy { $0 > 0 })
        let push = try #require(try await deliveries.store.pushes(limit: 1).first)
        #expect(push.audience == 70 && push.sent == 70)

        try await deliveries.publish()
        try await eventually("all devices are woken again") { fcm.messages.count + apns.messages.count >= 140 }
      }
      #expect(Set(apns.devices.suffix(30)) == ids.0 && Set(fcm.devices.suffix(40)) == ids.1)
    }
  }

  @Test("Twenty items within the window make one push per device, whichever process notices them")
  func window() async throws {
    try await Deliveries.with { deliveries in
      let senders = [ScriptedSender(), ScriptedSender()]
      let ids = try await deliveries.register(5)
      // The clock also advances by itself. The window leaves it 1,600 seconds.
      try await deliveries.withService([senders[0]], window: .seconds(3600)) {
        try await deliveries.withService([senders[1]], window: .seconds(3600)) {
          var newest: UUID?
          for _ in 0..<20 {
            newest = try await deliveries.publish()
            try await eventually("the item is noticed") {
              try await deliveries.count("SELECT count(*) FROM outbox") == 0
            }
            deliveries.advance(100)
          }
          #expect(senders.allSatisfy { $0.messages.isEmpty })
          deliveries.advance(1700)
          try await eventually("all devices are woken") { senders.reduce(0) { $0 + $1.messages.count } == 5 }
          try await eventually("nothing is owed") { try await deliveries.owed() == 0 }
          #expect(try await deliveries.store.pushes(limit: 10).map(\.item) == [newest])
        }
      }
      #expect(Set(senders.flatMap(\.devices)) == ids && senders.flatMap(\.devices).count == 5)
    }
  }

  @Test("A push service that does not respond delays no other")
  func slowService() async throws {
    try await Deliveries.with { deliveries in
      let barrier = Barrier()
      let apns = ScriptedSender(.apns, width: 2) { _ in
        await barrier.wait()
        return PushAnswer(.sent)
      }
      let fcm = ScriptedSender(.fcm, width: 2)
      try await deliveries.register(20, .apns)
      try await deliveries.register(20, .fcm)
      try await deliveries.withService([apns, fcm]) {
        try await deliveries.publish()
        try await eventually("the other service has all messages") { fcm.messages.count == 20 }
        #expect(apns.messages.count <= 2)
        // A process claims no more than it can send soon. Others may send the rest.
        #expect(
          try await deliveries.count(
            "SELECT count(*) FROM deliveries WHERE lease IS NOT NULL AND provider = 'apns'") <= 6)
        barrier.open()
        try await eventually("the slow service has all messages") { apns.messages.count == 20 }
      }
    }
  }

  @Test("Two processes send each message once, with at most the width of messages at a time")
  func processes() async throws {
    try await Deliveries.with { deliveries in
      let running = Mutex((now: 0, most: 0))
      let senders = (0..<2).map { _ in
        ScriptedSender(width: 3) { _ in
          running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
          await Task.yield()
          running.withLock { $0.now -= 1 }
          return PushAnswer(.sent)
        }
      }
      let ids = try await deliveries.register(200)
      try await deliveries.withService([senders[0]]) {
        try await deliveries.withService([senders[1]]) {
          try await deliveries.publish()
          try await eventually("all devices are woken") { senders.reduce(0) { $0 + $1.messages.count } >= 200 }
          try await eventually("nothing is owed") { try await deliveries.owed() == 0 }
        }
      }
      let devices = senders.flatMap(\.devices)
      #expect(devices.count == 200 && Set(devices) == ids)
      #expect(running.withLock { $0.most } <= 6)
    }
  }

  @Test("A device that is gone is deleted, and a message that is to be retried is sent again when its wait is over")
  func outcomes() async throws {
    try await Deliveries.with { deliveries in
      let ids = Array(try await deliveries.register(3))
      let attempts = Count()
      let sender = ScriptedSender { message in
        switch message.device {
        case ids[0]: PushAnswer(.gone(since: nil))
        case ids[1]:
          PushAnswer(attempts.next() == 1 ? .retry(after: 300, reason: "slow") : .sent)
        default: PushAnswer(.invalid(reason: "wrong"))
        }
      }
      try await deliveries.withService([sender]) {
        try await deliveries.publish()
        try await eventually("all are tried") { sender.messages.count == 3 }
        try await eventually("one is owed") { try await deliveries.owed() == 1 }
        #expect(try await deliveries.store.device(ids[0]) == nil)
        try await eventually("the outcomes are counted") {
          deliveries.outcomes(.fcm) == ["gone": 1, "retry": 1, "invalid": 1]
        }
        deliveries.advance(301)
        try await eventually("the message is sent again") { sender.messages.count == 4 }
        try await eventually("nothing is owed") { try await deliveries.owed() == 0 }
        #expect(sender.messages.last?.device == ids[1] && sender.messages.last?.attempts == 1)
      }
    }
  }

  @Test("A service that refuses all tokens pauses, deletes no device, and is then tried with a few messages")
  func tokenErrors() async throws {
    try await Deliveries.with { deliveries in
      let isWrong = Flag()
      isWrong.set()
      let apns = ScriptedSender(.apns, width: 4) { _ in
        PushAnswer(isWrong.isSet ? .tokenError(reason: "BadDeviceToken") : .sent)
      }
      let fcm = ScriptedSender(.fcm)
      let ids = try await deliveries.register(200, .apns)
      try await deliveries.proveDevices()
      try await deliveries.withService([apns, fcm]) {
        try await deliveries.publish()
        try await eventually("the service is paused") {
          try await deliveries.store.providerStates().first?.pausedUntil != nil
        }
        let state = try #require(try await deliveries.store.providerStates().first)
        #expect(state.provider == .apns && state.pauses == 1 && state.reason?.contains("refuse the token") == true)
        // The messages under way have ended, and those that were claimed are given back.
        try await eventually("no message is claimed") { try await deliveries.claimed() == 0 }
        #expect(20..<30 ~= apns.messages.count)
        #expect(try await deliveries.count("SELECT count(*) FROM devices") == 200)

        // Another service is not concerned.
        try await deliveries.register(5, .fcm)
        try await deliveries.publish()
        try await eventually("the other service has its messages") { fcm.messages.count == 5 }

        // The first probe fails, which doubles the pause.
        let before = apns.messages.count
        deliveries.advance(70)
        try await eventually("the service is paused again") {
          try await deliveries.store.providerStates().first?.pauses == 2
        }
        #expect(apns.messages.count - before <= PauseRule.minimumAnswers)

        isWrong.set(false)
        deliveries.advance(130)
        try await eventually("the service has proved itself") {
          try await deliveries.store.providerStates().first?.pauses == 0
        }
        // Devices that were refused are tried an hour later.
        deliveries.advance(3700)
        try await eventually("nothing is owed") { try await deliveries.owed() == 0 }
      }
      #expect(try await deliveries.count("SELECT count(*) FROM devices WHERE provider = 'apns'") == 200)
      let sent = Set(apns.messages.suffix(200).map(\.device))
      #expect(sent.isSubset(of: ids) && sent.count > 150)
    }
  }

  @Test("Addresses that are refused before their devices have returned a code pause no service")
  func refusedStrangers() async throws {
    try await Deliveries.with { deliveries in
      let sender = ScriptedSender(.webpush, width: 4) { _ in PushAnswer(.tokenError(reason: "403")) }
      let receiver = WebPushReceiver()
      for number in 0..<40 {
        let subscription = WebPushSubscription(
          endpoint: "https://push.example/\(number)",
          keys: .init(p256dh: String(base64URL: receiver.publicKey), auth: String(base64URL: receiver.secret)))
        _ = try await deliveries.store.registerDevice(
          DeviceRegistration(provider: .webpush, kind: .unifiedpush, subscription: subscription),
          limits: DeviceLimits(total: 100, perHost: 100), at: deliveries.now)
      }
      try await deliveries.withService([sender]) {
        try await eventually("all have been tried") { deliveries.outcomes(.webpush) == ["tokenError": 40] }
        #expect(try await deliveries.store.providerStates().allSatisfy { $0.pauses == 0 })
      }
    }
  }

  @Test(
    "Random tokens that strangers register for APNs and FCM pause no service", arguments: [PushProvider.apns, .fcm])
  func randomTokens(provider: PushProvider) async throws {
    try await Deliveries.with { deliveries in
      let isAppDevice = UUIDs()
      let sender = ScriptedSender(provider, width: 4) { message in
        PushAnswer(isAppDevice.contains(message.device) ? .sent : .tokenError(reason: "BadDeviceToken"))
      }
      isAppDevice.insert(try await deliveries.register(20, provider))
      try await deliveries.register(60, provider)
      try await deliveries.withService([sender]) {
        try await deliveries.publish()
        try await eventually("all have been tried") {
          deliveries.outcomes(provider) == ["sent": 20, "tokenError": 60]
        }
        #expect(try await deliveries.store.providerStates().allSatisfy { $0.pauses == 0 })
        // The devices of the app are known by then, and a wrong environment is noticed.
        isAppDevice.removeAll()
        try await deliveries.publish()
        try await eventually("the service is paused") {
          try await deliveries.store.providerStates().first?.pausedUntil != nil
        }
      }
      #expect(try await deliveries.count("SELECT count(*) FROM devices") == 80)
    }
  }

  @Test("A service that is down is paused, and gets all messages once it is back")
  func outage() async throws {
    try await Deliveries.with { deliveries in
      let isDown = Flag()
      isDown.set()
      let sender = ScriptedSender(width: 4) { _ in
        isDown.isSet ? PushAnswer(.retry(after: 5, reason: "no connection"), isFailure: true) : PushAnswer(.sent)
      }
      let ids = try await deliveries.register(100)
      try await deliveries.withService([sender]) {
        try await deliveries.publish()
        try await eventually("the service is paused") {
          try await deliveries.store.providerStates().first?.pauses == 1
        }
        try await eventually("no message is claimed") { try await deliveries.claimed() == 0 }
        #expect(sender.messages.count < 40)
        isDown.set(false)
        let before = sender.messages.count
        deliveries.advance(70)
        try await eventually("all messages are sent") { try await deliveries.owed() == 0 }
        #expect(Set(sender.devices.dropFirst(before)) == ids && sender.messages.count - before == 100)
      }
    }
  }

  @Test("An answer that demands a pause stops the service at once, without a rule")
  func demandedPause() async throws {
    try await Deliveries.with { deliveries in
      let sender = ScriptedSender(width: 1) { _ in
        PushAnswer(
          .retry(after: 300, reason: "InvalidProviderToken"), pause: .init(seconds: 300, reason: "check the key"))
      }
      try await deliveries.register(30)
      try await deliveries.withService([sender]) {
        try await deliveries.publish()
        try await eventually("the service is paused") {
          try await deliveries.store.providerStates().first?.reason == "check the key"
        }
        #expect(sender.messages.count == 1)
      }
      #expect(try await deliveries.owed() == 30)
    }
  }

  @Test("In a pause no claimed message is sent and no answer counts, and few messages follow it")
  func probes() async throws {
    try await Deliveries.with { deliveries in
      let (number, refusal, stale, probe) = (Count(), Barrier(), Barrier(), Barrier())
      let sender = ScriptedSender(width: 24) { _ in
        let number = number.next()
        if number == 1 {
          await refusal.wait()
          return PushAnswer(.retry(after: 300, reason: "busy"), pause: .init(seconds: 300, reason: "too many messages"))
        }
        if number <= 24 {
          await stale.wait()
          return PushAnswer(.retry(after: 5, reason: "no connection"), isFailure: true)
        }
        await probe.wait()
        return PushAnswer(.sent)
      }
      try await deliveries.register(60)
      try await deliveries.withService([sender]) {
        try await deliveries.publish()
        try await eventually("all workers have a message") { refusal.waiting == 1 && stale.waiting == 23 }
        refusal.open()
        try await eventually("the service is paused") {
          try await deliveries.store.providerStates().first?.pauses == 1
        }
        stale.open()
        try await eventually("the others are given back") { try await deliveries.claimed() == 0 }
        #expect(sender.messages.count == 24)
        deliveries.advance(310)
        try await eventually("a probe is under way") { probe.waiting >= PauseRule.minimumAnswers }
        // No other one follows before its answers.
        try await Task.sleep(for: .milliseconds(300))
        #expect(try await deliveries.claimed() == PauseRule.minimumAnswers)
        probe.open()
        try await eventually("the service has proved itself") {
          try await deliveries.store.providerStates().first?.pauses == 0
        }
      }
    }
  }

  @Test("A service that refuses more than 5 % of the tokens after a pause has not proved itself")
  func refusalsAfterPause() async throws {
    try await Deliveries.with { deliveries in
      let number = Count()
      let sender = ScriptedSender(width: 1) { _ in
        let number = number.next()
        if number == 1 {
          return PushAnswer(.retry(after: 300, reason: "busy"), pause: .init(seconds: 300, reason: "too many messages"))
        }
        return PushAnswer(2...6 ~= number ? .tokenError(reason: "BadDeviceToken") : .sent)
      }
      // Fewer answers than those that pause a service by themselves.
      try await deliveries.register(9)
      try await deliveries.proveDevices()
      try await deliveries.withService([sender]) {
        try await deliveries.publish()
        try await eventually("the service is paused") {
          try await deliveries.store.providerStates().first?.pauses == 1
        }
        deliveries.advance(310)
        try await eventually("the devices have been tried") {
          let claimed = try await deliveries.claimed()
          return sender.messages.count > 6 && claimed == 0
        }
        let before = sender.messages.count
        // The end of probing is decided before the next messages.
        try await deliveries.publish()
        try await eventually("devices whose tokens are right have the next push") { sender.messages.count > before }
        #expect(try await deliveries.store.providerStates().first?.pauses == 1)
      }
    }
  }

  @Test("At the end of a process, messages under way are recorded and the others are given back at once")
  func shutdown() async throws {
    try await Deliveries.with { deliveries in
      let barrier = Barrier()
      let sender = ScriptedSender(width: 2) { _ in
        await barrier.wait()
        return PushAnswer(.sent)
      }
      try await deliveries.register(10)
      let start = deliveries.now
      try await deliveries.withService([sender]) {
        try await deliveries.publish()
        try await eventually("two messages are under way") { barrier.waiting == 2 }
        try await eventually("others are claimed") { try await deliveries.claimed() > 2 }
        let leased = try await deliveries.count(
          """
          SELECT count(*) FROM deliveries WHERE lease IS NOT NULL
            AND due_at BETWEEN \(start)::timestamptz + interval '180 s' AND \(start)::timestamptz + interval '400 s'
          """)
        #expect(leased > 2)
        Task {
          try await eventually("the others are given back") { try await deliveries.claimed() == 2 }
          barrier.open()
        }
      }
      #expect(try await deliveries.claimed() == 0)
      #expect(try await deliveries.owed() == 8)
      #expect(try await deliveries.store.nextDue(.fcm, at: deliveries.now) == 0)
    }
  }
}
