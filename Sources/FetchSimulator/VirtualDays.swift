import Foundation

/// Successive days by a local clock, changes of the clock included.
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
    // From one noon to the next, since midnight is not there on some days.
    starts = (0...count).map { day in
      calendar.startOfDay(for: calendar.date(byAdding: .day, value: day, to: first + 43_200) ?? first)
    }
  }

  var start: Date { starts[0] }
  var end: Date { starts[count] }

  /// 0 is Monday.
  func weekday(of day: Int) -> Int { (calendar.component(.weekday, from: starts[day]) + 5) % 7 }

  /// When the local clock shows a time; the next that it shows where that is left out.
  ///
  /// - Parameter minutes: Since midnight; those beyond the day are on the next or the one before.
  func date(_ day: Int, _ minutes: Double) -> Date {
    // A file of one's own may have any number.
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
