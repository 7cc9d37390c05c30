internal import Foundation

extension FeedDate {
  /// Parses RFC 822 dates and similar ones: words in any order that allows a single reading.
  static func mailDate(_ text: String) -> Date? {
    var words = words(of: text)[...]
    if startsWithWeekday(words) { words = words.dropFirst() }
    var fields = Fields()
    guard setDottedDay(of: &fields, from: &words) || setDay(of: &fields, from: &words) else { return nil }
    if words.isEmpty { return fields.date }
    // The year of `Thu Aug 20 10:00:00 2026` follows the time.
    let needsYear = fields.year < 0
    guard let clock = words.popFirst() else { return nil }
    let isDotted = !clock.contains(":") && clock.utf8.count >= 4
    guard setClock(of: &fields, from: isDotted ? clock.replacing(".", with: ":")[...] : clock[...]) else { return nil }
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

  /// Splits a date into upper-case words. Comments, commas and particles are dropped. Joined words, such as
  /// `20-Aug-2026`, `2026T13:45:00Z` or `1:45pm`, are separated.
  private static func words(of text: String) -> [String] {
    var depth = 0
    let bare = text.filter { character in
      if character == "(" { depth += 1 }
      defer { if character == ")" { depth = max(0, depth - 1) } }
      return depth == 0 && character != ")"
    }
    let words = bare.uppercased().split { $0.isWhitespace || $0 == "," }
    return words.filter { !particles.contains($0) }.flatMap { parts(of: $0).map(String.init) }
  }

  private static let particles: Set<Substring> = ["-", "AT", "DE"]

  private static func parts(of word: Substring) -> [Substring] {
    let hyphened = word.split(separator: "-")
    if hyphened.count == 3, month(hyphened[1]) != nil { return hyphened }
    let year = word.prefix(4)
    if digits(year) != nil, word.dropFirst(4).first == "T" { return [year] + parts(of: word.dropFirst(5)) }
    let clock = word.prefix { $0.isNumber || ":.".contains($0) }
    return clock.contains(":") && clock.count < word.count ? [clock, word.dropFirst(clock.count)] : [word]
  }

  /// Whether the first word is a weekday. `MAR` is March, but Tuesday in some languages if another month follows.
  private static func startsWithWeekday(_ words: ArraySlice<String>) -> Bool {
    guard let first = words.first, first.count >= 2, !first.contains(where: { $0.isNumber }) else { return false }
    return month(first[...]) == nil || words.count > 2 && month(words[2][...]) != nil
  }

  /// Parses `20.08.2026`, a notation that always puts the day first.
  private static func setDottedDay(of fields: inout Fields, from words: inout ArraySlice<String>) -> Bool {
    let numbers = words.first?.split(separator: ".", omittingEmptySubsequences: false) ?? []
    guard numbers.count == 3, numbers[2].utf8.count == 4, numbers[..<2].allSatisfy({ 1...2 ~= $0.utf8.count }),
      let day = digits(numbers[0]), let month = digits(numbers[1]), let year = digits(numbers[2])
    else { return false }
    (fields.day, fields.month, fields.year) = (day, month, year)
    words = words.dropFirst()
    return true
  }

  /// Parses `20 Aug 2026` or `Aug 20 2026`. The year is -1 if the time follows the day.
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
    // RFC 5322 section 4.3: two digits up to 49 are in this century, and three digits count from 1900.
    switch next.utf8.count {
    case 2: fields.year = year + (year < 50 ? 2000 : 1900)
    case 3: fields.year = year + 1900
    default: fields.year = year
    }
    return true
  }

  /// Finds the month by its first letters, three or more, if no other month begins with them.
  private static func month(_ word: Substring) -> Int? {
    let name = unaccented(word.hasSuffix(".") ? String(word.dropLast()) : String(word))
    guard name.count >= 3 else { return nil }
    let matching = months.indices.filter { index in months[index].contains { $0.hasPrefix(name) } }
    return matching.count == 1 ? matching[0] + 1 : nil
  }

  private static func unaccented(_ text: String) -> String {
    text.folding(options: .diacriticInsensitive, locale: nil)
  }

  /// The names of the months in English, German, French, Spanish, Italian, Portuguese, Dutch and Russian.
  private static let months: [[String]] = [
    "JANUARY JANUAR JANVIER ENERO GENNAIO JANEIRO JANUARI ЯНВАРЯ",
    "FEBRUARY FEBRUAR FÉVRIER FEBRERO FEBBRAIO FEVEREIRO FEBRUARI ФЕВРАЛЯ",
    "MARCH MÄRZ MRZ MARS MARZO MARÇO MAART MRT МАРТА", "APRIL AVRIL ABRIL APRILE АПРЕЛЯ",
    "MAY MAI MAYO MAGGIO MAIO MEI МАЯ МАЙ", "JUNE JUNI JUIN JUNIO GIUGNO JUNHO ИЮНЯ",
    "JULY JULI JUILLET JULIO LUGLIO JULHO ИЮЛЯ", "AUGUST AOÛT AGOSTO AUGUSTUS АВГУСТА",
    "SEPTEMBER SEPTEMBRE SEPTIEMBRE SETTEMBRE SETEMBRO СЕНТЯБРЯ",
    "OCTOBER OKTOBER OCTOBRE OCTUBRE OTTOBRE OUTUBRO ОКТЯБРЯ",
    "NOVEMBER NOVEMBRE NOVIEMBRE NOVEMBRO НОЯБРЯ", "DECEMBER DEZEMBER DÉCEMBRE DICIEMBRE DICEMBRE DEZEMBRO ДЕКАБРЯ",
  ].map { $0.split(separator: " ").map { unaccented(String($0)) } }
}
