public import Foundation

/// Dates in the form of the API: RFC 3339 in UTC with exactly three fraction digits.
///
/// `Date` stores seconds as a binary fraction. Formatting therefore goes through whole milliseconds, so that `.123`
/// stays `.123`.
///
///     let date = RFC3339.date(from: "2026-11-21T09:30:00+01:00")!
///     print(RFC3339.string(from: date))  // 2026-11-21T08:30:00.000Z
public enum RFC3339 {
  /// The years 0 to 9999 in milliseconds since 1970.
  private static let representable = -62_167_219_200_000...253_402_300_799_999

  /// Formats a date as `2026-11-21T08:30:00.000Z`. Years outside 0...9999 have no RFC 3339 form and are clamped.
  public static func string(from date: Date) -> String {
    let milliseconds = min(max(Self.milliseconds(of: date), representable.lowerBound), representable.upperBound)
    let (days, inDay) = (milliseconds.flooredQuotient(86_400_000), milliseconds.flooredRemainder(86_400_000))
    let (year, month, day) = civil(fromDays: days)
    return String(unsafeUninitializedCapacity: 24) { buffer in
      func put(_ value: Int, digits: Int, at offset: Int) {
        var value = value
        for index in (offset..<offset + digits).reversed() {
          buffer[index] = UInt8(48 + value % 10)
          value /= 10
        }
      }
      buffer.initialize(repeating: UInt8(ascii: "-"))
      put(year, digits: 4, at: 0)
      put(month, digits: 2, at: 5)
      put(day, digits: 2, at: 8)
      buffer[10] = UInt8(ascii: "T")
      put(inDay / 3_600_000, digits: 2, at: 11)
      buffer[13] = UInt8(ascii: ":")
      put(inDay / 60_000 % 60, digits: 2, at: 14)
      buffer[16] = UInt8(ascii: ":")
      put(inDay / 1000 % 60, digits: 2, at: 17)
      buffer[19] = UInt8(ascii: ".")
      put(inDay % 1000, digits: 3, at: 20)
      buffer[23] = UInt8(ascii: "Z")
      return 24
    }
  }

  /// Parses any RFC 3339 date-time (section 5.6), with an offset and any number of fraction digits. Fractions of a
  /// millisecond are truncated.
  ///
  /// The second 60 is valid only in the last minute of a UTC day. It is read as the second that follows.
  ///
  /// - Returns: The date; nil for malformed text, impossible dates and times, and years outside 0...9999 in UTC.
  public static func date(from string: some StringProtocol) -> Date? {
    var reader = Reader(bytes: Array(string.utf8))
    guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
      let day = reader.number(2), reader.skip("T") || reader.skip("t") || reader.skip(" "),
      let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2), reader.skip(":"),
      let second = reader.number(2), let fraction = reader.fraction(), let offset = reader.offset(), reader.atEnd,
      1...12 ~= month, day >= 1, day <= Self.days(inMonth: month, of: year), hour < 24, minute < 60,
      second < 60 || (second == 60 && (hour * 60 + minute - offset).flooredRemainder(1440) == 1439)
    else { return nil }
    let days = Self.days(fromCivil: year, month, day)
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset * 60
    let milliseconds = seconds * 1000 + fraction
    guard representable.contains(milliseconds) else { return nil }
    return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }

  /// Returns milliseconds since 1970, rounded to the nearest and clamped to about 3 million years before and after it.
  public static func milliseconds(of date: Date) -> Int {
    let seconds = date.timeIntervalSince1970
    guard seconds > -1e14 else { return -100_000_000_000_000_000 }  // also for NaN
    return Int((min(seconds, 1e14) * 1000).rounded())
  }

  /// Truncates a date to whole milliseconds, the resolution in which items are stored.
  public static func truncated(_ date: Date) -> Date {
    // A decimal .123 may be stored as .12299999 in binary and must stay 123. `Date` counts from 2001, so the value here
    // has been rounded three times. The error is at most 2.1 units in the last place of the seconds. Half a microsecond
    // is allowed where that place is finer than today's.
    let seconds = date.timeIntervalSince1970
    let nudge = max(0.0005, 2.1 * seconds.ulp * 1000)
    return Date(timeIntervalSince1970: (seconds * 1000 + nudge).rounded(.down) / 1000)
  }

  // Howard Hinnant's day algorithms for the proleptic Gregorian calendar.
  private static func days(fromCivil year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.flooredQuotient(400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(fromDays days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = shifted.flooredQuotient(146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  private static func days(inMonth month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

/// A parser over the bytes of a date.
private struct Reader {
  let bytes: [UInt8]
  var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  var atEnd: Bool { position == bytes.count }

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  mutating func digit() -> Int? {
    guard position < bytes.count, bytes[position].isASCIIDigit else { return nil }
    position += 1
    return Int(bytes[position - 1]) - 48
  }

  mutating func number(_ digits: Int) -> Int? {
    var value = 0
    for _ in 0..<digits {
      guard let digit = digit() else { return nil }
      value = value * 10 + digit
    }
    return value
  }

  /// Parses an optional fraction into milliseconds; nil for a point without digits.
  mutating func fraction() -> Int? {
    guard skip(".") else { return 0 }
    guard var value = digit() else { return nil }
    var count = 1
    while let digit = digit() {
      if count < 3 { value = value * 10 + digit }
      count += 1
    }
    while count < 3 {
      value *= 10
      count += 1
    }
    return value
  }

  /// Parses an offset into minutes east of UTC.
  mutating func offset() -> Int? {
    if skip("Z") || skip("z") { return 0 }
    let sign = skip("+") ? 1 : skip("-") ? -1 : 0
    guard sign != 0, let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60 else {
      return nil
    }
    return sign * (hours * 60 + minutes)
  }
}

extension Int {
  fileprivate func flooredQuotient(_ divisor: Int) -> Int {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }

  fileprivate func flooredRemainder(_ divisor: Int) -> Int {
    let remainder = self % divisor
    return remainder < 0 ? remainder + divisor : remainder
  }
}
