internal import Foundation

/// Finds the meanings of the numbers and names of a date.
struct DateResolver {
  private var parser: DateParser
  /// The numbers that have no meaning yet.
  private var rest: [DateParser.Number]
  /// The keys of the words.
  private let keys: [String]

  init(_ parser: DateParser) {
    self.parser = parser
    rest = parser.numbers
    keys = parser.words.map { DateNames.key($0.text) }
  }

  mutating func reading() -> FeedDate.Reading? {
    guard rest.count <= 6 else { return nil }
    var fields = parser.fields
    if fields.month != nil {
      fillUnits(&fields)
      return single(fields)
    }
    let months = self.months
    var byName = self
    // The name of a weekday may be that of a month in another language.
    if !months.isEmpty, let reading = byName.named(fields, months) { return reading }
    return numeric(fields)
  }

  // MARK: Dates with units or names

  /// Sets what has no unit: the year has four digits.
  private mutating func fillUnits(_ fields: inout DateFields) {
    if fields.year == nil, let place = rest.firstIndex(where: { $0.digits == 4 }) {
      fields.year = rest.remove(at: place).value
    }
    if fields.day == nil, let place = rest.firstIndex(where: { $0.digits <= 2 }) {
      fields.day = rest.remove(at: place).value
    }
    if fields.day == nil, parser.clock == nil, rest.isEmpty { fields.day = 1 }
  }

  /// - Parameter months: The possible months.
  private mutating func named(_ fields: DateFields, _ months: Set<Int>) -> FeedDate.Reading? {
    var fields = fields
    if rest.count == 1, fields.year == nil { return wholeMonth(rest[0], months) }
    guard fields.year != nil || rest.count >= 2, !rest.isEmpty else { return nil }
    let yearPlace =
      rest.firstIndex { $0.digits == 4 && $0.value >= FeedDate.firstYear } ?? rest.firstIndex { 3...4 ~= $0.digits }
    let isYearFirst = yearPlace == nil && rest[0].value > 31
    if fields.year == nil {
      guard let year = namedYear(rest.remove(at: yearPlace ?? (isYearFirst ? 0 : 1))) else { return nil }
      fields.year = year
    }
    guard let place = rest.firstIndex(where: { $0.digits <= 2 }) else { return nil }
    fields.day = rest.remove(at: place).value
    let dates = months.compactMap { month -> FeedDate.Reading? in
      fields.month = month
      var resolver = self
      return resolver.single(fields)
    }
    return dates.count == 1 ? dates[0] : matching(dates)
  }

  /// Reads a month with its year, which is its first day.
  private mutating func wholeMonth(_ year: DateParser.Number, _ months: Set<Int>) -> FeedDate.Reading? {
    let names = keys.filter {
      !DateNames.months($0, language: parser.language).isEmpty && DateNames.weekdays($0).isEmpty
    }
    guard year.digits == 4, parser.clock == nil, months.count == 1, names.count <= 1 else { return nil }
    rest = []
    return single(DateFields(year: year.value, month: months.first, day: 1))
  }

  /// Expands a year beside the name of a month. Two digits beside a Thai name are Buddhist, if the other calendar would
  /// make it a year to come.
  private func namedYear(_ number: DateParser.Number) -> Int? {
    let isThai = parser.words.contains { $0.text.unicodeScalars.contains { 0xE00...0xE7F ~= $0.value } }
    guard number.digits <= 2, isThai else { return Self.year(number) }
    return number.value >= 40 ? 2500 + number.value : nil
  }

  /// Returns the months that the names may mean. A name that is also a weekday's is one if there is another month.
  private var months: Set<Int> {
    let years = rest.filter { $0.digits == 4 }.map(\.value)
    if let year = years.first, years.count == 1, CalendarYear.persianYears ~= year {
      return Set(keys.compactMap(CalendarYear.persianMonth).prefix(1))
    }
    var candidates: [Candidate] = []
    var index = 0
    while index < keys.count {
      let found = (1...6).reversed().lazy.compactMap { length -> Candidate? in
        guard let key = joined(index, length) else { return nil }
        let months = DateNames.months(key, language: parser.language)
        let isWeekday = length == 1 && !DateNames.weekdays(key).isEmpty
        let distance = distance(from: index, length)
        return months.isEmpty
          ? nil : Candidate(months: months, words: length, isWeekday: isWeekday, distance: distance)
      }.first
      if let found { candidates.append(found) }
      index += found?.words ?? 1
    }
    return candidates.min { $0.isBetter(than: $1) }?.months ?? []
  }

  /// A name that may be that of a month.
  private struct Candidate {
    var months: Set<Int>
    var words: Int
    var isWeekday: Bool
    /// The number of tokens to the nearest number of the date.
    var distance: Int

    func isBetter(than other: Candidate) -> Bool {
      if isWeekday != other.isWeekday { return !isWeekday }
      return (distance, months.count) < (other.distance, other.months.count)
    }
  }

