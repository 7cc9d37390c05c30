/// The maximum numbers of what a subscription writes. A feed that exceeds one of new items is paused until an editor resumes
/// it.
///
/// A feed is followed without anyone watching, and its items may be published and announced at once. Without a limit, one
/// document could add tens of thousands, or change as many every few minutes.
package struct NewItemLimits: Sendable {
  /// The maximum of new items of a poll. Feeds of newsrooms have at most some hundred entries, whole archives of podcasts
  /// some thousand.
  package var perPoll: Int
  /// The maximum of new items of a day. The busiest agencies publish about 2,000 items a day.
  package var perDay: Int
  /// The maximum of changed items of a poll. Further ones are changed by a later poll.
  package var changesPerPoll = 1000
  /// The maximum of changed items of a day. A feed of 30 entries whose texts contain the time changes 8,640.
  package var changesPerDay = 10_000
  /// The maximum of new topics of a poll. Further categories are left out.
  package var topicsPerPoll = 1000
  /// The maximum of new topics of a day.
  package var topicsPerDay = 2000

  /// Creates limits.
  package init(perPoll: Int = 1000, perDay: Int = 5000) {
    self.perPoll = perPoll
    self.perDay = perDay
  }
}

/// The writes of a subscription in the current period of a day, besides new items.
struct WriteTally: Codable, Equatable {
  /// The begin of the period, since 1970.
  var since: Double
  /// The number of changed items.
  var changes = 0
  /// The number of new topics.
  var topics = 0

  /// Returns the tally at a time: a new one if a day has passed.
  static func current(_ last: WriteTally?, at now: Double) -> WriteTally {
    guard let last, now - last.since < 86_400 else { return WriteTally(since: now) }
    return last
  }
}
