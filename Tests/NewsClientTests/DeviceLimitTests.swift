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
      if isVisible { await client.application.enterForeground() }
      let (push, wake) = (push(installation), installation.clock.now)
      installation.clock.advance(by: seconds)
      await client.receive(push, wake: wake)
      #expect(devices.requests() == (isReported ? ["PUT state"] : []))
    }
  }

  @Test("are the 30 s of the wake of a push for a confirmation too, unless the app is visible", arguments: wakes)
  func lateConfirmation(seconds: Double, isVisible: Bool, isConfirmed: Bool) async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerWebPush()
      _ = devices.requests()
      if isVisible { await client.application.enterForeground() }
      let wake = installation.clock.now
      installation.clock.advance(by: seconds)
      await client.receive(code, wake: wake)
      #expect(devices.requests() == (isConfirmed ? ["PUT confirmation"] : []))
      #expect(client.device?.isConfirmed == isConfirmed)
    }
  }

  @Test("A registration that was never accepted is forgotten once the server refuses it")
  func refusedLater() async throws {
    try await DeviceServer.with { installation, devices, client in
      devices.answer(FaultResponse(status: 503), FaultResponse(status: 422))
      for isKept in [true, false] {
        await #expect(throws: FetchError.self) { try await client.registerDevice(DeviceServer.registration) }
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
