public import Foundation

/// Parses and formats the timestamps of HTTP fields (RFC 9110 section 5.6.7), in whole seconds of UTC.
///
///     let date = HTTPDate.parse("Sun, 06 Nov 1994 08:49:37 GMT")
///     print(date?.timeIntervalSince1970 ?? 0)  // 784111777.0
///     print(HTTPDate.format(Date(timeIntervalSince1970: 0)))  // Thu, 01 Jan 1970 00:00:00 GMT
public enum HTTPDate {
  /// Parses a date in any of the three formats that a recipient must accept: IMF-fixdate
  /// (`Sun, 06 Nov 1994 08:49:37 GMT`), RFC 850 (`Sunday, 06-Nov-94 08:49:37 GMT`) and asctime
  /// (`Sun Nov  6 08:49:37 1994`).
  ///
  /// The syntax is strict, case included ("HTTP-date is case sensitive"). A day that its month does not have is
  /// rejected. The day name must be one of the seven but need not match the date. RFC 5322 section 3.3 requires a match
  /// of senders, while RFC 9110 encourages recipients to be robust. Ignoring such an `If-Unmodified-Since` would let a
  /// write through that its sender meant to guard. The second 60 of a leap second means the second that follows it.
  ///
  /// - Parameters:
  ///   - text: The field value; whitespace around it is ignored.
  ///   - now: The clock for a two-digit year, evaluated for the RFC 850 format only. The year is in the century of
  ///     `now`, or in the one before if the date would be more than 50 years in the future.
  /// - Returns: nil for anything else, including a list of dates.
  public static func parse(_ text: some StringProtocol, now: @autoclosure () -> Date = Date()) -> Date? {
    text.withFieldBytes { seconds(parsing: $0, now: now) }.map { Date(timeIntervalSince1970: Double($0)) }
  }

  /// Returns the date as IMF-fixdate, the only format that a sender may generate.
  ///
  /// - Parameter date: The date, rounded down to the second and clamped to the years 0000 to 9999, which four digits
  ///   can express.
  public static func format(_ date: Date) -> String {
    let time = CivilTime(secondsSinceEpoch: seconds(of: date))
    return String(unsafeUninitializedCapacity: 29) { buffer in
      func put(_ byte: UInt8, at index: Int) { buffer[index] = byte }
      func put(_ name: UInt32, at index: Int) {
        for offset in 0..<3 { put(UInt8(truncatingIfNeeded: name >> UInt32(16 - 8 * offset)), at: index + offset) }
      }
      func put(_ number: Int, digits: Int, at index: Int) {
        var rest = number
        for offset in (0..<digits).reversed() {
          put(UInt8(0x30 + rest % 10), at: index + offset)
          rest /= 10
        }
      }
      for index in 0..<29 { put(.space, at: index) }
      put(HTTPDateSyntax.dayNames[time.weekday], at: 0)
      put(.comma, at: 3)
      put(time.day, digits: 2, at: 5)
      put(HTTPDateSyntax.monthNames[time.month - 1], at: 8)
      put(time.year, digits: 4, at: 12)
      put(time.hour, digits: 2, at: 17)
      put(.colon, at: 19)
      put(time.minute, digits: 2, at: 20)
      put(.colon, at: 22)
      put(time.second, digits: 2, at: 23)
      put(HTTPDateSyntax.gmt, at: 26)
      return 29
    }
  }

  /// Returns the whole seconds since 1970, rounded down and clamped to the years 0000 to 9999.
  static func seconds(of date: Date) -> Int64 {
    let seconds = date.timeIntervalSince1970.rounded(.down)
    guard seconds > Double(CivilTime.firstSecond) else { return CivilTime.firstSecond }  // also where it is NaN
    guard seconds < Double(CivilTime.lastSecond) else { return CivilTime.lastSecond }
    return Int64(seconds)
  }

  /// Returns the seconds since 1970 that a field value names, or nil if it is malformed.
  static func seconds(parsing bytes: Span<UInt8>, now: () -> Date) -> Int64? {
    let content = bytes.fieldContent
    return HTTPDateSyntax.parse(bytes.extracting(content), now: now)?.secondsSinceEpoch
  }
}

/// A date and time of UTC in the Gregorian calendar.
struct CivilTime: Equatable {
  var year: Int
  var month: Int
  var day: Int
  var hour: Int
  var minute: Int
  var second: Int

  static let firstSecond: Int64 = -62_167_219_200
  static let lastSecond: Int64 = 253_402_300_799

  init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
  }

  /// Converts seconds since 1970. Years are counted from March, so that the leap day is the last of its year and months
  /// follow one formula. Eras have 400 years, which are 146 097 days. 719 468 days lie between 0000-03-01 and
  /// 1970-01-01.
  init(secondsSinceEpoch: Int64) {
    let seconds = Int(secondsSinceEpoch)
    let days = (seconds - Self.remainder(seconds, 86_400)) / 86_400 + 719_468
    let dayOfEra = Self.remainder(days, 146_097)
    let era = (days - dayOfEra) / 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let secondOfDay = Self.remainder(seconds, 86_400)
    hour = secondOfDay / 3_600
    minute = secondOfDay / 60 % 60
    second = secondOfDay % 60
  }

  private var daysSinceEpoch: Int {
    let yearFromMarch = month <= 2 ? year - 1 : year
    let yearOfEra = Self.remainder(yearFromMarch, 400)
    let era = (yearFromMarch - yearOfEra) / 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  var secondsSinceEpoch: Int64 {
    Int64(daysSinceEpoch * 86_400 + hour * 3_600 + minute * 60 + second)
  }

  /// The weekday in 0...6, where 0 is Sunday; 1970 began on a Thursday.
  var weekday: Int { Self.remainder(daysSinceEpoch + 4, 7) }

  /// Whether the calendar has this day and the clock has this time; the second 60 exists at 23:59 only.
  var isValid: Bool {
    guard (1...12).contains(month), (1...daysInMonth).contains(day) else { return false }
    guard (0...23).contains(hour), (0...59).contains(minute) else { return false }
    return (0...59).contains(second) || (hour == 23 && minute == 59 && second == 60)
  }

  private var daysInMonth: Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Returns the remainder in 0..<divisor.
  private static func remainder(_ value: Int, _ divisor: Int) -> Int {
    let remainder = value % divisor
    return remainder < 0 ? remainder + divisor : remainder
  }
}

