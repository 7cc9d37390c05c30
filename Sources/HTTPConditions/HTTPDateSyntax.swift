import Foundation

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
