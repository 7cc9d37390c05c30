import Crypto
import FaultServer
import Foundation
import JWTKit
import NIOCore
import NetworkAddresses
import News
import NewsDelivery
import NewsStore
import OutgoingHTTP
import Synchronization
import TestKit
import TestSupport
import Testing

/// Requests to push services, and the meaning of their responses.
@Suite struct WebPushSenderTests {
  private struct Claims: JWTPayload {
    var aud: String
    var sub: String
    var exp: Int

    func verify(using algorithm: some JWTAlgorithm) throws {}
  }

  struct Service {
    let server: FaultServer
    let sender: WebPushSender
    let receiver: WebPushReceiver
    let key: P256.Signing.PrivateKey
    let time: TestTime
    /// The number of name resolutions.
    let lookups: Count

    func target(_ endpoint: String? = nil) -> PushTarget {
      .webPush(
        endpoint: endpoint ?? "\(server.url)/up/1?x=y", p256dh: receiver.publicKey, auth: receiver.secret)
    }

    func send(
      _ alert: PushAlert? = nil, code: String? = nil, asksForReport: Bool = false, to endpoint: String? = nil
    ) async -> PushAnswer {
      await sender.send(.sample(to: target(endpoint), alert: alert, code: code, asksForReport: asksForReport))
    }

    /// The decrypted body of the only request since the last call.
    func takeText() throws -> String {
      let requests = server.takeRequests()
      #expect(requests.count == 1)
      return String(decoding: try receiver.decrypt(requests.first?.body ?? Data()), as: UTF8.self)
    }
  }

  /// - Parameters:
  ///   - allowed: The networks that messages may reach besides public ones.
  ///   - addresses: Returns the addresses of a name, for the number of the name resolution.
  static func with(
    allowed: [String] = ["127.0.0.1"], addresses: @escaping @Sendable (Int) -> [String] = { _ in ["127.0.0.1"] },
    timeout: Duration = .seconds(60), checkTime: Duration? = nil, closingTime: Duration? = nil,
    _ body: (Service) async throws -> Void
  ) async throws {
    let (key, time, lookups) = (P256.Signing.PrivateKey(), TestTime(), Count())
    var policy = AddressPolicy()
    policy.allowedNetworks = allowed.compactMap { IPNetwork($0) }
    try await FaultServer.with({ _ in FaultResponse(status: 201) }) { server in
      let resolver = NameResolver { _, port in
        try addresses(lookups.next()).map { try SocketAddress(ipAddress: $0, port: port) }
      }
      let sender = WebPushSender(
        try VAPIDCredentials(pem: key.pemRepresentation, subject: "mailto:news@example.org"),
        origins: try WebPushOrigins([
          server.url, "http://push.test:\(server.port)", "http://*.push.test:\(server.port)",
        ]),
        resolver: CheckedResolver(policy: policy, resolver: resolver), trustRoots: [], timeout: timeout,
        checkTime: checkTime, closingTime: closingTime, clock: { time.now })
      try await withResource(sender, release: { await $0.shutdown() }) { sender in
        try await body(
          Service(
            server: server, sender: sender, receiver: WebPushReceiver(), key: key, time: time, lookups: lookups))
      }
    }
  }

  @Test("A silent message is encrypted, has a lifetime, an urgency and a topic, and is signed for its origin")
  func silent() async throws {
    try await Self.with { service in
      #expect(await service.send(asksForReport: true).result == .sent)
      let request = try #require(service.server.requests.first)
      #expect(request.method == "POST" && request.target == "/up/1?x=y")
      #expect(request["TTL"] == "86400" && request["Urgency"] == "low" && request["Topic"] == "news")
      #expect(request["Content-Encoding"] == "aes128gcm" && request["Content-Type"] == "application/octet-stream")
      #expect(
        try service.takeText() == #"{"content-id":"01234567-0000-7000-8000-000000000003","#
          + #""push":"00000000-0000-4000-8000-000000000001","report":1,"token":"1k3x9qam9pkx.10"}"#)

      let authorization = try #require(request["Authorization"])
      let parts = authorization.split(separator: " ")
      #expect(parts.count == 3 && parts[0] == "vapid" && parts[1].hasPrefix("t=") && parts[1].hasSuffix(","))
      let publicKey = try #require(Data(base64URL: parts[2].dropFirst(2)))
      #expect(parts[2].hasPrefix("k=") && publicKey == service.key.publicKey.x963Representation)
      let keys = JWTKeyCollection()
      await keys.add(ecdsa: try ES256PublicKey(pem: service.key.publicKey.pemRepresentation))
      let claims = try await keys.verify(String(parts[1].dropFirst(2).dropLast()), as: Claims.self)
      #expect(claims.aud == service.server.url && claims.sub == "mailto:news@example.org")
      #expect(claims.exp == 1_800_000_000 + 12 * 3600)
    }
  }