  private func distance(from index: Int, _ length: Int) -> Int {
    let (first, last) = (parser.words[index].index, parser.words[index + length - 1].index)
    let places = parser.tokens.indices.filter {
      parser.tokens[$0].kind == .number && parser.clock?.contains($0) != true
    }
    return places.map { $0 < first ? first - $0 : $0 - last }.min() ?? 0
  }

  /// Returns the key of adjacent words, such as `Meán Fómhair`; nil if there is a number between them.
  private func joined(_ index: Int, _ length: Int) -> String? {
    guard index + length <= keys.count else { return nil }
    for next in index + 1..<index + length {
      let between = parser.words[next - 1].index + 1..<parser.words[next].index
      if between.contains(where: { parser.tokens[$0].kind != .mark }) || between.count > 1 { return nil }
    }
    return keys[index..<index + length].joined()
  }

  // MARK: Numeric dates

  private mutating func numeric(_ fields: DateFields) -> FeedDate.Reading? {
    if let first = rest.first, first.digits == 8 { return compact(first, fields) }
    if let first = rest.first, first.digits == 4, rest.count < 3, parser.clock == nil {
      // Two names with a slash look like the identifier of a zone.
      let isWhole = keys.allSatisfy(Self.isYearWord) && parser.tokens.allSatisfy { $0.kind != .zone }
      guard rest.count == 1 || rest[1].digits == 2 && rest[1].separator != nil, isWhole else { return nil }
      let month = rest.count == 1 ? 1 : rest[1].value
      rest = []
      return single(DateFields(year: first.value, month: month, day: 1))
    }
    guard rest.count >= 3 else { return nil }
    let parts = Array(rest.prefix(3))
    rest.removeFirst(3)
    let separator = parts[1].separator
    guard parts[2].separator == separator, parts.allSatisfy({ $0.digits <= 4 }) else { return nil }
    if parts[0].digits == 4 || parts[0].value > 31 { return ordered(parts[0], parts[1], parts[2], fields) }
    guard parts[0].digits <= 2, parts[1].digits <= 2, separator != ":", separator != nil || parts[2].digits == 4 else {
      return nil
    }
    if parts[2].digits <= 2 {
      let order = parser.language.map(DateNames.order)
      if order == "y" { return ordered(parts[0], parts[1], parts[2], fields) }
      // `03-12-31` begins with the year in some programs and with the day in others.
      if separator == "-", order == nil { return nil }
    }
    return dayAndMonth(parts, fields)
  }

  /// Whether a word says that the number before it is a year. Other words, as in "Summer 2024", mean another time.
  private static func isYearWord(_ key: String) -> Bool {
    ["г", "год", "года", "р", "рік", "року", "year", "jahr", "z", "utc", "gmt"].contains(key)
  }

  private mutating func compact(_ number: DateParser.Number, _ fields: DateFields) -> FeedDate.Reading? {
    var fields = fields
    rest.removeFirst()
    (fields.year, fields.month, fields.day) = (number.value / 10_000, number.value / 100 % 100, number.value % 100)
    return single(fields)
  }

  private mutating func ordered(
    _ year: DateParser.Number, _ month: DateParser.Number, _ day: DateParser.Number, _ fields: DateFields
  ) -> FeedDate.Reading? {
    var fields = fields
    var value = Self.year(year)
    if year.digits == 3 {
      // `113/01/05` is 2024 in Taiwan, and 2013 in programs that count from 1900.
      guard parser.language?.utf8.prefix(2).elementsEqual("zh".utf8) == true else { return nil }
      value = year.value + 1911
    }
    (fields.year, fields.month, fields.day) = (value, month.value, day.value)
    return single(fields)
  }

  /// Reads a date whose year is last. A date with points begins with the day.
  private mutating func dayAndMonth(_ parts: [DateParser.Number], _ fields: DateFields) -> FeedDate.Reading? {
    var fields = fields
    fields.year = Self.year(parts[2])
    let hasPoints = parts[1].separator == "."
    let readings = [(0, 1, FeedDate.Order.day), (1, 0, .month)].map { day, month, order -> FeedDate.Reading? in
      (fields.day, fields.month) = (parts[day].value, parts[month].value)
      var resolver = self
      guard case .certain(let date, _) = resolver.single(fields) else { return nil }
      return .certain(date, order: hasPoints ? nil : order)
    }
    guard case .certain(let dayFirst, _) = readings[0], !hasPoints else {
      return hasPoints ? readings[0] : readings[1]
    }
    guard case .certain(let monthFirst, _) = readings[1] else { return readings[0] }
    if dayFirst == monthFirst { return .certain(dayFirst, order: nil) }
    return matching(readings.compactMap { $0 }) ?? .ambiguous(dayFirst: dayFirst, monthFirst: monthFirst)
  }

  // MARK: Results

