import FaultServer
import Foundation
import NewsDelivery
import NewsStore
import TestKit
import TestSupport
import Testing

/// The hosts of push services, their addresses and their bounds.
extension WebPushSenderTests {
  @Test("The failures of one host say nothing about others, and 256 messages are sent at a time")
  func bounds() async throws {
    try await Self.with { service in
      #expect(!service.sender.sharesFailures && service.sender.width == 256)
      #expect(WebPushSender.timeout == .seconds(20))
      #expect(await service.sender.send(.sample(to: .fcm(token: "t"))).result.name == "invalid")
      #expect(service.server.connections == 0)
    }
  }

  @Test("The tokens of 256 origins are kept")
  func manyTokens() async throws {
    try await Self.with { service in
      func token(_ number: Int) async -> String? {
        _ = await service.send(to: "http://h\(number).push.test:\(service.server.port)/a")
        return service.server.takeRequests().first?["Authorization"]
      }
      let first = await token(0)
      #expect(first != nil)
      service.time.advance(minutes: 1)
      for number in 1..<256 { #expect(await token(number) != first) }
      #expect(await token(0) == first)
      _ = await token(256)
      #expect(await token(0) != first)
    }
  }

  @Test("A request to the former address of a host has time for its response")
  func formerAddress() async throws {
    let addresses: @Sendable (Int) -> [String] = { $0 == 1 ? ["127.0.0.1"] : ["127.0.0.2"] }
    try await Self.with(allowed: ["127.0.0.0/8"], addresses: addresses, checkTime: .zero) { service in
      let endpoint = "http://push.test:\(service.server.port)/a"
      service.server.respond { _ in FaultResponse(status: 201).hanging(at: .start) }
      async let first = service.send(to: endpoint)
      try await eventually("the request has arrived") { service.server.requests.count == 1 }
      // There is no server at the new address.
      #expect(await service.send(to: endpoint).isFailure)
      // A connection that is closed too early is closed by then.
      try await Task.sleep(for: .milliseconds(200))
      service.server.release()
      #expect(await first.result == .sent)
    }
  }

  @Test("A host that comes back at its only address is reached again, and keeps its connections")
  func returned() async throws {
    try await Self.with(checkTime: .zero) { service in
      let endpoint = "http://push.test:\(service.server.port)/a"
      await service.server.stop()
      for _ in 0..<2 { #expect(await service.send(to: endpoint).result.reason?.contains("resolved") == false) }
      let server = try await FaultServer.start(port: service.server.port) { _ in FaultResponse(status: 201) }
      try await withResource(server, release: { await $0.stop() }) { server in
        for _ in 0..<5 { #expect(await service.send(to: endpoint).result == .sent) }
        #expect(server.connections < 5)
      }
    }
  }

  @Test("An address that is found again is not looked up before the time of its next check")
  func checkedAgain() async throws {
    let checkTime: Duration = .milliseconds(500)
    try await Self.with(checkTime: checkTime) { service in
      let endpoint = "http://push.test:\(service.server.port)/a"
      #expect(await service.send(to: endpoint).result == .sent)
      try await Task.sleep(for: checkTime * 1.1)
      let start = ContinuousClock.now
      for _ in 0..<2 { #expect(await service.send(to: endpoint).result == .sent) }
      // Only on a machine that stands still, the address is checked once more.
      #expect(service.lookups.value == 2 || .now - start > checkTime / 2)
    }
  }

  @Test("A host whose address is not allowed does not count as slow, however many messages it is sent")
  func manyRefused() async throws {
    try await Self.with(allowed: []) { service in
      let endpoint = "http://push.test:\(service.server.port)/a"
      for _ in 0..<3 { #expect(await service.send(to: endpoint).result.name == "tokenError") }
      await withTaskGroup(of: PushAnswer.self) { group in
        for _ in 0..<HostGate.width { group.addTask { await service.send(to: endpoint) } }
        for await answer in group { #expect(answer.result.name == "tokenError") }
      }
      #expect(service.server.connections == 0)
    }
  }
}