  @Test("An alert carries its texts, cut to 3,993 bytes, and a topic of its item")
  func alert() async throws {
    try await Self.with { service in
      let alert = PushAlert(title: "Title", body: "Body", url: "https://news.example/a", breaking: true)
      #expect(await service.send(alert).result == .sent)
      let request = try #require(service.server.requests.first)
      #expect(request["Urgency"] == "high" && request["TTL"] == "21600")
      let topic = try #require(request["Topic"])
      let item = withUnsafeBytes(of: PushMessage.sampleItem.uuid) { Data($0) }
      #expect(topic.count == 22 && Data(base64URL: topic) == item)
      #expect(
        try service.takeText() == #"{"body":"Body","breaking":true,"#
          + #""content-id":"01234567-0000-7000-8000-000000000003","push":"00000000-0000-4000-8000-000000000001","#
          + #""title":"Title","token":"1k3x9qam9pkx.10","url":"https://news.example/a"}"#)
      #expect(await service.send(PushAlert(title: "Title", body: longText(1000))).result == .sent)
      #expect(service.server.requests.first?["Urgency"] == "normal")
      let text = try service.takeText()
      #expect(3993 - 13...3993 ~= text.utf8.count)
      #expect(try JSONDecoder().decode([String: String].self, from: Data(text.utf8))["title"] == "Title")
    }
  }

  @Test("A confirmation carries the code, and no topic that could replace another message")
  func confirmation() async throws {
    try await Self.with { service in
      #expect(await service.send(code: "c0de").result == .sent)
      let request = try #require(service.server.requests.first)
      #expect(request["Topic"] == nil && request["TTL"] == "3600" && request["Urgency"] == "high")
      #expect(
        try service.takeText()
          == #"{"code":"c0de","push":"00000000-0000-4000-8000-000000000001","token":"1k3x9qam9pkx.10"}"#)
    }
  }

  @Test("The token of an origin is reused for 11 hours")
  func tokens() async throws {
    try await Self.with { service in
      func token() async -> String? {
        _ = await service.send()
        return service.server.takeRequests().first?["Authorization"]
      }
      let first = await token()
      // Another origin has a token of its own.
      let other = "push.test:\(service.server.port)"
      _ = await service.send(to: "http://\(other)/a")
      let authorization = try #require(service.server.takeRequests().first?["Authorization"])
      let claims = Data(base64URL: authorization.split(separator: ".").dropFirst().first ?? "")
      #expect(claims.map { String(decoding: $0, as: UTF8.self).contains(other) } == true)
      service.time.advance(minutes: 10 * 60)
      #expect(await token() == first)
      service.time.advance(minutes: 61)
      let second = await token()
      #expect(second != nil && second != first)
      // Services refuse a token that is valid for more than a day, as one from the future is.
      service.time.advance(minutes: -13 * 60)
      let third = await token()
      #expect(third != nil && third != second)
    }
  }

