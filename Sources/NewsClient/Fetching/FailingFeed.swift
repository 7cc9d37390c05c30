import BackgroundFetch
import Foundation
import GRDB
import HTTPTransfer

/// A feed whose fetches fail in a way that only a fresh start can heal: the server refuses the stored token without saying
/// that it has expired, or sends responses that cannot be used.
///
/// After a day of such failures, the feed is started again like after an expired token, once a day. The stored items are
/// shown until new ones have arrived.
struct FailingFeed: Codable {
  /// The time before a fresh start, and between two of them, in seconds: one day.
  static let maximumTime = 86_400.0

  var feed: FollowedFeed
  /// The first failure since the last success; nil if there is none.
  var since: FetchInstant?
  /// The last fresh start.
  var reset: FetchInstant?

  /// Returns whether a fresh start is due.
  static func isResetDue(_ feed: FollowedFeed, at now: FetchInstant, _ db: Database) throws -> Bool {
    guard let failing = try stored(feed, db), let since = failing.since else { return false }
    return now.elapsed(since: since) >= maximumTime
      && failing.reset.map { now.elapsed(since: $0) >= maximumTime } ?? true
  }

  /// Records that a fetch has failed in such a way.
  static func recordFailure(_ feed: FollowedFeed, at now: FetchInstant, _ db: Database) throws {
    var failing = try stored(feed, db) ?? FailingFeed(feed: feed)
    guard failing.since == nil else { return }
    failing.since = now
    try StateTable(db).save(failing, .failing)
  }

  /// Records a fresh start, before its first request.
  static func recordReset(_ feed: FollowedFeed, at now: FetchInstant, _ db: Database) throws {
    var failing = try stored(feed, db) ?? FailingFeed(feed: feed)
    failing.reset = now
    try StateTable(db).save(failing, .failing)
  }

  /// Records that the server has sent a usable response.
  static func recordSuccess(_ feed: FollowedFeed, _ db: Database) throws {
    guard var failing = try stored(feed, db), failing.since != nil else { return }
    failing.since = nil
    try StateTable(db).save(failing, .failing)
  }

  private static func stored(_ feed: FollowedFeed, _ db: Database) throws -> FailingFeed? {
    try StateTable(db).value(FailingFeed.self, .failing).flatMap { $0.feed == feed ? $0 : nil }
  }
}

extension FetchError {
  /// Whether a fresh start may help: the server has answered, but refuses the stored token or sends something else.
  var mayBeHealed: Bool { [.rejected, .unexpectedResponse, .tooLarge].contains(code) || status == 410 }
}
