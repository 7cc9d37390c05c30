package import Foundation

/// The date for `Last-Modified`. It is withheld until its second is over, because another change may follow within it
/// (RFC 9110 section 8.8.2.2).
package struct LastModified: Sendable {
  private let date: Date
  /// The end of the date's second.
  private let end: Date
  private let visibleFrom: ContinuousClock.Instant

  /// - Parameters:
  ///   - date: The date by the database's clock.
  ///   - now: The time of the database's clock at `instant`.
  package init(_ date: Date, now: Date, at instant: ContinuousClock.Instant = .now) {
    self.date = date
    end = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down) + 1)
    visibleFrom = instant + .seconds(max(0, end.timeIntervalSince(now)))
  }

  /// Returns the date; nil while its second is not over by the clock of the database or of this machine. A date later than
  /// `Date` is not sent (RFC 9110 section 8.8.2.1).
  package func value(at instant: ContinuousClock.Instant = .now, by clock: Date = Date()) -> Date? {
    instant >= visibleFrom && clock >= end ? date : nil
  }
}
