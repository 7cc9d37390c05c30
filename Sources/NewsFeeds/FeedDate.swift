public import Foundation
internal import News

/// Dates in feeds: RFC 3339 and ISO 8601, RFC 822 with its successors, and common deviations from them.
public enum FeedDate {
  /// Parses a date.
  ///
  /// Besides the standards, these are accepted: no weekday or a wrong one, names in full and in some other languages,
  /// two-digit years (RFC 5322 section 4.3), missing seconds, a day without time (midnight), zones by name, a missing
  /// zone (UTC) or one with a misplaced colon, the month before the day, `20.08.2026`, 12-hour clocks, and comments.
  /// `8/9/2026` is ambiguous and therefore rejected.
  ///
  /// - Returns: The date, or nil if it is impossible or malformed.
  public static func date(from text: String) -> Date? {
    let text = text.trimmed
    guard text.utf8.count <= 100 else { return nil }
    return RFC3339.date(from: text) ?? isoDate(text) ?? mailDate(text)
  }

  /// The parts of a date before validation.
  struct Fields {
    var year = 0
    var month = 0
    var day = 0
    var hour = 0
    var minute = 0
    var second = 0
    /// The fraction with its point, or empty.
    var fraction = ""
    /// Minutes east of UTC.
    var offset = 0

    /// The date, validated by the RFC 3339 parser, which knows the calendar.
    var date: Date? {
      guard 0...9999 ~= year, (-1439)...1439 ~= offset else { return nil }
      func padded(_ value: Int, _ digits: Int = 2) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
      }
      let zone = (offset < 0 ? "-" : "+") + padded(abs(offset) / 60) + ":" + padded(abs(offset) % 60)
      let day = [padded(year, 4), padded(month), padded(day)].joined(separator: "-")
      let time = [padded(hour), padded(minute), padded(second)].joined(separator: ":")
      return RFC3339.date(from: day + "T" + time + fraction + zone)
    }
  }

  // MARK: ISO 8601

  private static func isoDate(_ text: String) -> Date? {
    let day = text.prefix { $0 != "T" && $0 != "t" && $0 != " " }
    var fields = Fields()
    guard setDay(of: &fields, from: day) else { return nil }
    let rest = text.dropFirst(day.count + 1).filter { $0 != " " }
    if rest.isEmpty { return fields.date }
    let clock = rest.prefix { $0.isNumber || ":.,".contains($0) }
    guard setClock(of: &fields, from: clock), let offset = zone(rest.dropFirst(clock.count)) else { return nil }
    fields.offset = offset
    return fields.date
  }

  /// Parses `2026-11-21`, `2026/11/21`, `2026-1-2`, `20261121`, `2026-11` or `2026`.
  private static func setDay(of fields: inout Fields, from text: Substring) -> Bool {
    var parts = text.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "/" }
    if parts.count == 1, text.utf8.count == 8 {
      parts = [text.prefix(4), text.dropFirst(4).prefix(2), text.suffix(2)]
    }
    guard 1...3 ~= parts.count, parts[0].utf8.count == 4,
      parts.dropFirst().allSatisfy({ $0.utf8.count == 2 || parts.count == 3 && $0.utf8.count == 1 }),
      let year = digits(parts[0])
    else { return false }
    (fields.year, fields.month, fields.day) = (year, 1, 1)
    if parts.count > 1 {
      guard let month = digits(parts[1]) else { return false }
      fields.month = month
    }
    if parts.count > 2 {
      guard let day = digits(parts[2]) else { return false }
      fields.day = day
    }
    return true
  }

  /// Parses `10:20:30.5`, `10:20`, `102030` or `1020`.
  static func setClock(of fields: inout Fields, from text: Substring) -> Bool {
    let whole = text.prefix { $0 != "." && $0 != "," }
    let fraction = text.dropFirst(whole.count + 1)
    guard fraction.isEmpty || digits(fraction.prefix(9)) != nil && fraction.utf8.count <= 18 else { return false }
    var parts = whole.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count == 1, [4, 6].contains(whole.utf8.count) {
      parts = [whole.prefix(2), whole.dropFirst(2).prefix(2)] + (whole.utf8.count == 6 ? [whole.suffix(2)] : [])
    }
    guard 2...3 ~= parts.count, parts.allSatisfy({ 1...2 ~= $0.utf8.count }) else { return false }
    let numbers = parts.compactMap(digits)
    guard numbers.count == parts.count, numbers[0] < 24, numbers[1] < 60 else { return false }
    (fields.hour, fields.minute, fields.second) = (numbers[0], numbers[1], numbers.count > 2 ? numbers[2] : 0)
    fields.fraction = fraction.isEmpty || numbers.count < 3 ? "" : "." + fraction.prefix(9)
    return true
  }

  // MARK: Zones

  /// Parses a zone into minutes east of UTC. A missing zone is UTC, and so is an unknown name, as RFC 5322 section 4.3
  /// recommends.
  static func zone(_ text: Substring) -> Int? {
    var text = text.uppercased()[...]
    if text.isEmpty { return 0 }
    if let first = text.first, first.isLetter {
      let name = text.prefix { $0.isLetter }
      text = text.dropFirst(name.count)
      // In feeds, `GMT+0200` is east of Greenwich, contrary to POSIX.
      if text.isEmpty || text.first == "[" { return (zones[String(name)] ?? 0) }
      guard ["GMT", "UTC", "UT"].contains(name) else { return nil }
    }
    guard let sign = text.first, "+-\u{2212}".contains(sign) else { return nil }
    // A name after the number, as in `+0200 CEST` or `+02:00[Europe/Berlin]` (RFC 9557), is ignored.
    let written = text.dropFirst().prefix { $0.isNumber || $0 == ":" }
    guard text.dropFirst(1 + written.count).first.map({ $0.isLetter || $0 == "[" }) != false else { return nil }
    let number = written.filter { $0 != ":" }
    guard 1...4 ~= number.utf8.count, let value = digits(number[...]) else { return nil }
    let (hours, minutes) = number.utf8.count <= 2 ? (value, 0) : (value / 100, value % 100)
    guard hours <= 15, minutes < 60 else { return nil }
    return (sign == "+" ? 1 : -1) * (hours * 60 + minutes)
  }

  static func digits(_ text: Substring) -> Int? {
    text.utf8.allSatisfy(\.isASCIIDigit) ? Int(text) : nil
  }

  /// The zone names of RFC 822, and other common names without ambiguity.
  private static let zones: [String: Int] = [
    "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420,
    "AKST": -540, "AKDT": -480, "HST": -600, "AST": -240, "ADT": -180, "NST": -210, "NDT": -150, "BRT": -180,
    "ART": -180, "WET": 0, "WEST": 60, "BST": 60, "CET": 60, "CEST": 120, "MEZ": 60, "MESZ": 120, "EET": 120,
    "EEST": 180, "MSK": 180, "TRT": 180, "SAST": 120, "IST": 330, "PKT": 300, "HKT": 480, "SGT": 480, "AWST": 480,
    "JST": 540, "KST": 540, "ACST": 570, "ACDT": 630, "AEST": 600, "AEDT": 660, "NZST": 720, "NZDT": 780,
  ]
}
