import BackgroundFetch
import FaultServer
import Foundation
import HTTPTransfer
import News
import NewsClient
import TestKit
import Testing

@Suite("The registration of a device") struct DeviceFaultTests {
  @Test("stays at its server until another one has accepted it, and is removed afterwards")
  func otherServer() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerDevice(DeviceServer.registration)
      let id = try #require(client.device?.id)
      _ = devices.requests()
      var other = installation
      other.address = "http://127.0.0.1:1"
      let lost = try other.client()
      #expect(await lost.performFetch(.scheduled).result == .failed)
      await #expect(throws: FetchError.self) { try await lost.registerDevice(DeviceServer.registration) }
      #expect(devices.requests() == [] && devices.devices.count == 1)
      #expect(try installation.client().device?.id == id)
      let newDevices = DeviceServer(installation.feed)
      try await FaultServer.with(newDevices.respond) { server in
        other.address = server.url
        let moved = try other.client()
        newDevices.answer(FaultResponse(status: 422))
        await #expect(throws: FetchError.self) { try await moved.registerDevice(DeviceServer.registration) }
        #expect(devices.devices.count == 1 && moved.device?.id == id)
        try await moved.registerDevice(DeviceServer.registration)
        #expect(newDevices.devices.count == 1 && devices.devices.isEmpty)
        #expect(moved.device?.id?.uuidString.lowercased() == newDevices.devices.keys.first)
        #expect(moved.device?.server.absoluteString == server.url)
      }
    }
  }

  @Test("moves to another server, also if the former one does not remove it")
  func formerServer() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerWebPush()
      await client.receive(RemoteNotification(payload: Data(#"{"code":"right"}"#.utf8)))
      #expect(client.device?.isConfirmed == true)
      devices.answer(FaultResponse(status: 503))
      let newDevices = DeviceServer(installation.feed)
      try await FaultServer.with(newDevices.respond) { server in
        var other = installation
        other.address = server.url
        let moved = try other.client()
        try await moved.registerWebPush()
        #expect(newDevices.devices.count == 1 && devices.requests().last == "DELETE")
        #expect(moved.device?.isConfirmed == false, "the new server has sent no code yet")
      }
    }
  }

  @Test("sends its code and its secret to the server that has accepted it")
  func secretStays() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerWebPush()
      let newDevices = DeviceServer(installation.feed)
      try await FaultServer.with(newDevices.respond) { server in
        var other = installation
        other.address = server.url
        await (try other.client()).receive(RemoteNotification(payload: Data(#"{"code":"right"}"#.utf8)))
        #expect(devices.device?.isConfirmed == true && newDevices.requests() == [])
        newDevices.answer(FaultResponse(status: 503))
        await (try other.client()).receive(push(installation))
        #expect(newDevices.devices.isEmpty && !newDevices.requests().contains { $0.hasSuffix("state") })
        try await other.client().removeDevice()
        #expect(devices.devices.isEmpty && newDevices.requests() == [])
      }
    }
  }

  /// A push that asks for a report about news that the client has.
  private func push(_ installation: Installation) -> RemoteNotification {
    let payload = #"{"push":"\#(UUID())","report":"1","token":"\#(installation.feed.token())"}"#
    return RemoteNotification(payload: Data(payload.utf8))
  }

  @Test("that was made while the former one was refused stays")
  func forgottenMeanwhile() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerDevice(DeviceServer.registration)
      devices.forget()
      _ = devices.requests()
      devices.answer(FaultResponse(status: 404).hanging(at: .start))
      let push = push(installation)
      let reporting = Task { await client.receive(push) }
      try await eventually("the report waits for its response") { devices.requests() == ["PUT state"] }
      try await installation.client().registerDevice(DeviceRegistration(provider: .fcm, token: "new"))
      #expect(devices.requests() == ["PUT", "POST", "PUT state"])
      installation.server.release()
      _ = await reporting.value
      #expect(client.device?.id?.uuidString.lowercased() == devices.devices.keys.first)
    }
  }

  @Test("reports the last push, also if it has arrived during the report about another one")
  func reportMeanwhile() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerDevice(DeviceServer.registration)
      _ = devices.requests()
      devices.answer(FaultResponse(status: 204).hanging(at: .start), FaultResponse(status: 500))
      let (first, second) = (push(installation), push(installation))
      let reporting = Task { await client.receive(first) }
      try await eventually("the report waits for its response") { devices.requests() == ["PUT state"] }
      await client.receive(second)
      #expect(devices.requests() == ["PUT state"])
      installation.server.release()
      _ = await reporting.value
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT state"])
      #expect(devices.device?.reports.last?.push == second.id)
    }
  }

  @Test("that is valid is renewed after the server has refused another one", arguments: [true, false])
  func refusal(isReachable: Bool) async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerDevice(DeviceServer.registration)
      _ = devices.requests()
      if !isReachable { devices.answer(FaultResponse(status: 503)) }
      devices.answer(FaultResponse(status: 422))
      let refused = DeviceRegistration(provider: .fcm, token: "refused")
      await #expect(throws: FetchError.self) { try await client.registerDevice(refused) }
      for _ in 0..<3 {
        installation.clock.advance(by: 3600)
        await client.performFetch(.scheduled)
      }
      #expect(devices.requests() == Array(repeating: "PUT", count: isReachable ? 1 : 2))
      installation.clock.advance(by: 604_800)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT", "PUT state"])
      #expect(devices.device?.registration == DeviceServer.registration)
    }
  }

  @Test("that the server refuses once it can be reached is not tried again with each wake")
  func lateRefusal() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerDevice(DeviceServer.registration)
      _ = devices.requests()
      devices.answer(FaultResponse(status: 503), FaultResponse(status: 422))
      for _ in 0..<2 {
        await #expect(throws: FetchError.self) {
          try await client.registerDevice(DeviceRegistration(provider: .fcm, token: "refused"))
        }
        installation.clock.advance(by: 600)
      }
      for _ in 0..<3 {
        installation.clock.advance(by: 3600)
        await client.performFetch(.scheduled)
      }
      #expect(devices.requests() == ["PUT", "PUT"])
    }
  }

  @Test("reports a push within the time of its wake only")
  func reportInTime() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerDevice(DeviceServer.registration)
      _ = devices.requests()
      devices.answer(FaultResponse(status: 204).hanging(at: .start))
      let (push, wake) = (push(installation), installation.clock.now)
      installation.clock.advance(by: 25)
      let reporting = Task { await client.receive(push, wake: wake) }
      try await eventually("the report waits for its response") { devices.requests() == ["PUT state"] }
      try await eventually("its limit is set") { installation.clock.sleeping.contains { $0 <= 5 } }
      installation.clock.advance(by: 5)
      #expect(await reporting.value.result == .noData)
    }
  }

  @Test("follows the topics of the feed also after the server has refused another registration")
  func topicsAfterRefusal() async throws {
    try await Installation.with(topics: ["sport"]) { installation in
      let devices = DeviceServer(installation.feed)
      installation.server.respond(devices.respond)
      let client = try installation.client()
      await client.performFetch()
      try await client.registerDevice(DeviceServer.registration)
      devices.answer(FaultResponse(status: 503), FaultResponse(status: 422))
      let refused = DeviceRegistration(provider: .fcm, token: "refused")
      await #expect(throws: FetchError.self) { try await client.registerDevice(refused) }
      installation.clock.advance(by: 3600)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["POST", "PUT state", "PUT", "PUT"])
      #expect(devices.device?.registration.topics == ["sport"])
      var other = installation
      other.topics = ["arts"]
      installation.clock.advance(by: 3600)
      await (try other.client()).performFetch(.scheduled)
      #expect(devices.device?.registration.topics == ["arts"])
      #expect(devices.device?.registration.token == DeviceServer.registration.token)
    }
  }

  @Test("that the app makes again after a sign-out without a response stays; until then nothing is reported")
  func registeredAgain() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerDevice(DeviceServer.registration)
      _ = devices.requests()
      devices.answer(FaultResponse(status: 503))
      await #expect(throws: FetchError.self) { try await client.removeDevice() }
      await client.receive(push(installation))
      #expect(devices.requests() == ["DELETE"])
      try await client.registerDevice(DeviceServer.registration)
      installation.clock.advance(by: 3600)
      await client.performFetch(.scheduled)
      #expect(devices.devices.count == 1 && client.device?.id != nil)
    }
  }

  @Test("is renewed although the server has refused its code, which is not sent again")
  func refusedCode() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerWebPush()
      _ = devices.requests()
      devices.answer(FaultResponse(status: 403))
      await client.receive(RemoteNotification(payload: Data(#"{"code":"right"}"#.utf8)))
      #expect(devices.requests() == ["PUT confirmation"])
      installation.clock.advance(by: 3600)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT", "PUT state"])
    }
  }

  @Test(
    "and all requests of the app about it end at the timeout, if the server never answers",
    arguments: ["offer", "register", "remove", "sign out"])
  func silence(request: String) async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerDevice(DeviceServer.registration)
      let count = installation.server.requests.count
      installation.server.respond { _ in FaultResponse().hanging(at: .start) }
      let work = Task {
        switch request {
        case "offer": _ = try await client.pushOffer()
        case "register": try await client.registerDevice(DeviceRegistration(provider: .fcm, token: "new"))
        case "remove": try await client.removeDevice()
        default: try await client.signOut()
        }
      }
      try await eventually("the server has the request") { installation.server.requests.count > count }
      try await eventually("the timeout is set") { installation.clock.sleeping.contains(60) }
      installation.clock.advance(by: 60)
      let failure = await #expect(throws: FetchError.self) { try await work.value }
      #expect(failure?.code == .unreachable && failure?.message.hasSuffix(": no response within 60 s") == true)
      #expect((client.device == nil) == ["remove", "sign out"].contains(request))
    }
  }

  @Test("is confirmed by a code that arrives before the response to the registration")
  func earlyCode() async throws {
    try await DeviceServer.with { installation, devices, client in
      installation.server.respond { request in
        let response = devices.respond(request)
        return request.method == "POST" ? response.hanging(at: .start) : response
      }
      let registering = Task { try await client.registerWebPush() }
      try await eventually("the server has the device") { devices.device != nil }
      let receiving = Task { await client.receive(RemoteNotification(payload: Data(#"{"code":"right"}"#.utf8))) }
      try await eventually("the code waits for the response") { installation.clock.sleeping.count > 2 }
      installation.server.release()
      try await registering.value
      while devices.device?.isConfirmed == false, installation.clock.sleeping != [] {
        installation.clock.advance(by: 0.05)
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(await receiving.value.result == .noData)
      #expect(client.device?.isConfirmed == true && devices.device?.isConfirmed == true)
    }
  }

  @Test(
    "is renewed hourly until it is confirmed, because its code may be lost; any push confirms it",
    arguments: [false, true])
  func lostCode(isAlert: Bool) async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerWebPush()
      _ = devices.requests()
      for _ in 0..<2 {
        await client.performFetch(.scheduled)
        #expect(devices.requests() == [])
        installation.clock.advance(by: 3600)
        await client.performFetch(.scheduled)
        #expect(devices.requests() == ["PUT", "PUT state"])
      }
      await client.receive(RemoteNotification(payload: Data("{}".utf8)))
      #expect(client.device?.isConfirmed == false, "a payload without a field is no push of the server")
      let alert = RemoteNotification(payload: Data(#"{"title":"Flood"}"#.utf8))
      await client.receive(isAlert ? alert : RemoteNotification(token: installation.feed.token()))
      #expect(client.device?.isConfirmed == true)
      installation.clock.advance(by: 3600)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == [])
    }
  }

  @Test("sends no code that another process is sending")
  func codeMeanwhile() async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerWebPush()
      _ = devices.requests()
      devices.answer(FaultResponse(status: 204).hanging(at: .start))
      let confirming = Task { await client.receive(RemoteNotification(payload: Data(#"{"code":"right"}"#.utf8))) }
      try await eventually("the code waits for its response") { devices.requests() == ["PUT confirmation"] }
      let (other, reports) = (try installation.client(), Reports())
      let fetching = Task { reports.add(await other.performFetch(.scheduled)) }
      try await eventually("the wake waits for it") { installation.clock.sleeping.contains { $0 < 0.2 } }
      installation.server.release()
      #expect(await confirming.value.result == .noData)
      try await eventually("the wake has ended") {
        if installation.clock.sleeping.contains(where: { $0 < 0.2 }) { installation.clock.advance(by: 0.2) }
        return reports.all.count == 1
      }
      await fetching.value
      #expect(devices.requests() == [] && client.device?.isConfirmed == true)
    }
  }

  @Test("cannot be changed while another process does not end its change")
  func locked() async throws {
    try await DeviceServer.with { installation, devices, client in
      let lock = FetchLock(path: installation.folder.appending(path: "device.lock").path)
      let held = try #require(try lock.acquire())
      let (start, ended) = (installation.clock.now, Reports())
      let registering = Task {
        defer { ended.note("ended") }
        try await client.registerDevice(DeviceServer.registration)
      }
      try await eventually("its time is over") {
        // Each step waits for the attempt after the previous one.
        if installation.clock.sleeping.contains(where: { $0 < 0.2 }) { installation.clock.advance(by: 0.5) }
        return !ended.texts.isEmpty
      }
      #expect(10...11 ~= installation.clock.now.seconds(since: start))
      held.release()
      let failure = await #expect(throws: FetchError.self) { try await registering.value }
      #expect(failure?.message == "another process is changing the registration for pushes")
      #expect(devices.requests() == [] && client.device == nil)
    }
  }

  @Test("and all requests about it follow redirects that keep the method, within the origin", arguments: [307, 308])
  func moved(status: Int) async throws {
    try await DeviceServer.with { installation, devices, client in
      installation.server.respond { request in
        guard request.path.hasPrefix("/new/") else {
          return .redirect(.sameOrigin("/new" + request.target), from: request, status: status)
        }
        var moved = request
        moved.target = String(request.target.dropFirst("/new".count))
        return devices.respond(moved)
      }
      try await client.registerWebPush()
      await client.receive(RemoteNotification(payload: Data(#"{"code":"right"}"#.utf8)))
      #expect(devices.device?.isConfirmed == true)
      installation.clock.advance(by: 604_800)
      await client.performFetch(.scheduled)
      #expect(devices.device?.reports.isEmpty == false)
      try await client.removeDevice()
      #expect(devices.devices.isEmpty && client.device == nil)
      #expect(devices.requests() == ["POST", "PUT state", "PUT confirmation", "PUT", "PUT state", "DELETE"])
    }
  }

  @Test("sends neither its token nor its secret to another origin", arguments: [307, 308])
  func movedAway(status: Int) async throws {
    try await DeviceServer.with { installation, devices, client in
      try await client.registerDevice(DeviceServer.registration)
      try await FaultServer.with({ _ in FaultResponse(status: 204) }) { other in
        installation.server.respond { .redirect(.other(other, $0.target), from: $0, status: status) }
        let failure = await #expect(throws: FetchError.self) {
          try await client.registerDevice(DeviceRegistration(provider: .fcm, token: "new"))
        }
        #expect(failure?.message == "the server responded with \(status)")
        #expect(other.requests.isEmpty && devices.devices.count == 1)
      }
    }
  }
}
