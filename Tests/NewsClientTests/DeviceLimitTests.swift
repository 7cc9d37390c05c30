import BackgroundFetch
import FaultServer
import Foundation
import HTTPTransfer
import News
import NewsClient
import TestKit
import Testing

@Suite("The limits of a registration") struct DeviceLimitTests {
  /// A push that asks for a report about news that the client has.
  private func push(_ installation: Installation) -> RemoteNotification {
    let payload = #"{"push":"\#(UUID())","report":"1","token":"\#(installation.feed.token())"}"#
    return RemoteNotification(payload: Data(payload.utf8))
  }

  private let code = RemoteNotification(payload: Data(#"{"code":"right"}"#.utf8))

  /// Returns a client with a log, as another process creates it.
  private func logging(_ installation: Installation, _ log: Reports) throws -> NewsFetcher {
    try NewsFetcher(
      .init(folder: installation.folder, feed: try installation.followedFeed(), userAgent: "tests/1"),
      application: ApplicationLifecycle(launchReason: .fetch, clock: installation.clock), clock: installation.clock,
      log: log.note)
  }

  @Test("are an hour between two attempts to renew it, and a minute between two attempts to remove it")
  func intervals() async throws {
    try await DeviceServer.with { installation, devices, client in
      let clock = installation.clock
      try await client.registerDevice(DeviceServer.registration)
      _ = devices.requests()
      clock.advance(by: 604_800)
      await client.removeSignedOutDevice()
      #expect(devices.requests() == [], "the user has not signed out")
      devices.answer(FaultResponse(status: 500))
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT"])
      clock.advance(by: 3599)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == [])
      clock.advance(by: 1)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT", "PUT state"])
      devices.answer(FaultResponse(status: 503))
      await #expect(throws: FetchError.self) { try await client.removeDevice() }
      clock.advance(by: 59)
      await client.performFetch()
      await client.removeSignedOutDevice()
      #expect(devices.requests() == ["DELETE"] && devices.devices.count == 1)
      clock.advance(by: 1)
      await client.removeSignedOutDevice()
      #expect(devices.requests() == ["DELETE"] && devices.devices.isEmpty)
    }
  }

  @Test("are an hour until its code is asked for again")
  func unconfirmed() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerWebPush()
      _ = devices.requests()
      installation.clock.advance(by: 3599)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == [])
      installation.clock.advance(by: 1)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT", "PUT state"])
    }
  }

  @Test("are the timeout that the app has set, as are those of a visible fetch")
  func timeout() async throws {
    try await DeviceServer.with { installation, _, _ in
      var configuration = NewsFetcher.Configuration(
        folder: installation.folder, feed: try installation.followedFeed(), userAgent: "tests/1")
      configuration.foregroundTimeout = .seconds(7)
      let clock = installation.clock
      let client = try NewsFetcher(
        configuration, application: ApplicationLifecycle(launchReason: .fetch, clock: clock), clock: clock)
      await client.application.enterForeground()
      installation.server.respond { _ in FaultResponse().hanging(at: .start) }
      let registering = Task { try await client.registerDevice(DeviceServer.registration) }
      try await eventually("the timeout of the request is set") { clock.sleeping.contains(7) }
      clock.advance(by: 7)
      let failure = await #expect(throws: FetchError.self) { try await registering.value }
      #expect(failure?.message.hasSuffix(": no response within 7 s") == true)
      let fetching = Task { await client.performFetch() }
      try await eventually("the timeout of the fetch is set") { clock.sleeping.contains(7) }
      clock.advance(by: 7)
      #expect(await fetching.value.error == "the fetch did not end within 7 s")
    }
  }

  /// The seconds since the wake of a push, whether the app is visible, and whether there is time for a report.
  private static let wakes: [(Double, Bool, Bool)] = [
    (28, false, true), (29, false, false), (40, true, true),
  ]

  @Test("are the 30 s of the wake of a push for its report, unless the app is visible", arguments: wakes)
  func lateReport(seconds: Double, isVisible: Bool, isReported: Bool) async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerDevice(DeviceServer.registration)
      _ = devices.requests()
      let log = Reports()
      let receiver = try logging(installation, log)
      if isVisible { await receiver.application.enterForeground() }
      let (push, wake) = (push(installation), installation.clock.now)
      installation.clock.advance(by: seconds)
      await receiver.receive(push, wake: wake)
      #expect(devices.requests() == (isReported ? ["PUT state"] : []))
      #expect(log.texts == [], "what is not attempted does not fail")
    }
  }

  @Test("are the 30 s of the wake of a push for a confirmation too, unless the app is visible", arguments: wakes)
  func lateConfirmation(seconds: Double, isVisible: Bool, isConfirmed: Bool) async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerWebPush()
      _ = devices.requests()
      let log = Reports()
      let receiver = try logging(installation, log)
      if isVisible { await receiver.application.enterForeground() }
      let wake = installation.clock.now
      installation.clock.advance(by: seconds)
      await receiver.receive(code, wake: wake)
      #expect(devices.requests() == (isConfirmed ? ["PUT confirmation"] : []))
      #expect(log.texts == [], "what is not attempted does not fail")
      #expect(client.device?.isConfirmed == isConfirmed)
    }
  }

  @Test(
    "A registration that was never accepted is forgotten once the server refuses it, or another one",
    arguments: [DeviceServer.registration, DeviceRegistration(provider: .fcm, token: "refused")])
  func refusedLater(second: DeviceRegistration) async throws {
    try await DeviceServer.with { installation, devices, client in
      devices.answer(FaultResponse(status: 503), FaultResponse(status: 422))
      for (registration, isKept) in [(DeviceServer.registration, true), (second, false)] {
        await #expect(throws: FetchError.self) { try await client.registerDevice(registration) }
        #expect((client.device != nil) == isKept)
      }
      installation.clock.advance(by: 3600)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["POST", "POST"])
    }
  }

  @Test("A code that waits is not sent any more once a push has confirmed the registration")
  func overtakenCode() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerWebPush()
      _ = devices.requests()
      devices.answer(FaultResponse(status: 500))
      await client.receive(code)
      #expect(client.device?.isConfirmed == false)
      await client.receive(RemoteNotification(token: installation.feed.token()))
      #expect(client.device?.isConfirmed == true)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT confirmation"])
    }
  }

  @Test("A code that the server refuses is logged; one that it does not know is not", arguments: [(403, 1), (422, 0)])
  func refusedCode(status: Int, lines: Int) async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerWebPush()
      devices.answer(FaultResponse(status: status))
      let log = Reports()
      await (try logging(installation, log)).receive(code)
      #expect(log.texts.count == lines, "\(log.texts)")
      #expect(log.texts.allSatisfy { $0.hasPrefix("cannot confirm the registration for pushes: ") }, "\(log.texts)")
    }
  }

  @Test("A code that waits is not sent for the next registration if the server has forgotten the former one")
  func codeOfFormerRegistration() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerWebPush()
      devices.answer(FaultResponse(status: 500))
      await client.receive(code)
      devices.forget()
      _ = devices.requests()
      let subscription = try await client.pushSubscription(endpoint: "https://push.example/1")
      var changed = DeviceRegistration(provider: .webpush, kind: .unifiedpush, subscription: subscription)
      changed.alerts = true
      try await client.registerDevice(changed)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT", "POST", "PUT state"])
      #expect(client.device?.isConfirmed == false)
    }
  }

  @Test("An attempt that another process has made while this one waited for it is not repeated")
  func attemptMeanwhile() async throws {
    try await DeviceServer.with { installation, devices, client in
      let clock = installation.clock
      try await client.registerDevice(DeviceServer.registration)
      _ = devices.requests()
      clock.advance(by: 604_800)
      let lock = FetchLock(path: installation.folder.appending(path: "device.lock").path)
      let held = try #require(try lock.acquire())
      let reports = Reports()
      let fetching = Task { reports.add(await client.performFetch(.scheduled)) }
      try await eventually("the wake waits for the lock") { clock.sleeping.contains { $0 < 0.2 } }
      // The attempt of the other process has failed.
      let file = installation.folder.appending(path: "device.json")
      let text = try String(contentsOf: file, encoding: .utf8)
      let now = String(decoding: try JSONEncoder().encode(clock.now), as: UTF8.self)
      try Data("{\"attempted\":\(now),\(text.dropFirst())".utf8).write(to: file)
      held.release()
      try await eventually("the wake has ended") {
        // Each step waits for the attempt after the previous one.
        if clock.sleeping.contains(where: { $0 < 0.2 }) { clock.advance(by: 0.2) }
        return reports.all.count == 1
      }
      await fetching.value
      #expect(devices.requests() == [])
      clock.advance(by: 3600)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT", "PUT state"])
    }
  }

  @Test("A registration that another server refuses once it can be reached stays as the app wants it")
  func refusedByOtherServer() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerDevice(DeviceServer.registration)
      let newDevices = DeviceServer(installation.feed)
      try await FaultServer.with(newDevices.respond) { server in
        var other = installation
        other.address = server.url
        let moved = try other.client()
        newDevices.answer(FaultResponse(status: 503), FaultResponse(status: 422))
        await #expect(throws: FetchError.self) {
          try await moved.registerDevice(DeviceRegistration(provider: .fcm, token: "new"))
        }
        for _ in 0..<2 {
          installation.clock.advance(by: 3600)
          await moved.performFetch(.scheduled)
        }
        #expect(newDevices.requests() == ["POST", "POST", "POST", "PUT state"])
        #expect(newDevices.device?.registration.token == "new" && devices.devices.isEmpty)
      }
    }
  }

  @Test("A registration that the server has forgotten is neither confirmed nor valid until it is made again")
  func forgotten() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerDevice(DeviceServer.registration)
      #expect(client.device?.isConfirmed == true && client.device?.renewed == installation.clock.now.date)
      devices.forget()
      await client.receive(push(installation))
      let device = try #require(client.device)
      #expect(device.id == nil && !device.isConfirmed && device.renewed == nil && device.expires == nil)
    }
  }

  @Test("A code that arrives after a sign-out without a response confirms nothing")
  func lateCode() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerWebPush()
      _ = devices.requests()
      devices.answer(FaultResponse(status: 503))
      await #expect(throws: FetchError.self) { try await client.signOut() }
      await client.receive(RemoteNotification(payload: Data(#"{"code":"right"}"#.utf8)))
      #expect(devices.requests() == ["DELETE"] && devices.device?.isConfirmed == false)
      installation.clock.advance(by: 60)
      await client.performFetch()
      #expect(devices.requests() == ["DELETE"] && devices.devices.isEmpty)
    }
  }

  @Test(
    "A registration that the server has forgotten before it refuses another one is made again; a refused one is not",
    arguments: [false, true])
  func forgottenAndRefused(isSame: Bool) async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerDevice(DeviceServer.registration)
      devices.forget()
      installation.clock.advance(by: 604_800)
      _ = devices.requests()
      devices.answer(FaultResponse(status: 404), FaultResponse(status: 422))
      let refused = isSame ? DeviceServer.registration : DeviceRegistration(provider: .fcm, token: "refused")
      await #expect(throws: FetchError.self) { try await client.registerDevice(refused) }
      #expect(devices.requests() == ["PUT", "POST"])
      #expect((client.device == nil) == isSame && client.device?.id == nil)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == (isSame ? [] : ["POST", "PUT state"]))
      #expect(devices.device?.registration == (isSame ? nil : DeviceServer.registration))
    }
  }

  @Test("The page of a captive portal neither accepts nor refuses, confirms, reports or removes it")
  func captivePortal() async throws {
    try await DeviceServer.with { installation, devices, client in
      let clock = installation.clock
      devices.answer(.captivePortal())
      let failure = await #expect(throws: FetchError.self) {
        try await client.registerDevice(DeviceServer.registration)
      }
      #expect(failure?.code == .unexpectedResponse && failure?.message == "the server responded with 200")
      clock.advance(by: 3600)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["POST", "POST", "PUT state"] && client.device?.id != nil)
      devices.answer(.captivePortal())
      await client.receive(push(installation))
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT state", "PUT state"])
      devices.answer(.captivePortal())
      await #expect(throws: FetchError.self) { try await client.removeDevice() }
      clock.advance(by: 60)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["DELETE", "DELETE"] && devices.devices.isEmpty)
      try await client.registerWebPush()
      devices.answer(.captivePortal())
      await client.receive(code)
      #expect(client.device?.isConfirmed == false)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["POST", "PUT state", "PUT confirmation", "PUT confirmation"])
      #expect(client.device?.isConfirmed == true)
    }
  }

  @Test("A push whose fetch fails is reported as one")
  func failedFetch() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerDevice(DeviceServer.registration)
      _ = devices.requests()
      installation.feed.publish("two")
      installation.feed.fault(next: .busy(500, retryAfter: nil))
      #expect(await client.receive(push(installation)).result == .failed)
      #expect(devices.requests() == ["PUT state"])
      #expect(devices.device?.reports.last?.result == .failed)
    }
  }

  @Test("A renewal without a response is logged as one that has ended at its time limit")
  func silentRenewal() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerDevice(DeviceServer.registration)
      _ = devices.requests()
      let (clock, log) = (installation.clock, Reports())
      clock.advance(by: 604_800)
      devices.answer(FaultResponse(status: 200).hanging(at: .start))
      let fetcher = try logging(installation, log)
      let fetching = Task { await fetcher.performFetch(.scheduled) }
      try await eventually("the renewal waits") { devices.requests() == ["PUT"] }
      try await eventually("the renewal has ten seconds") { clock.sleeping.contains(10) }
      clock.advance(by: 10)
      #expect(await fetching.value.result == .noData)
      #expect(log.texts == ["cannot renew the registration for pushes: there was no response in time"])
    }
  }

  @Test("Keys for Web Push that cannot be read are made again; without any, no message can be decrypted")
  func damagedKeys() async throws {
    try await DeviceServer.with { installation, _, client in
      let failure = #expect(throws: WebPushReceiver.Failure.self) { try client.decrypt(Data()) }
      #expect(failure?.description == "this store has no keys for encrypted messages")
      let keys = try await client.pushSubscription(endpoint: "https://push.example/1").keys
      try Data("{".utf8).write(to: installation.folder.appending(path: "push-keys.json"))
      #expect(try await client.pushSubscription(endpoint: "https://push.example/1").keys != keys)
    }
  }

  @Test("The push services of a server that answers with another status are unknown", arguments: [201, 206, 404])
  func offer(status: Int) async throws {
    try await DeviceServer.with { installation, _, client in
      installation.server.respond { _ in
        .json(#"{"providers":["fcm"],"webpush":null}"#, status: status)
      }
      let failure = await #expect(throws: FetchError.self) { _ = try await client.pushOffer() }
      #expect(failure?.message == "the server responded with \(status)")
    }
  }
}
