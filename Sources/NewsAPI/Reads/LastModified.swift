package import Foundation

/// The date for `Last-Modified`, which is kept back until its second is over, because something else may still change
/// within it (RFC 9110 section 8.8.2.2).
package struct LastModified: Sendable {
  private let date: Date
  /// The end of its second.
  private let end: Date
  private let visibleFrom: ContinuousClock.Instant

  /// - Parameters:
  ///   - date: By the database's clock.
  ///   - now: What that clock showed at `instant`.
  package init(_ date: Date, now: Date, at instant: ContinuousClock.Instant = .now) {
    self.date = date
    end = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down) + 1)
    visibleFrom = instant + .seconds(max(0, end.timeIntervalSince(now)))
  }

  /// nil while its second is not over, by the database's clock or by that of this machine: a date that is later than
  /// `Date` is not sent (RFC 9110 section 8.8.2.1).
  package func value(at instant: ContinuousClock.Instant = .now, by clock: Date = Date()) -> Date? {
    instant >= visibleFrom && clock >= end ? date : nil
  }
}
