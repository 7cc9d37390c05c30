import Foundation
import News
import NewsStore
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// Requests with secrets that do not exist, and their effect on the connections to the database.
@Suite struct StrangerQueriesTests {
  /// A kind of secret, and a look-up of a random one.
  struct Kind: Sendable, CustomTestStringConvertible {
    let table: String
    let find: @Sendable (NewsStore) async throws -> Bool

    var testDescription: String { table }

    static let all = [
      Kind(table: "api_keys") { try await $0.presentedKey("tdk_\(UUID().uuidString.lowercased().prefix(8))_x") != nil },
      Kind(table: "console_sessions") { try await $0.session(token: .randomSecret()) != nil },
      Kind(table: "console_links") { try await $0.openSession(code: .randomSecret()) != nil },
      Kind(table: "devices") { try await $0.removeDevice(UUID(), secret: .randomSecret()) },
      Kind(table: "devices") { try await $0.confirmDevice(UUID(), secret: .randomSecret(), code: "x") != nil },
      Kind(table: "devices") {
        let report = DeviceReport(token: SyncToken(epoch: "k3x9qa", scope: .feed, version: 3))
        return try await $0.report(UUID(), secret: .randomSecret(), report)
      },
      Kind(table: "devices") {
        try await $0.updateDevice(UUID(), secret: .randomSecret(), .fcm(), limits: .none) != nil
      },
      Kind(table: "hub_leases") { try await $0.hubSecret(.randomToken()) != nil },
      Kind(table: "hub_leases") {
        try await $0.confirmHubLease(.randomToken(), .subscribe, topic: "https://feeds.example/", seconds: 60)
      },
      Kind(table: "hub_leases") {
        try await $0.denyHubLease(.randomToken(), topic: "https://feeds.example/", reason: "x")
      },
    ]
  }

