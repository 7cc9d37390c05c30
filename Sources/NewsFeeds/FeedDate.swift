public import Foundation
internal import News

/// Dates in feeds: RFC 3339 and ISO 8601, RFC 822 with its successors, seconds since 1970, and what people and programs
/// write in their place.
///
/// The parts may be in any order that allows a single reading, with names in any language of CLDR, digits of any script,
/// 12-hour clocks, the units of Chinese, Japanese and Korean, zones by number, name or identifier, and Buddhist, Persian,
/// Japanese and Taiwanese years. A zone in parentheses applies if no other is named. A missing zone and an unknown name are
/// UTC, as RFC 5322 section 4.3 recommends.
public enum FeedDate {
  /// The maximum length of a date.
  static let maximumBytes = 256
  /// The first year of a date. Earlier ones are those of software without a date, or of another calendar.
  static let firstYear = 1500

  /// Parses a date by itself.
  ///
  /// - Returns: The date, or nil if it is impossible, malformed or ambiguous, such as `8/9/2026`.
  public static func date(from text: String) -> Date? {
    guard case .certain(let date, _) = reading(of: text) else { return nil }
    return date
  }

  /// The number that comes first in a date such as `8/9/2026`.
  enum Order: Hashable {
    case day, month
  }

  /// The result of parsing.
  enum Reading: Equatable {
    /// A date with a single meaning. `order` is the order that it proves, as `20/8/2026` does.
    case certain(Date, order: Order?)
    /// The dates by the day as the first number, and by the month.
    case ambiguous(dayFirst: Date, monthFirst: Date)
  }

  /// Parses a date.
  ///
  /// - Parameter language: The BCP 47 tag of the feed, for names that mean different months in different languages.
  /// - Returns: nil for text that is not a date.
  static func reading(of text: String, language: String? = nil) -> Reading? {
    guard text.utf8.count <= maximumBytes else { return nil }
    let text = text.trimmed
    if let date = RFC3339.date(from: text) { return isPlausible(date) ? .certain(date, order: nil) : nil }
    if let date = DateNumber.date(from: text) { return .certain(date, order: nil) }
    if let date = DateNumber.call(text) { return isPlausible(date) ? .certain(date, order: nil) : nil }
    let (tokens, comments) = DateToken.split(DateNumber.withoutWeek(text))
    var parser = DateParser(tokens, comments: comments, language: language)
    return parser.reading()
  }

  /// Whether a date is a day without a time, or with midnight in its place.
  static func isDay(_ date: Date, written text: String) -> Bool {
    date.timeIntervalSince1970.truncatingRemainder(dividingBy: 86_400) == 0
      || [" 00:00", "T00:00"].contains { text.utf8.firstRange(of: $0.utf8) != nil }
  }

  private static func isPlausible(_ date: Date) -> Bool {
    (Int(RFC3339.string(from: date).prefix(4)) ?? 0) >= firstYear
  }

  /// Decides an ambiguous date by the order of the feed's other dates, or else by its language.
  ///
  /// Without either, a date with hyphens begins with the day, one with slashes and a 12-hour clock with the month, and
  /// any other with slashes stays undecided.
  ///
  /// - Parameters:
  ///   - evidence: The orders that other dates of the document prove. Both together prove nothing.
  static func date(
    of reading: Reading, in text: String, evidence: Set<Order>, language: String?
  ) -> Date? {
    guard case .ambiguous(let dayFirst, let monthFirst) = reading else {
      if case .certain(let date, _) = reading { return date }
      return nil
    }
    if evidence.count == 1 { return evidence.contains(.month) ? monthFirst : dayFirst }
    if let language { return DateNames.order(of: language) == "m" ? monthFirst : dayFirst }
    guard text.contains("/") else { return dayFirst }
    return text.contains(#/(?i)[ap]\.?m\b/#) ? monthFirst : nil
  }
}

/// A date of a feed as it is written. It is parsed once, however often it is considered.
struct WrittenDate {
  let text: String
  /// nil for text that is not a date.
  let reading: FeedDate.Reading?

  init(_ text: String, language: String?) {
    self.text = text
    reading = FeedDate.reading(of: text, language: language)
  }
}

/// The parts of a date before validation.
struct DateFields {
  var year: Int?
  var month: Int?
  var day: Int?
  var hour = 0
  var minute = 0
  var second = 0
  /// The fraction of a second in digits.
  var fraction = ""

