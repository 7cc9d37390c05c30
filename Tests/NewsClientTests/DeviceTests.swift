import BackgroundFetch
import FaultServer
import Foundation
import HTTPTransfer
import News
import NewsClient
import TestKit
import Testing

@Suite("A registered device") struct DeviceTests {
  private static let week = 604_800.0

  private func registered(
    topics: [String] = [], _ body: (Installation, DeviceServer, NewsFetcher) async throws -> Void
  ) async throws {
    try await Installation.with(topics: topics) { installation in
      let devices = DeviceServer(installation.feed)
      installation.server.respond(devices.respond)
      installation.feed.publish("one", topics: topics)
      let client = try installation.client()
      try client.updateSchedule { $0.setInterval(.duration(.seconds(1800))) }
      await client.performFetch()
      try await client.registerDevice(DeviceServer.registration)
      #expect(devices.requests() == ["POST", "PUT state"])
      try await body(installation, devices, client)
    }
  }

  @Test("is registered once, reports its token, and its reads name no device")
  func registers() async throws {
    try await registered(topics: ["sport"]) { installation, devices, client in
      let device = try #require(devices.device)
      #expect(device.registration.topics == ["sport"] && device.registration.token == "device-token-7")
      #expect(device.reports.map(\.token) == [installation.feed.token(topics: ["sport"])])
      let id = try #require(devices.devices.keys.first)
      #expect(client.device?.id?.uuidString.lowercased() == id && client.device?.topics == ["sport"])
      for launched in [client, try installation.client()] {
        try await launched.registerDevice(DeviceServer.registration)
      }
      await client.performFetch(.scheduled)
      #expect(devices.requests() == [])
      for request in installation.server.requests where !request.path.hasPrefix("/v1/devices") {
        let text = request.target + request.headers.map { $0.name + $0.value }.joined()
        #expect(!text.contains(id) && !text.contains(device.secret) && request["Authorization"] == nil)
      }
    }
  }

  @Test("keeps its secrets in a file that only the user can read, apart from the cache and from logs")
  func secrets() async throws {
    try await registered { installation, devices, client in
      let secret = try #require(devices.device?.secret)
      let files = try FileManager.default.subpathsOfDirectory(atPath: installation.folder.path).filter { name in
        let data = FileManager.default.contents(atPath: installation.folder.appending(path: name).path) ?? Data()
        return data.range(of: Data(secret.utf8)) != nil || data.range(of: Data("device-token-7".utf8)) != nil
      }
      #expect(files == ["device.json"])
      let file = installation.folder.appending(path: "device.json").path
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      for name in ["news.sqlite", "news.sqlite-wal", "news.sqlite-shm"] {
        try? FileManager.default.removeItem(at: installation.folder.appending(path: name))
      }
      let again = try installation.client()
      #expect(again.device?.id == client.device?.id)
      try await again.registerDevice(DeviceServer.registration)
      #expect(devices.requests() == [], "the loss of the cache loses no registration")
    }
  }

  @Test("whose file cannot be read is unknown until the next launch, which registers it again")
  func damaged() async throws {
    try await registered { installation, devices, client in
      let file = installation.folder.appending(path: "device.json")
      try Data("{".utf8).write(to: file)
      let log = Reports()
      let launched = try NewsFetcher(
        .init(folder: installation.folder, feed: try installation.followedFeed(), userAgent: "tests/1"),
        application: ApplicationLifecycle(launchReason: .fetch, clock: installation.clock), clock: installation.clock,
        log: log.note)
      await launched.performFetch(.scheduled)
      #expect(launched.device == nil && devices.requests() == [])
      #expect(log.texts == ["the registration for pushes cannot be read; it has to be made again"])
      #expect(!FileManager.default.fileExists(atPath: file.path))
      try await launched.registerDevice(DeviceServer.registration)
      #expect(devices.requests() == ["POST", "PUT state"] && launched.device?.id != nil)
    }
  }

