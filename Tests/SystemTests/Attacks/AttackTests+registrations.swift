import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

extension AttackTests {
  private struct Answer: Sendable {
    let status: Int?
    let retryAfter: Int?
  }

  private static func register(_ token: String, from address: String, port: Int) throws -> Answer {
    let body = #"{"provider": "fcm", "token": "\#(token)"}"#
    let connection = try BlockingConnection(port: port)
    try connection.send(
      "POST /v1/devices HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(address)\r\nContent-Type: application/json\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    let head = try connection.message().head
    let wait = head.first { $0.lowercased().hasPrefix("retry-after:") }?.split(separator: " ").last
    return Answer(status: Int(head[0].split(separator: " ")[1]), retryAfter: wait.flatMap { Int($0) })
  }

  /// Registers devices from twenty threads.
  ///
  /// - Parameter network: The address, with places for the numbers of the thread and of the device.
  private static func flood(_ count: Int, from network: String, port: Int) async throws -> [Answer] {
    try await withThrowingTaskGroup(of: [Answer].self) { group in
      for worker in 0..<20 {
        group.addTask {
          try await onThread(isAttack: true) {
            try (0..<(count / 20)).map { number in
              let address = String(format: network, worker, number)
              return try register("device-\(worker)-\(number)", from: address, port: port)
            }
          }
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  @Test(
    "Very many registrations of devices from one network end in 429, and those from elsewhere go on",
    .enabled(if: PushInstallation.isPossible, "needs openssl"),
    arguments: ["198.51.100.7", "2001:db8:0:1:%x:%x::1"])
  func registrations(_ network: String) async throws {
    let count = Self.runsLongTests ? 40_000 : 400
    try await PushInstallation.with { push in
      let changes = push.settings.merging(["TIDINGS_TRUSTED_PROXIES": "127.0.0.0/8"]) { $1 }
      try await Self.with("\(count) registrations from \(network)", changes: changes) { target in
        let began = ContinuousClock.now
        let (port, elsewhere) = (target.server.port, Count())
        async let flood = Self.flood(count, from: network, port: port)
        for _ in 0..<(count / 25) {
          let other = elsewhere.next()
          let answer = try await onThread {
            try Self.register("other-\(other)", from: "203.0.113.\(other % 250)", port: port)
          }
          #expect(answer.status == 201)
        }
        let answers = try await flood
        let registered = answers.count { $0.status == 201 }
        #expect(answers.allSatisfy { $0.status == 201 || $0.status == 429 && $0.retryAfter ?? 0 > 0 })
        // The rate is one a second, with a reserve of a minute.
        #expect(60...(61 + Int((ContinuousClock.now - began) / .seconds(1))) ~= registered)
        let stored = try await target.installation.value("SELECT count(*) FROM devices", as: Int.self)
        #expect(stored == registered + elsewhere.value)
      }
    }
  }
}
