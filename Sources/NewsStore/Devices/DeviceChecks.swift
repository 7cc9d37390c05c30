import Foundation
import News
import PostgresClient
import Synchronization

/// A number of devices with the time at which it was read.
struct DeviceCount {
  var number: Int
  var read: ContinuousClock.Instant
}

extension NewsStore {
  private static let maximumTopics = 100
  private static let maximumLanguages = 20
  /// The time after which the number of devices is read again.
  private static let countLifetime: Duration = .seconds(60)
  /// The time after which it is read again before a registration is refused.
  private static let refusalLifetime: Duration = .seconds(1)

  /// Checks the values of a registration, and puts its lists in order.
  ///
  /// - Returns: The registration as it is stored, and its address.
  /// - Throws: `StoreError.invalidFields`, `unknownTopics`.
  func checked(_ registration: DeviceRegistration) async throws -> (DeviceRegistration, DeviceAddress) {
    var (wanted, errors) = (registration, [FieldError]())
    func require(_ condition: Bool, _ field: String, _ rule: String) {
      if !condition { errors.append(FieldError(field: field, rule: rule)) }
    }
    // Only valid values are hashed: hashing any text of a stranger may take long.
    if let topics = registration.topics {
      let areValid = topics.allSatisfy { TopicSlug.isValid($0) }
      if areValid { wanted.topics = Set(topics).sorted() }
      require(
        1...Self.maximumTopics ~= wanted.topics?.count ?? 0, "topics",
        "must have 1 to \(Self.maximumTopics) topics; without the field, the device follows the feed")
      require(areValid, "topics", "must consist of slugs")
    }
    if let languages = registration.languages {
      let areValid = languages.allSatisfy { LanguageTag.isValid($0) }
      if areValid { wanted.languages = Set(languages.map { $0.lowercased() }).sorted() }
      require(
        1...Self.maximumLanguages ~= wanted.languages?.count ?? 0, "languages",
        "must have 1 to \(Self.maximumLanguages) languages; without the field, all are wanted")
      require(areValid, "languages", "must consist of BCP 47 tags")
    }
    if let quiet = registration.quiet {
      require(quiet.isValid, "quiet", "must have two different times of the form HH:MM")
    }
    if let zone = registration.timeZone {
      require(
        try await knownTimeZones().contains(zone), "timeZone", "must be the name of a time zone, such as Europe/Berlin")
    }
    guard let address = DeviceAddress(wanted, errors: &errors), errors.isEmpty else {
      throw StoreError.invalidFields(errors)
    }
    if let topics = wanted.topics { wanted.topics = try await existingTopics(topics) }
    return (wanted, address)
  }

  /// Returns topics in order. A topic that was merged into another one is replaced by that, because the device may not know
  /// of it yet.
  ///
  /// - Throws: `StoreError.unknownTopics`.
  private func existingTopics(_ topics: [String]) async throws -> [String] {
    let rows = try await database.query(
      """
      SELECT w.slug, coalesce(t.slug, o.slug) AS topic FROM unnest(\(topics)) AS w (slug)
        LEFT JOIN topics AS t ON t.slug = w.slug
        LEFT JOIN topic_merges AS m ON m.slug = w.slug LEFT JOIN topics AS o ON o.slug = m.other
      ORDER BY w.slug
      """)
    let found = try rows.map { row in
      (slug: try row.decode("slug", as: String.self), topic: try row.decode("topic", as: String?.self))
    }
    let unknown = found.filter { $0.topic == nil }.map(\.slug)
    if !unknown.isEmpty { throw StoreError.unknownTopics(unknown) }
    return Set(found.compactMap(\.topic)).sorted()
  }

  /// The names of the time zones that the database knows. It reads their files for each query, so the list is kept.
  private func knownTimeZones() async throws -> Set<String> {
    if let zones = timeZones.withLock({ $0 }) { return zones }
    let rows = try await database.query(
      "SELECT name FROM pg_timezone_names WHERE name !~ '^posix(/|rules)' AND name NOT IN ('localtime', 'Factory')")
    let zones = Set(try rows.map { try $0.decode("name", as: String.self) })
    timeZones.withLock { $0 = zones }
    return zones
  }

  /// Checks the number of devices before one is added.
  ///
  /// - Throws: `DeviceError.tooManyDevices`.
  func requireRoom(_ limit: Int) async throws {
    let known = deviceCount.withLock { $0 }
    if let known {
      let age = ContinuousClock.now - known.read
      if known.number < limit, age < Self.countLifetime { return }
      if known.number >= limit, age < Self.refusalLifetime { throw DeviceError.tooManyDevices }
    }
    let rows = try await database.query("SELECT count(*) FROM (SELECT FROM devices LIMIT \(limit)) AS d")
    let number = try rows.first?.decode(0, as: Int.self) ?? 0
    deviceCount.withLock { $0 = .init(number: number, read: .now) }
    if number >= limit { throw DeviceError.tooManyDevices }
  }

  func noteDevices(added: Int) { deviceCount.withLock { $0?.number += added } }
}
