import Foundation

/// A quarter of an hour on a local clock, counted from the start of 1970 on that clock.
///
/// Every day has 96 quarters, so that 1 p.m. has the same index in each day. When daylight saving time ends, two
/// quarters of absolute time share a number. When it begins, some numbers are skipped.
struct LocalQuarter: Sendable, Hashable {
  static let seconds = 900.0
  static let perDay = 96
  static let perWeek = 7 * perDay

  var number: Int

  init(number: Int) {
    self.number = number
  }

  init(_ date: Date, in zone: TimeZone) {
    self.init(seconds: date.timeIntervalSince1970, in: zone)
  }

  /// - Parameter seconds: Seconds since 1970 in UTC.
  init(seconds: Double, in zone: TimeZone) {
    // About 3000 years before and after 1970, which `Int` and the time zone tables can represent.
    let seconds = seconds.isNaN ? 0 : min(max(seconds, -1e11), 1e11)
    let offset = Double(zone.secondsFromGMT(for: Date(timeIntervalSince1970: seconds)))
    number = Int(((seconds + offset) / Self.seconds).rounded(.down))
  }

  /// The number of days since 1 January 1970.
  var day: Int { (number - ofDay) / Self.perDay }

  /// The index in its day, 0..<96.
  var ofDay: Int { Self.modulo(number, Self.perDay) }

  /// The weekday, 0 for Monday. 1 January 1970 was a Thursday.
  var weekday: Int { Self.weekday(ofDay: day) }

  /// The index in a ``WeeklyProfile``, 0..<672.
  var ofWeek: Int { weekday * Self.perDay + ofDay }

  static func weekday(ofDay day: Int) -> Int { modulo(day + 3, 7) }

  private static func modulo(_ number: Int, _ divisor: Int) -> Int {
    let rest = number % divisor
    return rest < 0 ? rest + divisor : rest
  }
}
