public import Foundation

/// The treatment of entries without a date, or with one that cannot be read.
public enum MissingDate: Sendable, Equatable {
  /// They are skipped.
  case skip
  /// They take the time at which they were first seen.
  ///
  /// A reader does not know earlier readings. It gives each of these entries the given time, less a millisecond for each
  /// one before it, so that the order of the feed is kept, and sets ``FeedEntry/isDateFirstSeen``. The store of the
  /// entries keeps the date of the first reading.
  case firstSeen(at: Date)
}
