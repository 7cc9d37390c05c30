import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The room for devices at a push service that have not returned their codes.
@Suite struct PendingRoomTests {
  private static let start = Date.pushStart
  private static let limits = DeviceLimits(total: 1_000_000, perHost: 6)

  /// Registers a device with Web Push at a time after the start.
  @discardableResult
  private static func register(
    _ number: Int, from network: String?, after seconds: Double, in store: NewsStore
  ) async throws -> DeviceCredentials {
    try await store.registerDevice(.webPush(number), from: network, limits: limits, at: start + seconds).credentials
  }

  /// The numbers of the pending devices, in the order of their registrations.
  private static func pending(_ sql: PostgresPool) async throws -> [String] {
    try await sql.query(
      "SELECT host(network) || ' ' || masklen(network) AS network FROM devices WHERE state = 'pending' ORDER BY registered_at"
    ).map { try $0.decode("network", as: String?.self) ?? "unknown" }
  }

  @Test("A client that fills the room replaces its own devices, and those of other networks are admitted")
  func ownDevices() async throws {
    try await NewsDatabase.withStore { store, sql in
      let reader = try await Self.register(1, from: "203.0.113.0/24", after: 0, in: store)
      for number in 2...20 {
        try await Self.register(number, from: "198.51.100.0/24", after: Double(number), in: store)
      }
      let other = try await Self.register(21, from: "2001:db8:1:2::/64", after: 21, in: store)
      #expect(
        try await Self.pending(sql)
          == ["203.0.113.0 24"] + Array(repeating: "198.51.100.0 24", count: 4) + ["2001:db8:1:2:: 64"])
      let (first, second) = (try await store.device(reader.id), try await store.device(other.id))
      #expect(first?.isPending == true && second?.isPending == true)
      // The oldest were replaced.
      let kept = try await sql.query(
        "SELECT min(registered_at) AS oldest FROM devices WHERE network = '198.51.100.0/24'")
      #expect(try kept.first?.decode("oldest", as: Date.self) == Self.start + 17)
    }
  }

  @Test("The many networks of an IPv6 site count together")
  func sites() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.register(1, from: "2001:db8:7:1::/64", after: 0, in: store)
      for number in 2...20 {
        let network = "2001:db8:9:\(String(number, radix: 16))::/64"
        try await Self.register(number, from: network, after: Double(number), in: store)
      }
      let pending = try await Self.pending(sql)
      #expect(pending.count == 6 && pending[0] == "2001:db8:7:1:: 64" && pending[1] == "2001:db8:9:10:: 64")
    }
  }

  @Test("Within a site, the network that has most devices loses its oldest")
  func networksOfSite() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.register(1, from: "2001:db8:9:1::/64", after: 0, in: store)
      for number in 2...6 {
        try await Self.register(number, from: "2001:db8:9:2::/64", after: Double(number), in: store)
      }
      try await Self.register(7, from: "203.0.113.0/24", after: 7, in: store)
      #expect(
        try await Self.pending(sql)
          == ["2001:db8:9:1:: 64"] + Array(repeating: "2001:db8:9:2:: 64", count: 4) + ["203.0.113.0 24"])
    }
  }

  @Test("A device that another transaction has locked delays no registration, and the next one makes up for it")
  func locked() async throws {
    try await NewsDatabase.withStore { store, sql in
      let network = "198.51.100.0/24"
      let device = try await Self.register(1, from: network, after: 0, in: store)
      for number in 2...6 { try await Self.register(number, from: network, after: Double(number), in: store) }
      try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT FROM devices WHERE id = \(device.id) FOR UPDATE")
        try await Self.register(7, from: network, after: 7, in: store)
      }
      #expect(try await Self.pending(sql).count == 7)
      try await Self.register(8, from: network, after: 8, in: store)
      #expect(try await Self.pending(sql).count == 6)
      #expect(try await store.device(device.id) == nil)
    }
  }

  @Test("Clients of unknown networks share one room, and a move to the host obeys the same rule")
  func moves() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.register(1, from: "203.0.113.0/24", after: 0, in: store)
      for number in 2...6 { try await Self.register(number, from: nil, after: Double(number), in: store) }
      let moving = try await store.register(.fcm(), at: Self.start + 7)
      let moved = try await store.updateDevice(
        moving.id, secret: moving.secret, .webPush(7), from: "192.0.2.0/24", limits: Self.limits, at: Self.start + 8)
      #expect(moved != nil)
      #expect(
        try await Self.pending(sql)
          == ["203.0.113.0 24"] + Array(repeating: "unknown", count: 4) + ["192.0.2.0 24"])
      // A renewal with the same address needs no room.
      _ = try await store.updateDevice(
        moving.id, secret: moving.secret, .webPush(7), limits: Self.limits, at: Self.start + 9)
      #expect(try await sql.value("SELECT count(*) FROM devices") == 6)
    }
  }

  @Test("Devices at other hosts, and those that have returned their codes, take no room and stay")
  func others() async throws {
    try await NewsDatabase.withStore { store, sql in
      let confirmed = try await store.registerConfirmed(.webPush(100), at: Self.start - 20)
      let network = "198.51.100.0/24"
      let other = try await store.registerDevice(
        .webPush(101, host: "other.example"), from: network, limits: Self.limits, at: Self.start - 10
      ).credentials
      for number in 1...8 { try await Self.register(number, from: network, after: Double(number), in: store) }
      #expect(try await store.device(confirmed.id)?.isPending == false)
      #expect(try await store.device(other.id)?.isPending == true)
      #expect(try await Self.pending(sql).count == 7)
    }
  }

  @Test("A device that moves within a full host stays, and takes the place of no other one")
  func moveWithinHost() async throws {
    try await NewsDatabase.withStore { store, sql in
      let network = "198.51.100.0/24"
      let device = try await Self.register(1, from: network, after: 0, in: store)
      for number in 2...6 { try await Self.register(number, from: network, after: Double(number), in: store) }
      let moved = try await store.updateDevice(
        device.id, secret: device.secret, .webPush(7), from: network, limits: Self.limits, at: Self.start + 8)
      #expect(moved?.id == device.id)
      #expect(try await Self.pending(sql).count == 6)
      // A known address needs no room either, and counts for the network of its last registration.
      try await Self.register(3, from: "192.0.2.0/24", after: 9, in: store)
      #expect(try await Self.pending(sql) == Array(repeating: "198.51.100.0 24", count: 5) + ["192.0.2.0 24"])
    }
  }

  @Test("After the limit was lowered, a registration deletes 17 of the devices above it, and the next one goes on")
  func loweredLimit() async throws {
    try await NewsDatabase.withStore { store, sql in
      for number in 1...30 { try await store.register(.webPush(number)) }
      for (number, rest) in [(31, 14), (32, 6)] {
        try await Self.register(number, from: nil, after: Double(number), in: store)
        #expect(try await Self.pending(sql).count == rest)
      }
    }
  }

  @Test("The network is forgotten as soon as the device has returned its code, and is never stored of other devices")
  func privacy() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await Self.register(1, from: "203.0.113.0/24", after: 0, in: store)
      _ = try await store.registerDevice(.fcm(), from: "203.0.113.0/24", limits: Self.limits, at: Self.start)
      #expect(try await sql.value("SELECT count(*) FROM devices WHERE network IS NOT NULL") == 1)
      let code = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq"
      _ = try await sql.query("UPDATE devices SET confirmation = sha256(\(code)::text::bytea) WHERE id = \(device.id)")
      #expect(try await store.confirmDevice(device.id, secret: device.secret, code: code) == true)
      #expect(try await sql.value("SELECT count(*) FROM devices WHERE network IS NOT NULL") == 0)
      _ = try await store.updateDevice(
        device.id, secret: device.secret, .webPush(1), from: "203.0.113.0/24", limits: Self.limits, at: Self.start + 9)
      #expect(try await sql.value("SELECT count(*) FROM devices WHERE network IS NOT NULL") == 0)
    }
  }
}