  /// The date in UTC; nil if it is impossible. The calendar is that of RFC 3339.
  var date: Date? {
    guard let year, let month, let day, year >= FeedDate.firstYear, second <= 60 else { return nil }
    let isNextDay = hour == 24
    if isNextDay, minute != 0 || second != 0 || fraction.contains(where: { $0 != "0" }) { return nil }
    let time = [isNextDay ? 0 : hour, minute, min(second, 59)].map(Self.padded).joined(separator: ":")
    let text = "\(Self.padded(year, 4))-\(Self.padded(month))-\(Self.padded(day))T\(time)"
    let part = fraction.isEmpty ? "" : "." + fraction.prefix(9)
    guard let date = RFC3339.date(from: text + part + "Z") else { return nil }
    // A leap second is read as the second that follows, in any minute.
    return date + (isNextDay ? 86_400 : 0) + (second == 60 ? 1 : 0)
  }

  private static func padded(_ value: Int) -> String { padded(value, 2) }

  private static func padded(_ value: Int, _ digits: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }
}

/// Dates that are one number, and the weeks of ISO 8601.
enum DateNumber {
  // A literal is compiled at each use. Matching only reads the compiled form, so that threads may share these.
  nonisolated(unsafe) private static let callPattern =
    #/\\?\/?(?:new )?Date\((-?\d{1,15})(?:[+-]\d{4})?\)\\?\/?/#
  nonisolated(unsafe) private static let weekPattern = #/(\d{4})-?[Ww](\d\d)(?:-?([1-7])(?!\d))?/#
  nonisolated(unsafe) private static let dayPattern = #/(\d{4})-(\d{3})(?![\d-])/#

  /// Parses a number: seconds, milliseconds, microseconds or nanoseconds since 1970 by its length, `20260820`,
  /// `202608201345` or `20260820134500`.
  static func date(from text: String) -> Date? {
    let whole = text.prefix { $0 != "." }
    let fraction = text.dropFirst(whole.count + 1)
    guard text.utf8.count <= 32, !whole.isEmpty, (whole + fraction).utf8.allSatisfy({ $0.isASCIIDigit }),
      let value = Double(whole)
    else { return nil }
    if [12, 14].contains(whole.utf8.count), fraction.isEmpty, let date = compactDate(whole) { return date }
    switch whole.utf8.count {
    case 9, 10: return Double(text).map { Date(timeIntervalSince1970: $0) }
    case 12, 13: return Date(timeIntervalSince1970: value / 1e3)
    case 16: return Date(timeIntervalSince1970: value / 1e6)
    case 19: return Date(timeIntervalSince1970: value / 1e9)
    default: return nil
    }
  }

  /// Parses the milliseconds since 1970 of `/Date(1704450600000)/` (JSON of ASP.NET) or `new Date(1704450600000)`. An offset
  /// behind the number does not change the time.
  static func call(_ text: String) -> Date? {
    guard let match = text.wholeMatch(of: callPattern) else { return nil }
    return Double(match.1).map { Date(timeIntervalSince1970: $0 / 1e3) }
  }

  private static func compactDate(_ digits: Substring) -> Date? {
    var rest = digits
    func next(_ count: Int) -> Int {
      defer { rest = rest.dropFirst(count) }
      return Int(rest.prefix(count)) ?? 0
    }
    var fields = DateFields(year: next(4), month: next(2), day: next(2), hour: next(2), minute: next(2))
    if !rest.isEmpty { fields.second = next(2) }
    guard let year = fields.year, 1900...2199 ~= year else { return nil }
    return fields.date
  }

  /// Replaces the week or the day of the year by month and day (ISO 8601 section 4.1): `2024-W01-5` becomes
  /// `2024-01-05`.
  static func withoutWeek(_ text: String) -> String {
    let days: Int
    let length: Int
    if let match = text.prefixMatch(of: weekPattern) {
      guard let first = start(ofYear: match.1), let week = Int(match.2), 1...53 ~= week else { return text }
      // 4 January is in the first week. 1 January 1970 was a Thursday.
      let fourth = first + 3
      let monday = fourth - ((fourth + 3) % 7 + 7) % 7
      days = monday + 7 * (week - 1) + (match.3.flatMap { Int($0) } ?? 1) - 1
      length = match.0.count
    } else if let match = text.prefixMatch(of: dayPattern) {
      guard let first = start(ofYear: match.1), let day = Int(match.2), 1...366 ~= day else { return text }
      days = first + day - 1
      length = match.0.count
    } else {
      return text
    }
    let day = RFC3339.string(from: Date(timeIntervalSince1970: Double(days) * 86_400)).prefix(10)
    return String(day) + text.dropFirst(length)
  }

  /// The days from 1970 to 1 January of a year.
  private static func start(ofYear year: Substring) -> Int? {
    RFC3339.date(from: "\(year)-01-01T00:00:00Z").map { Int(($0.timeIntervalSince1970 / 86_400).rounded(.down)) }
  }
}