/// The three formats of RFC 9110 section 5.6.7, distinguished by the position of the comma.
enum HTTPDateSyntax {
  /// The day names as numbers: three letters each, the first one in the highest of the lower 24 bits.
  static let dayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"].map(packed)
  static let monthNames = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ].map(packed)
  static let gmt = packed("GMT")
  private static let longDayNames = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    .map { Array($0.utf8) }

  private static func packed(_ name: String) -> UInt32 {
    name.utf8.reduce(0) { $0 << 8 | UInt32($1) }
  }

  static func parse(_ bytes: Span<UInt8>, now: () -> Date) -> CivilTime? {
    guard bytes.count >= 24 else { return nil }
    let time: CivilTime? =
      switch bytes[3] {
      case .comma: fixdate(bytes)
      case .space: asctime(bytes)
      default: rfc850(bytes, now: now)
      }
    guard let time, time.isValid else { return nil }
    return time
  }

  /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`.
  private static func fixdate(_ bytes: Span<UInt8>) -> CivilTime? {
    guard bytes.count == 29, dayNames.contains(bytes.name(at: 0)), bytes[4] == .space, bytes[7] == .space,
      bytes[11] == .space, bytes[16] == .space, bytes.isGMT(at: 25), let day = bytes.number(at: 5, digits: 2),
      let month = bytes.month(at: 8), let year = bytes.number(at: 12, digits: 4)
    else { return nil }
    return bytes.time(at: 17, year: year, month: month, day: day)
  }

  /// Parses `Sun Nov  6 08:49:37 1994`. The day has two columns, the first of which may be a space.
  private static func asctime(_ bytes: Span<UInt8>) -> CivilTime? {
    guard bytes.count == 24, dayNames.contains(bytes.name(at: 0)), bytes[7] == .space, bytes[10] == .space,
      bytes[19] == .space, let month = bytes.month(at: 4), let year = bytes.number(at: 20, digits: 4),
      let day = bytes[8] == .space ? bytes.number(at: 9, digits: 1) : bytes.number(at: 8, digits: 2)
    else { return nil }
    return bytes.time(at: 11, year: year, month: month, day: day)
  }

  /// Parses `Sunday, 06-Nov-94 08:49:37 GMT`.
  private static func rfc850(_ bytes: Span<UInt8>, now: () -> Date) -> CivilTime? {
    // Only the day name varies in length; the rest takes 24 bytes.
    let comma = bytes.count - 24
    guard longDayNames.contains(where: { bytes.starts(with: $0, count: comma) }), bytes[comma] == .comma,
      bytes[comma + 1] == .space, bytes[comma + 4] == .hyphen, bytes[comma + 8] == .hyphen,
      bytes[comma + 11] == .space, bytes.isGMT(at: comma + 20), let day = bytes.number(at: comma + 2, digits: 2),
      let month = bytes.month(at: comma + 5), let lastDigits = bytes.number(at: comma + 9, digits: 2)
    else { return nil }
    let today = CivilTime(secondsSinceEpoch: HTTPDate.seconds(of: now()))
    let year = today.year - today.year % 100 + lastDigits
    guard var time = bytes.time(at: comma + 12, year: year, month: month, day: day) else { return nil }
    var limit = today
    limit.year += 50
    // "a timestamp that appears to be more than 50 years in the future" is "the most recent year in the past that had
    // the same last two digits".
    if time.secondsSinceEpoch > limit.secondsSinceEpoch { time.year -= 100 }
    return time
  }
}

extension Span where Element == UInt8 {
  fileprivate func name(at index: Int) -> UInt32 {
    UInt32(self[index]) << 16 | UInt32(self[index + 1]) << 8 | UInt32(self[index + 2])
  }

  /// Returns the month in 1...12, or nil.
  fileprivate func month(at index: Int) -> Int? {
    HTTPDateSyntax.monthNames.firstIndex(of: name(at: index)).map { $0 + 1 }
  }

  fileprivate func isGMT(at index: Int) -> Bool {
    self[index] == .space && name(at: index + 1) == HTTPDateSyntax.gmt
  }

  fileprivate func number(at index: Int, digits: Int) -> Int? {
    var number = 0
    for offset in 0..<digits {
      guard let digit = self[index + offset].digitValue else { return nil }
      number = number * 10 + digit
    }
    return number
  }

  fileprivate func starts(with name: [UInt8], count: Int) -> Bool {
    guard name.count == count else { return false }
    for index in 0..<count where self[index] != name[index] { return false }
    return true
  }

  /// Adds the `hh:mm:ss` at `index` to a day.
  fileprivate func time(at index: Int, year: Int, month: Int, day: Int) -> CivilTime? {
    guard self[index + 2] == .colon, self[index + 5] == .colon, let hour = number(at: index, digits: 2),
      let minute = number(at: index + 3, digits: 2), let second = number(at: index + 6, digits: 2)
    else { return nil }
    return CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
  }
}
