import Foundation

/// A quarter of an hour by a local clock, counted from the beginning of 1970 on that clock.
///
/// Days are 96 quarters for it, so that 1 p.m. has the same place in every day. Where clocks are set back two quarters
/// of the absolute time share one, where they are set forward some are never met.
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

  /// - Parameter seconds: Since 1970 in UTC.
  init(seconds: Double, in zone: TimeZone) {
    // Some thousand years either way; an `Int` and the tables of time zones must bear it.
    let seconds = seconds.isNaN ? 0 : min(max(seconds, -1e11), 1e11)
    let offset = Double(zone.secondsFromGMT(for: Date(timeIntervalSince1970: seconds)))
    number = Int(((seconds + offset) / Self.seconds).rounded(.down))
  }

  /// The days since the 1st of January 1970.
  var day: Int { (number - ofDay) / Self.perDay }

  /// 0..<96
  var ofDay: Int { Self.modulo(number, Self.perDay) }

  /// 0 is Monday: the 1st of January 1970 was a Thursday.
  var weekday: Int { Self.weekday(ofDay: day) }

  /// The place in a ``WeeklyProfile``, 0..<672.
  var ofWeek: Int { weekday * Self.perDay + ofDay }

  static func weekday(ofDay day: Int) -> Int { modulo(day + 3, 7) }

  private static func modulo(_ number: Int, _ divisor: Int) -> Int {
    let rest = number % divisor
    return rest < 0 ? rest + divisor : rest
  }
}
