import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The topics that devices follow when a topic is deleted.
@Suite struct DeviceTopicTests {
  private static func register(_ number: Int, _ topics: [String]?, _ store: NewsStore) async throws -> UUID {
    var registration = DeviceRegistration.fcm(number)
    registration.topics = topics
    registration.alerts = true
    return try await store.register(registration).id
  }

  private static func topics(of device: UUID, _ store: NewsStore) async throws -> [String]? {
    try #require(try await store.device(device)).registration.topics
  }

  @Test("A device loses a topic that is deleted, and never follows the whole feed instead")
  func deletion() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("harbour", "sport")
      let both = try await Self.register(1, ["harbour", "sport"], store)
      let one = try await Self.register(2, ["sport"], store)
      let feed = try await Self.register(3, nil, store)
      try await store.removeTopic("sport", mergingInto: nil, if: .exists)
      #expect(try await Self.topics(of: both, store) == ["harbour"])
      #expect(try await Self.topics(of: one, store) == [])
      #expect(try await Self.topics(of: feed, store) == nil)

      // A new topic with the same slug is another topic.
      try await sql.makeTopics("weather")
      _ = try await store.createTopic("sport", TopicContent(titles: [:], position: 0))
      for (number, topics) in [[], ["harbour"], ["weather"], ["sport"]].enumerated() {
        try await sql.publish([UUID(number)], topics: topics)
      }
      try await store.wake()
      #expect(Set(try await store.send(.fcm).map(\.device)) == [both, feed])
      let audience = try await store.alertAudience(of: UUID(3), at: .pushStart)
      #expect(audience.devices == 1)
    }
  }

  @Test("Devices that an interrupted deletion has left with the topic lose it when the deletion is repeated")
  func repeatedDeletion() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("harbour", "sport")
      let device = try await Self.register(1, ["harbour"], store)
      let other = try await Self.register(2, ["harbour"], store)
      _ = try await sql.query("UPDATE devices SET topics = '{gone,harbour}' WHERE id = \(device)")
      _ = try await sql.query("UPDATE devices SET topics = '{football}' WHERE id = \(other)")
      for (slug, replacement) in [("gone", nil), ("football", "sport")] {
        await #expect(throws: StoreError.notFound) {
          try await store.removeTopic(slug, mergingInto: replacement, if: .exists)
        }
      }
      #expect(try await Self.topics(of: device, store) == ["harbour"])
      #expect(try await Self.topics(of: other, store) == ["sport"])
    }
  }

  @Test("A device follows the topic into which its own is merged, once, and is woken for the moved items")
  func merge() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("football", "sport", "weather")
      let one = try await Self.register(1, ["football"], store)
      let both = try await Self.register(2, ["football", "sport", "weather"], store)
      let other = try await Self.register(3, ["weather"], store)
      try await sql.publish([UUID(1)], topics: ["football"])
      try await store.wake()
      #expect(Set(try await store.send(.fcm).map(\.device)) == [one, both])

      try await store.removeTopic("football", mergingInto: "sport", if: .exists)
      #expect(try await Self.topics(of: one, store) == ["sport"])
      #expect(try await Self.topics(of: both, store) == ["sport", "weather"])
      #expect(try await Self.topics(of: other, store) == ["weather"])
      try await store.wake()
      #expect(Set(try await store.send(.fcm).map(\.device)) == [one, both])
    }
  }

  @Test("A registration that names a merged topic follows the other one, also after further merges")
  func renewalAfterMerge() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("football", "sport", "news")
      let device = try await store.register(.fcm(1))
      func renew(_ topics: [String]) async throws -> [String]? {
        var registration = DeviceRegistration.fcm(1)
        registration.topics = topics
        _ = try await store.updateDevice(device.id, secret: device.secret, registration, limits: .none)
        return try await Self.topics(of: device.id, store)
      }
      try await store.removeTopic("football", mergingInto: "sport", if: .exists)
      #expect(try await renew(["football"]) == ["sport"])
      #expect(try await renew(["football", "news", "sport"]) == ["news", "sport"])
      try await store.removeTopic("sport", mergingInto: "news", if: .exists)
      #expect(try await renew(["football"]) == ["news"])

      // A new topic with the same slug is another topic, and so is its end.
      _ = try await store.createTopic("football", TopicContent(titles: [:], position: 0))
      #expect(try await renew(["football"]) == ["football"])
      try await store.removeTopic("football", mergingInto: nil, if: .exists)
      await #expect(throws: StoreError.unknownTopics(["football"])) { try await renew(["football", "sport"]) }
      // The topic into which they were merged is deleted too.
      try await store.removeTopic("news", mergingInto: nil, if: .exists)
      await #expect(throws: StoreError.unknownTopics(["news", "sport"])) { try await renew(["news", "sport"]) }
    }
  }

  @Test("A device follows both topics while items are moved; a deletion that is refused changes nothing")
  func mergeUnderWay() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("football", "sport")
      try await sql.publish([UUID(1)], topics: ["football"])
      let device = try await Self.register(1, ["football"], store)
      let (merging, late) = try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT 1 FROM items FOR UPDATE")
        let merging = Task { try await store.removeTopic("football", mergingInto: "sport", if: .exists) }
        try await eventually("the device follows both") {
          try await Self.topics(of: device, store) == ["football", "sport"]
        }
        return (merging, try await Self.register(2, ["football"], store))
      }
      try await merging.value
      #expect(try await Self.topics(of: device, store) == ["sport"])
      #expect(try await Self.topics(of: late, store) == ["sport"])

      await #expect(throws: StoreError.topicInUse(items: 1)) {
        try await store.removeTopic("sport", mergingInto: nil, if: .exists)
      }
      #expect(try await Self.topics(of: device, store) == ["sport"])
    }
  }

  @Test("All devices of a topic are changed, however many there are")
  func many() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b")
      try await sql.makeDevices(2500, topics: ["a"])
      _ = try await Self.register(1, ["b"], store)
      try await store.removeTopic("a", mergingInto: nil, if: .exists)
      #expect(try await sql.value("SELECT count(*) FROM devices WHERE topics = '{}'") == 2500)
      #expect(try await sql.value("SELECT count(*) FROM devices WHERE topics = '{b}'") == 1)
    }
  }
}