  @Test("Any number of requests with unknown secrets use at most two connections", arguments: Kind.all)
  func unknownSecrets(_ kind: Kind) async throws {
    try await NewsDatabase.withStore { store, sql in
      let lookups = try await sql.transaction { transaction in
        _ = try await transaction.query("LOCK TABLE \(unsafeSQL: kind.table) IN ACCESS EXCLUSIVE MODE")
        let lookups = (0..<600).map { _ in Task { try await kind.find(store) } }
        try await eventually("they wait") { store.waitingLookups == 600 }
        #expect(store.connections.leased + store.connections.waiting <= 2)
        #expect(try await store.topics().topics.isEmpty)
        return lookups
      }
      for lookup in lookups { #expect(try await !lookup.value) }
    }
  }

  /// The feeds whose imports have begun, or the devices whose requests have ended, in order.
  private final class Begun: Sendable {
    private let list = Mutex<[UUID]>([])

    var ids: [UUID] { list.withLock { $0 } }

    func append(_ id: UUID) { list.withLock { $0.append(id) } }
  }

  private static func importing(_ id: UUID, _ begun: Begun, _ store: NewsStore) -> Task<Void, any Error> {
    Task {
      try await store.importing(for: id) {
        begun.append(id)
        try await store.ensureTopics(["sea": TopicContent(titles: [:], position: 0)])
      }
    }
  }

  @Test("Two imports of feeds run at a time, feeds take turns, and editors keep their connections")
  func imports() async throws {
    try await NewsDatabase.withStore { store, sql in
      let (one, other) = (UUID(1), UUID(2))
      let begun = Begun()
      let imports = try await sql.transaction { transaction in
        _ = try await transaction.query("LOCK TABLE topics IN ACCESS EXCLUSIVE MODE")
        var imports: [Task<Void, any Error>] = []
        for number in 1...6 {
          imports.append(Self.importing(one, begun, store))
          try await eventually("it runs or waits") { begun.ids.count + store.waitingImports == number }
        }
        imports.append(Self.importing(other, begun, store))
        try await eventually("five wait") { store.waitingImports == 5 }
        #expect(store.connections.leased + store.connections.waiting <= 2)
        _ = try await store.databaseTime()
        return imports
      }
      for task in imports { try await task.value }
      #expect(begun.ids.prefix(4).contains(other), "the other feed does not wait for all of the first one")
    }
  }

  @Test("Secrets that are looked up together each get their own result")
  func together() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.createKey(name: "desk", permissions: [.itemsWrite])
      let sessions = try await (0..<3).asyncMap { _ in
        try #require(try await store.openSession(code: try await store.createSignInLink(forKeyNamed: "desk").code))
      }
      let devices = try await (0..<3).asyncMap { try await store.register(.fcm($0)) }
      let (wanted, strangers) = (Dictionary(grouping: sessions, by: \.token).mapValues { $0[0].session.id }, 200)
      let lookups = try await sql.transaction { transaction in
        _ = try await transaction.query("LOCK TABLE console_sessions, devices IN ACCESS EXCLUSIVE MODE")
        let tokens = Array(wanted.keys) + (0..<strangers).map { _ in String.randomSecret() }
        let found = tokens.map { token in Task { (token, try await store.session(token: token)?.id) } }
        let pairs = devices.map { ($0.id, $0.secret) } + devices.map { ($0.id, String.randomSecret()) }
        let removed = pairs.map { pair in Task { try await store.removeDevice(pair.0, secret: pair.1) } }
        try await eventually("they wait") { store.waitingLookups == tokens.count + pairs.count }
        return (found, removed)
      }
      for lookup in lookups.0 {
        let (token, id) = try await lookup.value
        #expect(id == wanted[token])
      }
      var removed: [Bool] = []
      for lookup in lookups.1 { removed.append(try await lookup.value) }
      #expect(removed == [true, true, true, false, false, false])
    }
  }

  @Test("Very many requests of registered devices use at most two connections")
  func knownDevices() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.fcm())
      let report = DeviceReport(token: SyncToken(epoch: "k3x9qa", scope: .feed, version: 3))
      let requests = try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT FROM devices FOR UPDATE")
        let requests = (0..<300).map { _ in Task { try await store.report(device.id, secret: device.secret, report) } }
        try await eventually("they wait") { store.waitingDeviceStatements == 298 }
        #expect(store.connections.leased + store.connections.waiting <= 2)
        return requests
      }
      for request in requests { #expect(try await request.value) }
    }
  }

  @Test("The requests of a network or of a device take turns with those of others", arguments: [true, false])
  func turns(isRegistration: Bool) async throws {
    try await NewsDatabase.withStore { store, sql in
      let devices = try await [store.register(.fcm(0)), store.register(.fcm(1))]
      let report = DeviceReport(token: SyncToken(epoch: "k3x9qa", scope: .feed, version: 3))
      let ended = Begun()
      let requests = try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT FROM devices WHERE id = \(devices[0].id) FOR UPDATE")
        var requests: [Task<Void, any Error>] = []
        // The first two run, and wait for the device.
        for number in 0...60 {
          let index = number == 60 ? 1 : 0
          requests.append(
            Task {
              if isRegistration {
                _ = try await store.registerDevice(.fcm(index), from: "203.0.\(index).0/24", limits: .none)
              } else {
                _ = try await store.report(devices[index].id, secret: devices[index].secret, report)
              }
              ended.append(devices[index].id)
            })
          if number >= 59 {
            try await eventually("the others wait") { store.waitingDeviceStatements == number - 1 }
          }
        }
        return requests
      }
      for request in requests { try await request.value }
      #expect(try #require(ended.ids.firstIndex(of: devices[1].id)) < 30)
    }
  }

  @Test("Very many registrations of one address use at most two connections")
  func registrations() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.fcm())
      let requests = try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT FROM devices FOR UPDATE")
        let requests = (0..<100).map { _ in Task { try await store.register(.fcm()) } }
        try await eventually("they wait") { store.waitingDeviceStatements == 98 }
        #expect(store.connections.leased + store.connections.waiting <= 2)
        return requests
      }
      for request in requests { _ = try await request.value }
    }
  }
}

extension String {
  /// 256 random bits in base64url.
  fileprivate static func randomSecret() -> String { random(43) }

  /// The last part of the callback of a lease, which no hub has.
  fileprivate static func randomToken() -> String { random(22) }

  private static func random(_ count: Int) -> String {
    String((0..<count).compactMap { _ in "abcdefghijklmnopqrstuvwxyz0123456789-_".randomElement() })
  }
}

extension Sequence {
  fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
