/// The maximum numbers of new items of a subscription. A feed that exceeds one is paused until an editor resumes it.
///
/// A feed is followed without anyone watching, and its items may be published and announced at once. Without a limit, one
/// document could add tens of thousands.
package struct NewItemLimits: Sendable {
  /// The maximum of a poll. Feeds of newsrooms have at most some hundred entries, whole archives of podcasts some
  /// thousand.
  package var perPoll: Int
  /// The maximum of a day. The busiest agencies publish about 2,000 items a day.
  package var perDay: Int

  /// Creates limits.
  package init(perPoll: Int = 1000, perDay: Int = 5000) {
    self.perPoll = perPoll
    self.perDay = perDay
  }
}
