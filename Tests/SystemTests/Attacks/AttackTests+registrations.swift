import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

extension AttackTests {
  private static func register(
    _ token: String, from address: String, _ target: Target
  ) async throws -> (status: Int, retryAfter: Int?) {
    let answer = try await target.server.send(
      "POST", "/v1/devices", headers: [("X-Forwarded-For", address), ("Connection", "close")],
      body: #"{"provider": "fcm", "token": "\#(token)"}"#)
    return (answer.status, answer["Retry-After"].flatMap { Int($0) })
  }

  @Test(
    "Very many registrations of devices from one network end in 429, and those from elsewhere go on",
    .enabled(if: PushInstallation.isPossible, "needs openssl"),
    arguments: ["198.51.100.7", "2001:db8:0:1:%x:%x::1"])
  func registrations(_ network: String) async throws {
    let count = Self.runsLongTests ? 10_000 : 400
    try await PushInstallation.with { push in
      let changes = push.settings.merging(["TIDINGS_TRUSTED_PROXIES": "127.0.0.0/8"]) { $1 }
      try await Self.with("\(count) registrations from \(network)", changes: changes) { target in
        let began = ContinuousClock.now
        let elsewhere = Count()
        let registered = try await withThrowingTaskGroup(of: Int.self) { group in
          for worker in 0..<20 {
            group.addTask {
              var registered = 0
              for number in 0..<(count / 20) {
                let address = String(format: network, worker, number)
                let (status, wait) = try await Self.register("device-\(worker)-\(number)", from: address, target)
                registered += status == 201 ? 1 : 0
                #expect(status == 201 || status == 429 && wait ?? 0 > 0)
                guard number.isMultiple(of: 25) else { continue }
                let other = elsewhere.next()
                let answer = try await Self.register("other-\(other)", from: "203.0.113.\(other % 250)", target)
                #expect(answer.status == 201)
              }
              return registered
            }
          }
          return try await group.reduce(0, +)
        }
        // The rate is one a second, with a reserve of a minute.
        #expect(60...(61 + Int((ContinuousClock.now - began) / .seconds(1))) ~= registered)
        let stored = try await target.installation.value("SELECT count(*) FROM devices", as: Int.self)
        #expect(stored == registered + elsewhere.value)
      }
    }
  }
}