  @Test(
    "Each response has its meaning",
    arguments: [
      (200, "sent"), (201, "sent"), (202, "sent"), (204, "sent"), (404, "gone"), (410, "gone"), (413, "invalid"),
      (400, "invalid"), (401, "tokenError"), (403, "tokenError"), (301, "tokenError"), (307, "tokenError"),
      (429, "retry"), (406, "retry"), (500, "failure"), (502, "failure"), (503, "failure"),
      (408, "failure"), (405, "invalid"),
    ])
  func responses(_ status: Int, _ expected: String) async throws {
    try await Self.with { service in
      service.server.respond { _ in FaultResponse(status: status, headers: [("Location", "/elsewhere")]) }
      let answer = await service.send()
      #expect(answer.pause == nil && answer.isFailure == (expected == "failure"))
      #expect(answer.result.name == (expected == "failure" ? "retry" : expected))
      if status == 429 { #expect(answer.result.wait ?? 0 >= 60) }
      if status == 404 { #expect(answer.result == .gone(since: nil)) }
      #expect(answer.result.reason?.contains("\(status)") ?? true)
      #expect(answer.refusesKey == [401, 403].contains(status))
      #expect(service.server.requests.count == 1)
    }
  }

  @Test("Retry-After is obeyed")
  func retryAfter() async throws {
    try await Self.with { service in
      service.server.respond { _ in FaultResponse(status: 429, headers: [("Retry-After", "3600")]) }
      #expect(3600...4700 ~= (await service.send().result.wait ?? 0))
    }
  }

  @Test("Waits grow with the attempts, with and without a response")
  func waits() async throws {
    try await Self.with { service in
      service.server.respond { _ in FaultResponse(status: 503) }
      for _ in 0..<2 {
        let answer = await service.sender.send(.sample(to: service.target(), attempts: 3))
        #expect(answer.isFailure && 40...53 ~= answer.result.wait ?? 0)
        await service.server.stop()
      }
    }
    // A name that cannot be resolved says nothing about the subscription.
    try await Self.with(addresses: { _ in [] }) { service in
      let endpoint = "http://push.test:\(service.server.port)/a"
      let answer = await service.sender.send(.sample(to: service.target(endpoint), attempts: 3))
      #expect(answer.isFailure && 40...53 ~= answer.result.wait ?? 0)
    }
  }

  @Test("A payload of 3,993 bytes is sent, and a larger one without texts is not")
  func limit() async throws {
    try await Self.with { service in
      func size(_ length: Int) async throws -> Int? {
        let data = ["a": String(repeating: "x", count: length)]
        let answer = await service.sender.send(.sample(to: service.target(), data: data))
        guard answer.result == .sent else {
          #expect(answer.result.name == "invalid")
          return nil
        }
        return try service.takeText().utf8.count
      }
      let rest = 3993 - (try #require(try await size(0)))
      #expect(try await size(rest) == 3993)
      #expect(try await size(rest + 1) == nil)
      #expect(service.server.requests.isEmpty)
    }
  }

  @Test("The connections of 128 hosts are kept, and the one that was used longest ago makes room for another")
  func hosts() async throws {
    try await Self.with { service in
      func lookups(_ numbers: [Int]) async -> Int {
        for number in numbers {
          #expect(await service.send(to: "http://h\(number).push.test:\(service.server.port)/a").result == .sent)
        }
        return service.lookups.value
      }
      #expect(await lookups(Array(0..<128) + [0, 128]) == 129)
      #expect(await lookups([0]) == 129)
      #expect(await lookups([1]) == 130)
    }
  }

  @Test("While 128 hosts have a message under way, one to another host waits")
  func busyHosts() async throws {
    try await Self.with { service in
      let port = service.server.port
      service.server.respond { _ in FaultResponse(status: 201).hanging(at: .start) }
      await withTaskGroup(of: PushAnswer.self) { group in
        for number in 0..<128 { group.addTask { await service.send(to: "http://h\(number).push.test:\(port)/a") } }
        try? await eventually("all hosts have a message") { service.server.requests.count == 128 }
        let answer = await service.send(to: "http://h128.push.test:\(port)/a")
        #expect(1...5 ~= answer.result.wait ?? 0 && !answer.isFailure && answer.result.name == "unsent")
        service.server.release()
        for await answer in group { #expect(answer.result == .sent) }
      }
      #expect(service.server.requests.count == 128)
    }
  }

  @Test("A host without HTTP/2 has 32 connections, for which further messages wait")
  func connections() async throws {
    try await Self.with { service in
      service.server.respond { _ in FaultResponse(status: 201).hanging(at: .start) }
      await withTaskGroup(of: PushAnswer.self) { group in
        for _ in 0..<40 { group.addTask { await service.send() } }
        try? await eventually("all connections have a message") { service.server.requests.count >= 32 }
        #expect(service.server.requests.count == 32 && service.server.openConnections == 32)
        service.server.respond { _ in FaultResponse(status: 201) }
        service.server.release()
        for await answer in group { #expect(answer.result == .sent) }
      }
      #expect(service.server.requests.count == 40)
    }
  }

  @Test("Connections go to the checked address of a name, which is not resolved again for each message")
  func checkedAddress() async throws {
    try await Self.with { service in
      let endpoint = "http://push.test:\(service.server.port)/a"
      // Messages that need the same look-up share it.
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<20 { group.addTask { #expect(await service.send(to: endpoint).result == .sent) } }
      }
      for _ in 0..<5 { #expect(await service.send(to: endpoint).result == .sent) }
      #expect(service.lookups.value == 1)
      #expect(service.server.takeRequests().allSatisfy { $0["Host"] == "push.test:\(service.server.port)" })
    }
  }

  @Test("A name with an address in a private network is refused, and so is an origin that is not allowed")
  func refusedAddress() async throws {
    try await Self.with(allowed: []) { service in
      let endpoint = "http://push.test:\(service.server.port)/a"
      #expect(await service.send(to: endpoint).result.name == "tokenError")
      #expect(await service.send().result.name == "tokenError")
      #expect(await service.send(to: "nothing").result.name == "tokenError")
      #expect(service.server.connections == 0)
    }
    // Its address would be allowed.
    try await Self.with { service in
      #expect(await service.send(to: "http://other.test:\(service.server.port)/a").result.name == "tokenError")
      #expect(service.server.connections == 0)
    }
  }

  @Test("After an address that cannot be reached, the next one of the name is used")
  func otherAddress() async throws {
    try await Self.with(allowed: ["127.0.0.0/8"], addresses: { _ in ["127.0.0.2", "127.0.0.1"] }) { service in
      let endpoint = "http://push.test:\(service.server.port)/a"
      #expect(await service.send(to: endpoint).isFailure)
      #expect(await service.send(to: endpoint).result == .sent)
    }
  }

  @Test("When its address is checked again, a host keeps its connections, or is reached at its new address")
  func movedHost() async throws {
    let addresses: @Sendable (Int) -> [String] = { $0 <= 5 ? ["127.0.0.1"] : ["127.0.0.2"] }
    try await Self.with(
      allowed: ["127.0.0.0/8"], addresses: addresses, checkTime: .zero, closingTime: .zero
    ) { service in
      let endpoint = "http://push.test:\(service.server.port)/a"
      for _ in 0..<5 { #expect(await service.send(to: endpoint).result == .sent) }
      #expect(service.server.connections < 5)
      // There is no server.
      #expect(await service.send(to: endpoint).isFailure)
      try await eventually("the former connections are closed") { service.server.openConnections == 0 }
    }
  }

  @Test("A host that does not respond is given few requests, and none waits for it")
  func slowHost() async throws {
    try await Self.with(timeout: .seconds(1)) { service in
      service.server.respond { _ in FaultResponse().hanging(at: .start) }
      for _ in 0..<3 { #expect(await service.send().isFailure) }
      @Sendable func many() async -> [PushAnswer] {
        await withTaskGroup(of: PushAnswer.self) { group in
          for _ in 0..<20 { group.addTask { await service.send() } }
          return await group.reduce(into: [PushAnswer]()) { $0.append($1) }
        }
      }
      // Two wait for the host. The others are refused without a request.
      let refused = await many()
      #expect(refused.contains { !$0.isFailure && 1...5 ~= $0.result.wait ?? 0 })
      service.server.respond { _ in FaultResponse(status: 201) }
      let answers = await many()
      // Two are admitted at a time. Others are refused as long as the host has not responded.
      #expect(answers.allSatisfy { $0.result == .sent || $0.result.wait ?? 60 < 60 })
      try await eventually("the host responds") { await service.send().result == .sent }
    }
  }

  @Test("A host whose name cannot be resolved is given few messages too")
  func unresolvedHost() async throws {
    let release = DispatchSemaphore(value: 0)
    try await Self.with(addresses: { number in
      guard number > 3 else { return [] }
      release.wait()
      release.signal()
      return []
    }) { service in
      let endpoint = "http://push.test:\(service.server.port)/a"
      for _ in 0..<3 { #expect(await service.send(to: endpoint).isFailure) }
      // Two wait for the name. The others are refused at once.
      let refused = Count()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<10 {
          group.addTask {
            let answer = await service.send(to: endpoint)
            if !answer.isFailure { _ = refused.next() }
          }
        }
        try? await eventually("others are refused") { refused.value > 0 }
        release.signal()
      }
      #expect(refused.value > 0)
    }
  }

  @Test("A subscription with an invalid public key is marked, and nothing is sent")
  func invalidKey() async throws {
    try await Self.with { service in
      let target = PushTarget.webPush(
        endpoint: "\(service.server.url)/a", p256dh: [UInt8](repeating: 4, count: 65), auth: service.receiver.secret)
      // However many there are, they take no places of others at the host.
      for _ in 0..<HostGate.width {
        #expect(await service.sender.send(.sample(to: target)).result.name == "tokenError")
      }
      #expect(service.server.connections == 0)
      #expect(await service.send().result == .sent)
    }
  }
}