  @Test("whose files cannot be read for a while is not made again")
  func unreadable() async throws {
    try await registered { installation, devices, client in
      let endpoint = "https://push.example/1"
      let (id, subscription) = (client.device?.id, try await client.pushSubscription(endpoint: endpoint))
      let names = ["device.json", "push-keys.json"].map { installation.folder.appending(path: $0) }
      for file in names {
        try FileManager.default.moveItem(at: file, to: file.appendingPathExtension("kept"))
        // A link to a folder can be replaced, but not be read.
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: installation.folder)
      }
      var error = await #expect(throws: FetchError.self) { try await client.registerDevice(DeviceServer.registration) }
      #expect(error?.code == .storage)
      error = await #expect(throws: FetchError.self) { _ = try await client.pushSubscription(endpoint: endpoint) }
      #expect(error?.code == .storage)
      for file in names {
        try FileManager.default.removeItem(at: file)
        try FileManager.default.moveItem(at: file.appendingPathExtension("kept"), to: file)
      }
      #expect(client.device?.id == id)
      #expect(try await client.pushSubscription(endpoint: endpoint) == subscription)
      try await client.registerDevice(DeviceServer.registration)
      #expect(devices.requests() == [])
    }
  }

  @Test("is renewed weekly by a wake, and a changed registration at once")
  func renewal() async throws {
    try await registered { installation, devices, client in
      installation.clock.advance(by: Self.week - 60)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == [])
      installation.clock.advance(by: 60)
      await client.performFetch(.manual)
      #expect(devices.requests() == [], "the user waits for news only")
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT", "PUT state"])
      await client.performFetch(.scheduled)
      #expect(devices.requests() == [])
      var changed = DeviceServer.registration
      (changed.token, changed.alerts) = ("other", true)
      try await client.registerDevice(changed)
      #expect(devices.requests() == ["PUT", "PUT state"])
      #expect(devices.device?.registration == changed)
    }
  }

  @Test("is registered although the server does not take the report of its token")
  func failedReport() async throws {
    try await registered { installation, devices, client in
      let credentials = #"{"expires":"2027-02-24T06:00:00.000Z","id":"\#(UUID())","secret":"s"}"#
      devices.answer(.json(credentials), FaultResponse(status: 500))
      var changed = DeviceServer.registration
      changed.token = "other"
      try await client.registerDevice(changed)
      #expect(devices.requests() == ["PUT", "PUT state"])
      try await client.registerDevice(changed)
      #expect(devices.requests() == [])
    }
  }

  @Test("is not renewed after a fetch that has failed, because the address of the server may be wrong")
  func failedFetch() async throws {
    try await registered { installation, devices, client in
      installation.clock.advance(by: Self.week)
      installation.feed.fault(next: .busy(500, retryAfter: nil))
      #expect(await client.performFetch(.scheduled).result == .failed)
      #expect(devices.requests() == [])
    }
  }

  @Test("has the topics that the app has chosen, not those of the feed")
  func ownTopics() async throws {
    try await registered(topics: ["sport"]) { installation, devices, client in
      var registration = DeviceServer.registration
      registration.topics = ["arts"]
      try await client.registerDevice(registration)
      #expect(devices.device?.registration.topics == ["arts"] && client.device?.topics == ["arts"])
    }
  }

  @Test("that the server has forgotten, as its answer to a report shows, is registered again by the next wake")
  func forgottenAtReport() async throws {
    try await registered { installation, devices, client in
      devices.forget()
      let payload = #"{"push":"\#(UUID())","report":1,"token":"\#(installation.feed.token())"}"#
      await client.receive(RemoteNotification(payload: Data(payload.utf8)))
      #expect(devices.requests() == ["PUT state"] && client.device?.id == nil)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["POST", "PUT state"] && client.device?.id != nil)
    }
  }

  @Test("that the server has forgotten is registered again, without a loop")
  func forgotten() async throws {
    try await registered { installation, devices, client in
      devices.forget()
      installation.clock.advance(by: Self.week)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT", "POST", "PUT state"])
      #expect(devices.devices.count == 1)
      devices.answer(FaultResponse(status: 404), FaultResponse(status: 404))
      installation.clock.advance(by: Self.week)
      await client.performFetch(.scheduled)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT", "POST"])
      installation.clock.advance(by: 3600)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["POST", "PUT state"])
      devices.forget()
      try await client.removeDevice()
      #expect(devices.requests() == ["DELETE"] && client.device == nil, "there is nothing left to remove")
    }
  }

  @Test(
    "changes no result by a failure of its renewal, and tries again after an hour",
    arguments: [FaultResponse(status: 500), FaultResponse().resetting(at: .start), .json("7"), .captivePortal()])
  func failures(response: FaultResponse) async throws {
    try await registered { installation, devices, client in
      installation.clock.advance(by: Self.week)
      devices.answer(response)
      installation.feed.publish("two")
      #expect(await client.performFetch(.scheduled).inserted == 1)
      #expect(await client.performFetch(.scheduled).result == .noData)
      #expect(devices.requests() == ["PUT"])
      installation.clock.advance(by: 3600)
      #expect(await client.performFetch(.scheduled).result == .noData)
      #expect(devices.requests() == ["PUT", "PUT state"])
    }
  }

  @Test("leaves the result of a fetch in time, even if the server never answers")
  func silence() async throws {
    try await registered { installation, devices, client in
      installation.clock.advance(by: Self.week)
      devices.answer(FaultResponse().hanging(at: .start))
      installation.feed.publish("two")
      let fetch = Task { await client.performFetch(.scheduled) }
      try await eventually("the renewal waits") { devices.requests() == ["PUT"] }
      try await eventually("it has ten seconds") { installation.clock.sleeping.contains(10) }
      installation.clock.advance(by: 10)
      let report = await fetch.value
      #expect(report.result == .newData && report.inserted == 1)
      #expect(try client.runs(limit: 1).first?.result == .newData)
    }
  }

  @Test("is renewed after a slow fetch only in the time that the result does not need")
  func slowFetch() async throws {
    try await registered { installation, devices, client in
      installation.clock.advance(by: Self.week)
      _ = installation.requests()
      installation.feed.fault(next: .hang(at: .start))
      devices.answer(FaultResponse().hanging(at: .start))
      let fetch = Task { await client.performFetch(.scheduled) }
      try await eventually("the fetch waits for its response") { !installation.requests().isEmpty }
      installation.clock.advance(by: 20)
      installation.server.release()
      try await eventually("the renewal waits") { devices.requests() == ["PUT"] }
      try await eventually("it has 4 of the last 10 seconds") { installation.clock.sleeping.contains(4) }
      installation.clock.advance(by: 4)
      #expect(await fetch.value.result == .noData)
    }
  }

  @Test("sends no request inside a Retry-After, of its own requests or of others")
  func retryAfter() async throws {
    try await registered { installation, devices, client in
      installation.clock.advance(by: Self.week)
      devices.answer(.busy(429, retryAfter: .seconds(7200)))
      #expect(await client.performFetch(.scheduled).result == .noData)
      #expect(devices.requests() == ["PUT"])
      installation.clock.advance(by: 7100)
      await #expect(throws: FetchError.self) { try await client.registerDevice(.init(provider: .fcm, token: "new")) }
      #expect(devices.requests() == [])
      installation.clock.advance(by: 200)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == [], "the attempt of the app was less than an hour ago")
      installation.clock.advance(by: 3600)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT", "PUT state"])
      #expect(devices.device?.registration.token == "new")
    }
  }

  @Test(
    "is removed with its keys, also by signing out; if the server does not answer, the next fetch removes it",
    arguments: [FetchReason.push, .manual])
  func removal(reason: FetchReason) async throws {
    try await registered { installation, devices, client in
      _ = try await client.pushSubscription(endpoint: "https://push.example/1")
      devices.answer(FaultResponse(status: 503))
      await #expect(throws: FetchError.self) { try await client.signOut() }
      #expect(try client.schedule.interval == .never)
      #expect(client.device == nil && devices.devices.count == 1)
      await client.performFetch(reason)
      #expect(devices.requests() == ["DELETE"])
      installation.clock.advance(by: 60)
      await client.performFetch(reason)
      #expect(devices.requests() == ["DELETE"])
      #expect(devices.devices.isEmpty)
      let names = try FileManager.default.contentsOfDirectory(atPath: installation.folder.path)
      #expect(!names.contains("device.json") && !names.contains("push-keys.json"))
      try await client.signOut()
      #expect(devices.requests() == [])
    }
  }

  @Test("that the server refuses is not kept; one that cannot be sent follows with the next wake")
  func refusal() async throws {
    try await Installation.with { installation in
      let devices = DeviceServer(installation.feed)
      installation.server.respond(devices.respond)
      let client = try installation.client()
      devices.answer(FaultResponse(status: 422))
      await #expect(throws: FetchError.self) { try await client.registerDevice(DeviceServer.registration) }
      await client.performFetch(.scheduled)
      #expect(client.device == nil && devices.requests() == ["POST"])
      devices.answer(FaultResponse(status: 502))
      await #expect(throws: FetchError.self) { try await client.registerDevice(DeviceServer.registration) }
      #expect(client.device?.id == nil && client.device?.provider == .fcm)
      var other = installation
      other.address = "http://127.0.0.1:1"
      let moved = try other.client()
      await #expect(throws: FetchError.self) { try await moved.registerDevice(DeviceServer.registration) }
      #expect(moved.device?.server.absoluteString == "http://127.0.0.1:1", "no server has accepted it")
      installation.clock.advance(by: 3600)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["POST", "POST", "PUT state"])
      #expect(client.device?.id != nil)
    }
  }

  @Test("with Web Push is confirmed by the code of its first push, which is kept until the server has it")
  func confirmation() async throws {
    try await registered { installation, devices, client in
      let subscription = try await client.pushSubscription(endpoint: "https://push.example/1")
      #expect(try await client.pushSubscription(endpoint: "https://push.example/1") == subscription)
      try await client.registerDevice(
        DeviceRegistration(provider: .webpush, kind: .unifiedpush, subscription: subscription))
      #expect(devices.device?.registration.subscription == subscription)
      #expect(client.device?.isConfirmed == false)
      _ = (devices.requests(), installation.requests())
      let wrong = await client.receive(RemoteNotification(payload: Data(#"{"code":"wrong"}"#.utf8)))
      #expect(wrong.result == .noData && client.device?.isConfirmed == false)
      devices.answer(FaultResponse(status: 500))
      await client.receive(RemoteNotification(payload: Data(#"{"code":"right"}"#.utf8)))
      #expect(client.device?.isConfirmed == false)
      #expect(try client.schedule.pushes == PushRateLimit(), "it is no wake")
      await client.performFetch(.scheduled)
      #expect(client.device?.isConfirmed == true && devices.device?.isConfirmed == true)
      #expect(devices.requests() == ["PUT confirmation", "PUT confirmation", "PUT confirmation"])
      // Neither a late code nor a renewal makes it unconfirmed.
      await client.receive(RemoteNotification(payload: Data(#"{"code":"wrong"}"#.utf8)))
      #expect(client.device?.isConfirmed == true)
      installation.clock.advance(by: Self.week)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT confirmation", "PUT", "PUT state"])
      #expect(client.device?.isConfirmed == true)
      // The server sends nothing to a new address before its code has arrived.
      let moved = try await client.pushSubscription(endpoint: "https://push.example/2")
      try await client.registerDevice(DeviceRegistration(provider: .webpush, kind: .unifiedpush, subscription: moved))
      #expect(client.device?.isConfirmed == false)
    }
  }

  @Test("reports a push that asks for it, with the result of its fetch, once")
  func report() async throws {
    try await registered { installation, devices, client in
      let (first, second, third) = (UUID(), UUID(), UUID())
      func push(_ id: UUID, token: SyncToken) async {
        let payload = #"{"push":"\#(id)","report":"1","token":"\#(token)"}"#
        await client.receive(RemoteNotification(payload: Data(payload.utf8)))
      }
      await client.receive(RemoteNotification(token: installation.feed.token(), id: UUID()))
      #expect(devices.requests() == [], "this push asks for no report")
      installation.feed.publish("two")
      let token = installation.feed.token()
      await push(first, token: token)
      await push(first, token: token)
      await push(second, token: token)
      #expect(devices.requests() == ["PUT state", "PUT state"])
      let expected = [
        DeviceReport(token: token, push: first, result: .newData), .init(token: token, push: second, result: .noData),
      ]
      #expect(devices.device?.reports.suffix(2) == expected[...])
      installation.feed.publish("three")
      devices.answer(FaultResponse(status: 500))
      await push(third, token: installation.feed.token())
      #expect(devices.requests() == ["PUT state"])
      await client.performFetch(.scheduled)
      #expect(devices.device?.reports.last?.push == third && devices.device?.reports.last?.result == .newData)
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT state"])
      devices.answer(FaultResponse(status: 403))
      await push(UUID(), token: installation.feed.token())
      await client.performFetch(.scheduled)
      #expect(devices.requests() == ["PUT state"], "a report that is refused is not repeated")
    }
  }
}
