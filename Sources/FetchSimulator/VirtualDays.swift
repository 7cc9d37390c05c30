import Foundation

/// Successive days on a local clock, including changes for daylight saving time.
struct VirtualDays {
  let count: Int
  private let starts: [Date]
  private let calendar: Calendar

  /// - Parameter start: Any time of the first day.
  init(_ count: Int, from start: Date, in zone: TimeZone) {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    let first = calendar.startOfDay(for: start)
    self.count = count
    self.calendar = calendar
    // Days are counted from noon, because some days have no midnight.
    starts = (0...count).map { day in
      calendar.startOfDay(for: calendar.date(byAdding: .day, value: day, to: first + 43_200) ?? first)
    }
  }

  var start: Date { starts[0] }
  var end: Date { starts[count] }

  /// Returns the weekday of a day, 0 for Monday.
  func weekday(of day: Int) -> Int { (calendar.component(.weekday, from: starts[day]) + 5) % 7 }

  /// Returns the date at which the local clock shows a time. If the clock skips that time, the next one is used.
  ///
  /// - Parameter minutes: The minutes since midnight. Values outside the day belong to other days.
  func date(_ day: Int, _ minutes: Double) -> Date {
    // The file of a user may contain any number.
    let minutes = minutes.isNaN ? 0 : min(max(minutes, -1e7), 1e7)
    let shift = (minutes / 1440).rounded(.down)
    let rest = minutes - shift * 1440
    let noon = starts[day] + 43_200
    let other = calendar.date(byAdding: .day, value: Int(shift), to: noon) ?? noon
    let whole = Int(rest)
    let date = calendar.date(bySettingHour: whole / 60, minute: whole % 60, second: 0, of: other) ?? other
    return date + (rest - Double(whole)) * 60
  }
}
