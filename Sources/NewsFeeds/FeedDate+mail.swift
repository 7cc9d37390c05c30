internal import Foundation

extension FeedDate {
  /// RFC 822 and what looks like it: the words in any order that leaves one reading.
  static func mailDate(_ text: String) -> Date? {
    var words = words(of: text)[...]
    if let first = words.first, isWeekday(first) { words = words.dropFirst() }
    var fields = Fields()
    guard setDay(of: &fields, from: &words) else { return nil }
    if words.isEmpty { return fields.date }
    // The year of `Thu Aug 20 10:00:00 2026` comes after the time.
    let needsYear = fields.year < 0
    guard let clock = words.popFirst(), setClock(of: &fields, from: clock[...]) else { return nil }
    if let half = words.first.flatMap({ ["AM", "PM"].firstIndex(of: $0) }) {
      guard 1...12 ~= fields.hour else { return nil }
      fields.hour = fields.hour % 12 + half * 12
      words = words.dropFirst()
    }
    if needsYear {
      guard let index = words.firstIndex(where: { $0.utf8.count == 4 && digits($0[...]) != nil }) else { return nil }
      fields.year = digits(words[index][...]) ?? -1
      words.remove(at: index)
    }
    guard let offset = zone(words.joined()[...]) else { return nil }
    fields.offset = offset
    return fields.date
  }

  /// Upper-case words without comments, commas and the hyphens of `20-Aug-2026`.
  private static func words(of text: String) -> [String] {
    var depth = 0
    let bare = text.filter { character in
      if character == "(" { depth += 1 }
      defer { if character == ")" { depth = max(0, depth - 1) } }
      return depth == 0 && character != ")"
    }
    let words = bare.uppercased().split { $0.isWhitespace || $0 == "," }
    return words.flatMap { word -> [String] in
      let parts = word.split(separator: "-")
      return parts.count == 3 && month(parts[1]) != nil ? parts.map(String.init) : [String(word)]
    }
  }

  private static func isWeekday(_ word: String) -> Bool {
    let name = word.hasSuffix(".") ? word.dropLast() : word[...]
    return name.count >= 2 && !name.contains { $0.isNumber } && month(name) == nil
  }

  /// `20 Aug 2026` or `Aug 20 2026`; the year is -1 where the time comes first.
  private static func setDay(of fields: inout Fields, from words: inout ArraySlice<String>) -> Bool {
    guard words.count >= 3, let first = words.popFirst(), let second = words.popFirst() else { return false }
    let pair = month(second[...]).map { ($0, first) } ?? month(first[...]).map { ($0, second) }
    guard let (month, dayText) = pair else { return false }
    let ordinal = ["ST", "ND", "RD", "TH"].contains { dayText.hasSuffix($0) } ? dayText.dropLast(2) : dayText[...]
    let dayDigits = ordinal.hasSuffix(".") ? ordinal.dropLast() : ordinal
    guard 1...2 ~= dayDigits.utf8.count, let day = digits(dayDigits) else { return false }
    (fields.month, fields.day, fields.year) = (month, day, -1)
    guard let next = words.first, !next.contains(":") else { return !words.isEmpty }
    guard 2...4 ~= next.utf8.count, let year = digits(next[...]) else { return false }
    words = words.dropFirst()
    // RFC 5322 section 4.3: two digits up to 49 are of this century, three digits count from 1900.
    switch next.utf8.count {
    case 2: fields.year = year + (year < 50 ? 2000 : 1900)
    case 3: fields.year = year + 1900
    default: fields.year = year
    }
    return true
  }

  private static func month(_ word: Substring) -> Int? {
    let name = word.hasSuffix(".") ? word.dropLast() : word
    guard name.utf8.count >= 3 else { return nil }
    return months.firstIndex { $0.hasPrefix(name) || name == "SEPT" && $0.hasPrefix("SEPT") }.map { $0 + 1 }
  }

  private static let months = [
    "JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE", "JULY", "AUGUST", "SEPTEMBER", "OCTOBER", "NOVEMBER",
    "DECEMBER",
  ]
}
