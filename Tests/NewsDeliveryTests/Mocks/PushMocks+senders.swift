import Foundation
import NIOSSL
import NetworkAddresses
import NewsDelivery
import NewsStore
import OutgoingHTTP
import PushMocks
import TestKit

extension PushMocks {
  /// A timeout that a busy machine hardly reaches. A message may start a minute after its claim, which ends after three
  /// minutes: with a longer timeout, it would be claimed again meanwhile.
  static let longTimeout: Duration = .seconds(120)

  private var trustRoots: [NIOSSLCertificate] {
    get throws { try NIOSSLCertificate.fromPEMBytes(Array(authority.utf8)) }
  }

  func apnsSender(
    keyPEM: String? = nil, timeout: Duration = longTimeout, clock: @escaping @Sendable () -> Date = { Date() }
  ) throws -> APNsSender {
    let credentials = try APNsCredentials(
      pem: keyPEM ?? apns.keyPEM, keyID: APNsMock.keyID, teamID: APNsMock.teamID)
    return APNsSender(credentials, url: apns.url, trustRoots: try trustRoots, timeout: timeout, clock: clock)
  }

  func fcmSender(
    timeout: Duration = longTimeout, clock: @escaping @Sendable () -> Date = { Date() }
  ) throws -> FCMSender {
    let credentials = try FCMCredentials(json: fcm.serviceAccount)
    return FCMSender(credentials, url: fcm.url, trustRoots: try trustRoots, timeout: timeout, clock: clock)
  }

  func webPushSender(
    keyPEM: String? = nil, timeout: Duration = longTimeout, clock: @escaping @Sendable () -> Date = { Date() }
  ) throws -> WebPushSender {
    var policy = AddressPolicy()
    policy.allowedNetworks = ["127.0.0.1"].compactMap { IPNetwork($0) }
    return WebPushSender(
      try VAPIDCredentials(pem: keyPEM ?? webPush.keyPEM, subject: "mailto:news@example.org"),
      origins: try WebPushOrigins([webPush.url]), resolver: CheckedResolver(policy: policy),
      trustRoots: try trustRoots, timeout: timeout, clock: clock)
  }
}

/// A sender and the mocks to which it sends.
struct MockedSender: Sendable {
  let mocks: PushMocks
  let sender: any PushSender

  /// Runs the body with new mocks and a sender, and shuts both down afterwards.
  static func with(
    _ configure: (inout PushMocks.Configuration) -> Void = { _ in },
    sender make: (PushMocks) throws -> any PushSender, _ body: (MockedSender) async throws -> Void
  ) async throws {
    try await PushMocks.with(configure) { mocks in
      try await withResource(try make(mocks), release: { await $0.shutdown() }) { sender in
        try await body(MockedSender(mocks: mocks, sender: sender))
      }
    }
  }

  func send(
    to target: PushTarget, alert: PushAlert? = nil, code: String? = nil, asksForReport: Bool = false
  ) async -> PushAnswer {
    await sender.send(.sample(to: target, alert: alert, code: code, asksForReport: asksForReport))
  }

  /// Sends messages concurrently.
  ///
  /// - Parameter width: The number of messages at a time.
  /// - Returns: The answers by target.
  func send(to targets: [PushTarget], width: Int = 20) async -> [(target: PushTarget, answer: PushAnswer)] {
    await withTaskGroup(of: (PushTarget, PushAnswer).self) { group in
      var rest = targets[...]
      var answers: [(PushTarget, PushAnswer)] = []
      for target in rest.prefix(width) { group.addTask { (target, await send(to: target)) } }
      rest = rest.dropFirst(width)
      while let answer = await group.next() {
        answers.append(answer)
        if let target = rest.popFirst() { group.addTask { (target, await send(to: target)) } }
      }
      return answers
    }
  }

  /// Sends messages until each is accepted, at most 20 times.
  ///
  /// - Returns: Whether each was accepted.
  func sendAll(to targets: [PushTarget], width: Int = 20) async -> Bool {
    var rest = targets
    for _ in 0..<20 where !rest.isEmpty {
      rest = await send(to: rest, width: width).filter { $0.answer.result != .sent }.map { $0.target }
    }
    return rest.isEmpty
  }
}