  /// Returns the only reading whose weekday is named.
  private func matching(_ readings: [FeedDate.Reading]) -> FeedDate.Reading? {
    let weekdays = keys.reduce(into: Set<Int>()) { $0.formUnion(DateNames.weekdays($1)) }
    let local = readings.filter { reading in
      guard case .certain(let date, _) = reading else { return false }
      // The weekday is that of the local day.
      let day = Int(((date.timeIntervalSince1970 + localShift(of: date)) / 86_400).rounded(.down))
      return weekdays.contains(((day + 3) % 7 + 7) % 7)
    }
    return local.count == 1 ? local[0] : nil
  }

  private func localShift(of date: Date) -> Double {
    date.timeIntervalSince(parser.zone.universal(date))
  }

  /// Returns the date with the numbers that are left as time or offset; nil if one of them has no meaning.
  private mutating func single(_ fields: DateFields) -> FeedDate.Reading? {
    var fields = fields
    var zone = parser.zone
    var time = parser
    if parser.clock == nil, !rest.isEmpty {
      time.fields = fields
      guard time.setTime(clockParts) else { return nil }
      fields = time.fields
      if fields.hour <= 12, keys.contains("pm") || keys.contains("am") {
        fields.hour = fields.hour % 12 + (keys.contains("pm") ? 12 : 0)
      }
    } else if let number = rest.first {
      guard rest.count == 1, number.digits == 4, zone.offset == nil, let minutes = DateZone.minutes(number.text, nil)
      else {
        return nil
      }
      zone.offset = minutes
    }
    guard let local = CalendarYear.gregorian(fields, keys: keys, tokens: parser.tokens).date else { return nil }
    return .certain(zone.universal(local), order: nil)
  }

  /// The parts of a time as `1345`, `134500`, `13.45` or `13.45.00`; none for other numbers.
  private var clockParts: [String] {
    if rest.count == 1, [4, 6].contains(rest[0].digits) {
      let text = rest[0].text
      return stride(from: 0, to: text.utf8.count, by: 2).map { String(text.dropFirst($0).prefix(2)) }
    }
    let isDotted = rest.dropFirst().allSatisfy { $0.separator == "." }
    return 2...3 ~= rest.count && isDotted ? rest.map(\.text) : []
  }

  /// Expands a year: two digits up to 49 are in this century, and three digits count from 1900 (RFC 5322 section 4.3).
  private static func year(_ number: DateParser.Number) -> Int {
    switch number.digits {
    case 1, 2: number.value + (number.value < 50 ? 2000 : 1900)
    case 3: number.value + 1900
    default: number.value
    }
  }
}

/// The years of other calendars.
enum CalendarYear {
  private static let eras = [("令和", 2018), ("平成", 1988), ("昭和", 1925), ("民國", 1911), ("民国", 1911)]
  /// The years of the Persian calendar that dates may have. They are those of no news in other calendars.
  static let persianYears = 1300...1499
  private static let persianMonths = [
    "فروردین", "اردیبهشت", "خرداد", "تیر", "مرداد", "شهریور", "مهر", "آبان", "آذر", "دی", "بهمن", "اسفند",
  ].map(DateNames.key)

  /// Returns the fields in the Gregorian calendar.
  ///
  /// A year after one of the eras of Japan and Taiwan counts from it. A year from 2443 to 2643 is Buddhist, 543 years
  /// ahead, because no news is of that time. A year from 1300 to 1499 is Persian.
  static func gregorian(_ fields: DateFields, keys: [String], tokens: [DateToken]) -> DateFields {
    var fields = fields
    guard let year = fields.year else { return fields }
    if let era = eras.first(where: { name, _ in tokens.contains { $0.kind == .word && $0.text.contains(name) } }),
      year < 200
    {
      fields.year = year + era.1
    } else if 2443...2643 ~= year {
      fields.year = year - 543
    } else if persianYears ~= year {
      return persian(fields)
    }
    return fields
  }

  /// The number of a Persian month; nil for another name.
  static func persianMonth(_ key: String) -> Int? { persianMonths.firstIndex(of: key).map { $0 + 1 } }

  private static func persian(_ fields: DateFields) -> DateFields {
    var calendar = Calendar(identifier: .persian)
    guard let utc = TimeZone(secondsFromGMT: 0), let month = fields.month, let day = fields.day else { return fields }
    calendar.timeZone = utc
    let parts = DateComponents(calendar: calendar, timeZone: utc, year: fields.year, month: month, day: day)
    guard parts.isValidDate, let date = parts.date else { return fields }
    var fields = fields
    let days = Int((date.timeIntervalSince1970 / 86_400).rounded(.down))
    var gregorian = Calendar(identifier: .gregorian)
    gregorian.timeZone = utc
    let civil = gregorian.dateComponents(
      [.year, .month, .day], from: Date(timeIntervalSince1970: Double(days) * 86_400))
    (fields.year, fields.month, fields.day) = (civil.year, civil.month, civil.day)
    return fields
  }
}
