import Foundation
import TestSupport
import Testing

/// A network namespace for one server, with one link to the database and one to the clients.
private struct NetworkNamespace: Sendable {
  private static let name = "tidings-faults"
  /// The address of the database, seen from the server.
  static let database = "10.213.1.1"
  /// The address of the server, seen from its clients.
  static let server = "10.213.2.2"
  /// The command prefix that runs a program in the namespace.
  static let launcher = ["/usr/sbin/ip", "netns", "exec", name]

  static func with(_ body: @Sendable () async throws -> Void) async throws {
    try? await remove()
    let outcome: Result<Void, any Error>
    do {
      try await run("ip", "netns", "add", name)
      for (wire, address) in [("tidings1", "10.213.1"), ("tidings2", "10.213.2")] {
        try await run("ip", "link", "add", wire, "type", "veth", "peer", "name", "\(wire)b", "netns", name)
        try await run("ip", "address", "add", "\(address).1/24", "dev", wire)
        try await run("ip", "link", "set", wire, "up")
        try await run("ip", "-n", name, "address", "add", "\(address).2/24", "dev", "\(wire)b")
        try await run("ip", "-n", name, "link", "set", "\(wire)b", "up")
      }
      try await run("ip", "-n", name, "link", "set", "lo", "up")
      try await body()
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    try? await remove()
    try outcome.get()
  }

  private static func remove() async throws {
    // The links are deleted with the namespace.
    try await run("ip", "netns", "delete", name)
  }

  /// Takes the link to the database down: packets are lost without notice to either side.
  static func cut() async throws { try await run("ip", "link", "set", "tidings1", "down") }

  static func restore() async throws { try await run("ip", "link", "set", "tidings1", "up") }
}

extension FaultTests {
  @Test(
    "A replica without its database serves from memory and recovers by itself", .enabled(if: canChangeSystem))
  func networkCut() async throws {
    try await TestCluster.withCluster(settings: ["listen_addresses=*"]) { cluster in
      try await cluster.install([
        "pg_hba.conf": "host all all 127.0.0.1/32 trust\nhost all all \(NetworkNamespace.database)/24 trust\n"
      ])
      let database = try await TestDatabase.create(on: cluster.url)
      let distant = database.url.replacing("127.0.0.1", with: NetworkNamespace.database)
      try await NetworkNamespace.with {
        try await Installation.with(url: database.url) { installation in
          #expect(try await installation.run("migrate").status == 0)
          let key = try await installation.makeKey()
          try await installation.serve { near in
            try await installation.serve(
              launcher: NetworkNamespace.launcher,
              changes: ["DATABASE_URL": distant, "TIDINGS_HOST": NetworkNamespace.server]
            ) { far in
              try await Self.testNetworkCut(far, beside: near, installation, key: key)
            }
          }
        }
      }
    }
  }

  private static func testNetworkCut(
    _ far: RunningServer, beside near: RunningServer, _ installation: Installation, key: String
  ) async throws {
    let back = MaximumDuration()
    let nearAnswer = MaximumDuration()
    let seen = try await ServerUsers.with(
      ServerUsers.Numbers(readers: 2), servers: [near.client, far.client], key: key, sql: installation.sql
    ) { users in
      try await users.waitForWrites()
      try await NetworkNamespace.cut()
      try await Task.sleep(for: .seconds(30))
      // The other server is not affected.
      let began = ContinuousClock.now
      #expect(try await near.status("/v1/items?limit=7") == 200)
      nearAnswer.record(.now - began)
      #expect(try await far.status("/readyz") == 200)
      try await NetworkNamespace.restore()
      let restored = ContinuousClock.now
      let answer = try await near.send(
        "POST", "/v1/editorial/items", key: key, body: #"{"date": "2026-01-01T00:00:00Z", "text": "after"}"#)
      let token = try #require(try await near.send("GET", "/v1/state")["ETag"])
      try #require(answer.status == 201)
      while try await far.send("GET", "/v1/state")["ETag"] != token, ContinuousClock.now - restored < .seconds(60) {
        try await Task.sleep(for: .milliseconds(20))
        if try await near.send("GET", "/v1/state")["ETag"] != token { break }
      }
      while (try? await far.send(
        "POST", "/v1/editorial/items", key: key, body: #"{"date": "2026-01-01T00:00:00Z", "text": "there"}"#))?.status
        != 201, ContinuousClock.now - restored < .seconds(60)
      { try await Task.sleep(for: .milliseconds(20)) }
      back.record(.now - restored)
    }
    check(seen)
    #expect(seen.maximumRefusalDuration < .seconds(20))
    #expect(back.value < .seconds(15))
    report(
      "The network between a replica and the database is cut for 30 s",
      promised:
        "that replica reads from memory, its writes are 503, soon but for those under way, it is back within 15 s of the end; the other notices nothing",
      seen:
        "\(summary(seen)), the slowest after \(seconds(seen.maximumRefusalDuration)); it writes again after \(seconds(back.value)); the other answers from the database in \(milliseconds(nearAnswer.value))"
    )
  }
}
