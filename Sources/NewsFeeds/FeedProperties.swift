public import Foundation
internal import News

/// The properties of a feed as a whole: its names and addresses, and its hints on when to read it again.
///
/// The values come from the feed itself, so that a feed can claim anything. Addresses are absolute http or https URLs of
/// at most 2048 bytes.
public struct FeedProperties: Sendable, Equatable {
  /// The maximum number of hubs that are read.
  static let maximumHubs = 8
  /// The maximum of both intervals, one year.
  private static let maximumMinutes = 366 * 24 * 60

  /// The title on one line, at most 1 KiB.
  public var title: String?
  /// A BCP 47 language tag.
  public var language: String?
  /// The address of the page that the feed belongs to.
  public var homePage: String?
  /// The address that the feed gives as its own: `<atom:link rel="self">`, or `feed_url` of a JSON Feed. WebSub calls it
  /// the topic.
  public var ownAddress: String?
  /// The WebSub hubs in the order of the feed, at most 8: `<atom:link rel="hub">`, or `hubs` of a JSON Feed.
  public var hubs: [String] = []
  /// The time in minutes, 1...527040, for which RSS allows a copy to be used (`ttl`).
  public var minutesToLive: Int?
  /// The time in minutes, 1...527040, between two updates: `sy:updatePeriod` divided by `sy:updateFrequency` (RDF Site
  /// Summary 1.0, module "Syndication").
  public var updateMinutes: Int?
  /// A time from which `updateMinutes` count (`sy:updateBase`); nil without `updateMinutes`.
  public var updateBase: Date?
  /// The hours of the day in UTC, 0...23, in which RSS asks not to be read (`skipHours`).
  public var skippedHours: Set<Int> = []
  /// The days of the week in UTC, 1 for Sunday to 7 for Saturday, on which RSS asks not to be read (`skipDays`).
  public var skippedDays: Set<Int> = []
  /// Whether the feed will not be updated any more (`expired` of a JSON Feed).
  public var hasEnded = false
  /// Sentences about what is shortened.
  private(set) var notes: [String] = []

  /// Creates properties of a feed that has none.
  public init() {}

  /// Returns the first time, from a given one on, at which `skippedHours` and `skippedDays` allow a request.
  ///
  /// - Returns: The given time, or the start of a later hour. Hints that exclude the whole week are ignored.
  public func allowedTime(from date: Date) -> Date {
    let hour = (date.timeIntervalSince1970 / 3600).rounded(.down)
    let later = (1...7 * 24).lazy.map { Date(timeIntervalSince1970: (hour + Double($0)) * 3600) }
    return allows(date) ? date : later.first(where: allows) ?? date
  }

  private func allows(_ date: Date) -> Bool {
    let hours = (date.timeIntervalSince1970 / 3600).rounded(.down)
    let hour = Int((hours - (hours / 24).rounded(.down) * 24))
    // 1 January 1970 was a Thursday, the fifth day.
    let days = (hours / 24).rounded(.down) + 4
    let day = Int(days - (days / 7).rounded(.down) * 7) + 1
    return !skippedHours.contains(hour) && !skippedDays.contains(day)
  }
}

// MARK: - Reading

extension FeedProperties {
  /// Adds a hub, unless it is known or one too many.
  mutating func addHub(_ address: String?) {
    guard let address, hubs.count < Self.maximumHubs, !hubs.contains(address) else { return }
    hubs.append(address)
  }

  /// Reads `<ttl>`.
  mutating func setMinutesToLive(_ text: String?) {
    guard minutesToLive == nil, let minutes = text.flatMap(Self.number) else { return }
    minutesToLive = min(minutes, Self.maximumMinutes)
  }

  /// Reads `<skipHours>`. RSS 0.91 counts from 1 to 24, RSS 2.0 from 0 to 23.
  mutating func addSkippedHours(_ element: FeedElement) {
    for hour in element.all(.none, "hour").compactMap({ Int($0.text.trimmed) }) where 0...24 ~= hour {
      skippedHours.insert(hour % 24)
    }
  }

  /// Reads `<skipDays>`.
  mutating func addSkippedDays(_ element: FeedElement) {
    for day in element.all(.none, "day") where day.text.utf8.count <= 32 {
      let name = day.text.trimmed.lowercased()
      if let index = Self.days.firstIndex(where: { name.hasPrefix($0) }) { skippedDays.insert(index + 1) }
    }
  }

  private static let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

  /// Combines `sy:updatePeriod` and `sy:updateFrequency`, which are `daily` and 1 if only the other one is given.
  ///
  /// - Parameter base: `sy:updateBase`, which is ignored if it cannot be read.
  mutating func setUpdateInterval(period: String?, frequency: String?, base: String?) {
    guard period != nil || frequency != nil else { return }
    let name = period.map { $0.utf8.count <= 32 ? $0.lowercased() : "" } ?? "daily"
    guard let minutes = Self.periods[name] else { return }
    updateMinutes = max(1, minutes / (frequency.flatMap(Self.number) ?? 1))
    updateBase = base.flatMap(FeedDate.date)
  }

  private static let periods = [
    "hourly": 60, "daily": 24 * 60, "weekly": 7 * 24 * 60, "monthly": 30 * 24 * 60, "yearly": 365 * 24 * 60,
  ]

  private static func number(_ text: String) -> Int? {
    Int(text.trimmed).flatMap { $0 > 0 ? $0 : nil }
  }

  /// Sets the title and the language after validation.
  mutating func setTexts(title: RawText?, language: String?) {
    notes = []
    self.title = EntryBuilder.bounded(
      title.map(EntryBuilder.line), EntryBuilder.maximumTitleBytes, "title of the feed", &notes)
    self.language = language.flatMap(LanguageTag.normalised)
  }
}
