internal import Foundation

/// Parses the tokens of a date. Every number must have a meaning; unknown words are ignored.
struct DateParser {
  /// A number of the date, or of a time that is written without colons.
  struct Number {
    var text: String
    var value: Int
    /// The mark between the previous number and this one; nil after a blank or a word.
    var separator: String?
    /// Whether a hyphen before the number is its sign.
    var isNegative = false

    var digits: Int { text.utf8.count }
  }

  private(set) var tokens: [DateToken]
  let language: String?
  private var index = 0
  private(set) var numbers: [Number] = []
  /// The words with the indices of their tokens.
  private(set) var words: [(index: Int, text: String)] = []
  private(set) var zone = DateZone()
  var fields = DateFields()
  /// The indices of the first and the last token of the time.
  private(set) var clock: ClosedRange<Int>?
  /// Whether a mark between the last number and the current token separates parts of a date.
  private var separator: String?

  /// The tokens of each comment.
  private let comments: [[DateToken]]

  init(_ tokens: [DateToken], comments: [[DateToken]], language: String?) {
    self.tokens = tokens
    self.comments = comments
    self.language = language
  }

  mutating func reading() -> FeedDate.Reading? {
    while index < tokens.count {
      guard readToken() else { return nil }
    }
    applyHalf()
    if !zone.isKnown { zone.add(longName: words.map(\.text)) }
    if !zone.isKnown, let zone = comments.lazy.compactMap(DateZone.init(comment:)).first { self.zone = zone }
    var resolver = DateResolver(self)
    return resolver.reading()
  }

  func token(_ offset: Int) -> DateToken? {
    let place = index + offset
    return tokens.indices.contains(place) ? tokens[place] : nil
  }

  /// - Returns: Whether the date can still be parsed.
  private mutating func readToken() -> Bool {
    let token = tokens[index]
    switch token.kind {
    case .zone:
      zone.add(identifier: token.text)
      index += 1
    case .word: readWord(token)
    case .mark: return readMark(token)
    case .number: return readNumber(token)
    }
    return true
  }

  private mutating func readWord(_ token: DateToken) {
    words.append((index, token.text))
    // A time without colons looks like numbers of the date.
    if clock != nil || numbers.count > 2 || endsWithTime || isZone(token) { zone.add(name: token.text) }
    separator = nil
    index += 1
  }

  /// Whether a word before the time or without one can only be the name of a zone.
  private func isZone(_ word: DateToken) -> Bool {
    guard !numbers.isEmpty, word.text.utf8.count >= 3, word.text.utf8.allSatisfy({ 0x41...0x5A ~= $0 }) else {
      return false
    }
    let key = DateNames.key(word.text)
    return DateZone.isKnown(word.text) && DateNames.months(key, language: language).isEmpty
      && DateNames.weekdays(key).isEmpty
  }

  /// Whether the previous token ends a time without colons, such as `1345`, `134500` or `13.45`, behind a whole date.
  private var endsWithTime: Bool {
    guard clock == nil, let last = numbers.last, token(-1)?.kind == .number else { return false }
    let dotted = numbers.reversed().prefix { $0.separator == "." }.count
    guard dotted > 0 ? dotted <= 2 && last.digits <= 2 : [4, 6].contains(last.digits) else { return false }
    let parts = numbers.count - 1 - dotted
    if fields.month != nil { return parts == [fields.year, fields.day].count { $0 == nil } }
    if numbers[0].digits == 8 { return parts == 1 }
    return parts == 3 || parts == 2 && words.contains { isMonth($0.text) }
  }

  /// Whether the last number can only be a time of an instant. `0800-1000` may be the time from 8 to 10.
  private var isExactTime: Bool {
    guard let last = numbers.last else { return false }
    let isMarked = words.last.map { $0.index == index - 2 && $0.text.uppercased() == "T" } == true
    return isMarked || last.digits == 6 || last.separator == "."
  }

  private func isMonth(_ word: String) -> Bool {
    !DateNames.months(DateNames.key(word), language: language).isEmpty
  }

  // MARK: Marks

  private mutating func readMark(_ token: DateToken) -> Bool {
    guard token.isMark("+-"), let next = self.token(1), next.kind == .number else {
      if "/-.".contains(token.text) { separator = token.text }
      index += 1
      return token.text != "+"
    }
    let isSeparator = !token.isApart && !next.isApart && isAfterDatePart
    let isRange = token.text == "-" && !token.isApart && !isExactTime
    let isAfterTime = clock != nil ? !isSeparator : endsWithTime && !isRange
    if isAfterTime, zone.offset == nil, readOffset(sign: token.text == "+" ? 1 : -1) { return true }
    let isClock = self.token(2)?.isMark(":") == true
    if token.text == "-", token.isApart, !next.isApart, !isClock { return false }
    separator = token.text
    index += 1
    return token.text == "-"
  }

  /// Whether the previous token is a number of the date or the name of a month.
  private var isAfterDatePart: Bool {
    guard let previous = token(-1) else { return false }
    if let clock, clock.upperBound >= index - 1 { return false }
    return previous.kind == .number || previous.kind == .word && isMonth(previous.text)
  }

  /// Reads `+02:00`, `+0200` or `+2` at a sign.
  private mutating func readOffset(sign: Int) -> Bool {
    guard let hours = token(1) else { return false }
    let isPair = token(2)?.isMark(":") == true && token(3)?.kind == .number && token(3)?.isApart == false
    if !isPair, token(2)?.isMark("/-.") == true, token(3)?.kind == .number { return false }
    guard let minutes = DateZone.minutes(hours.text, isPair ? token(3)?.text : nil) else { return false }
    zone.offset = sign * minutes
    index += isPair ? 4 : 2
    return true
  }

  // MARK: Numbers

  private mutating func readNumber(_ token: DateToken) -> Bool {
    guard let value = token.value else { return false }
    if self.token(1)?.isMark(":") == true, self.token(2)?.kind == .number { return readChain() }
    if readUnit(value) || readSpokenHour(value) { return true }
    numbers.append(Number(text: token.text, value: value, separator: numbers.isEmpty ? nil : separator))
    separator = nil
    index += 1
    return true
  }

  /// Reads numbers with colons: a time, a year with its time, a date, or an offset without its sign.
  private mutating func readChain() -> Bool {
    let start = index
    var chain = [tokens[index]]
    index += 1
    while let colon = token(0), colon.isMark(":"), let next = token(1), next.kind == .number {
      chain.append(next)
      index += 2
    }
    if chain[0].text.utf8.count == 4 {
      let isDate = chain.count == 3
      for part in chain.prefix(isDate ? 3 : 1) {
        numbers.append(Number(text: part.text, value: part.value ?? 0, separator: isDate ? ":" : nil))
      }
      separator = nil
      if isDate { return true }
      chain.removeFirst()
    }
    if clock != nil {
      // The plus of an offset is lost where an address was decoded.
      guard zone.offset == nil, chain.count == 2, let minutes = DateZone.minutes(chain[0].text, chain[1].text) else {
        return false
      }
      zone.offset = minutes
      return true
    }
    guard 2...4 ~= chain.count, setTime(chain.prefix(3).map(\.text)) else { return false }
    if chain.count == 4 { fields.fraction = chain[3].text }
    if chain.count == 3, let mark = token(0), mark.isMark(".,"), let digits = token(1), digits.kind == .number,
      !mark.isApart, !digits.isApart
    {
      guard digits.text.utf8.count <= 18 else { return false }
      fields.fraction = digits.text
      index += 2
    }
    clock = start...(index - 1)
    separator = nil
    return true
  }

  /// Sets the time.
  ///
  /// - Parameter parts: Hours, minutes and seconds, each with one or two digits.
  mutating func setTime(_ parts: [String]) -> Bool {
    let values = parts.compactMap { 1...2 ~= $0.utf8.count ? Int($0) : nil }
    guard values.count == parts.count, let hour = values.first, hour <= 24, values.dropFirst().allSatisfy({ $0 <= 60 })
    else { return false }
    (fields.hour, fields.minute) = (hour, values.count > 1 ? values[1] : 0)
    fields.second = values.count > 2 ? values[2] : 0
    return fields.minute < 60
  }

  // MARK: Units

  private static let years = Set("年년".unicodeScalars)
  private static let months = Set("月월".unicodeScalars)
  private static let days = Set("日일号號".unicodeScalars)
  private static let hours = Set("時时點点시".unicodeScalars)
  private static let minutes = Set("分분นນ".unicodeScalars)
  private static let seconds = Set("秒초วວ".unicodeScalars)
  /// The words after an hour that is written without a colon.
  private static let hourWords: Set<String> = ["h", "hs", "hrs", "uhr", "ч", "год", "นาฬิกา", "ໂມງ"]
  /// The words before a month that is a number, in Vietnamese.
  private static let monthWords: Set<String> = ["thang", "thg"]

  /// Reads a number with its unit, as in `2024年1月5日`, `10時30分` or `10h30`.
  private mutating func readUnit(_ value: Int) -> Bool {
    if let word = words.last, word.index == index - 1, Self.monthWords.contains(DateNames.key(word.text)) {
      fields.month = value
      index += 1
      return true
    }
    guard let next = token(1), next.kind == .word, let unit = next.text.unicodeScalars.first else { return false }
    let isHourWord = Self.hourWords.contains(next.text.lowercased())
    // After a blank, the signs of month and day are those of Monday and Sunday, unless the year has its sign too.
    let isUnit = !next.isApart || fields.year != nil
    switch unit {
    case _ where Self.years.contains(unit): fields.year = value
    case _ where Self.months.contains(unit) && isUnit: fields.month = value
    case _ where Self.days.contains(unit) && isUnit: fields.day = value
    case _ where Self.hours.contains(unit) || isHourWord && clock == nil: return readUnitTime(value)
    default: return false
    }
    take(unitOf: next)
    return true
  }

  /// Leaves the rest of a word after its unit.
  private mutating func take(unitOf word: DateToken) {
    let rest = String(word.text.unicodeScalars.dropFirst())
    index += 1
    if rest.isEmpty {
      index += 1
    } else {
      tokens[index].text = rest
    }
    separator = nil
  }

  private mutating func readUnitTime(_ hour: Int) -> Bool {
    guard clock == nil, hour <= 24 else { return false }
    let start = index
    index += 2
    var parts = [String(hour)]
    for units in [Self.minutes, Self.seconds] {
      guard let number = token(0), number.kind == .number, number.text.utf8.count <= 2 else { break }
      let unit = token(1)?.kind == .word ? token(1)?.text.unicodeScalars.first : nil
      let isUnit = unit.map { units.contains($0) || "ms".unicodeScalars.contains($0) } == true
      // In `15 h 07` nothing but marks follows the minutes.
      guard isUnit || !number.isApart || token(1).map({ $0.kind == .mark }) ?? true else { break }
      parts.append(number.text)
      index += isUnit ? 2 : 1
    }
    guard setTime(parts) else { return false }
    clock = start...(index - 1)
    return true
  }

  /// Reads `1 PM`.
  private mutating func readSpokenHour(_ value: Int) -> Bool {
    guard clock == nil, 1...12 ~= value, let word = token(1), word.kind == .word else { return false }
    let key = DateNames.key(word.text)
    let pair = key + (token(2)?.isMark(".") == true ? DateNames.key(token(3)?.text ?? "") : "")
    guard ["am", "pm"].contains(key) || ["am", "pm"].contains(pair) else { return false }
    fields.hour = value
    clock = index...index
    index += 1
    return true
  }

  /// Applies the half of the day that is beside the time.
  private mutating func applyHalf() {
    guard let clock, let half = half(after: clock.upperBound) ?? half(before: clock.lowerBound) else { return }
    // With a clock of 24 hours the half is superfluous.
    if fields.hour <= 12 { fields.hour = fields.hour % 12 + half * 12 }
  }

  private func half(after last: Int) -> Int? {
    let next = words.filter { $0.index > last && $0.index <= last + 3 }
    guard let first = next.first, first.index == last + 1 else { return nil }
    let pair = next.count > 1 ? DateNames.half(DateNames.key(first.text + next[1].text)) : nil
    return pair ?? DateNames.half(DateNames.key(first.text))
  }

  private func half(before first: Int) -> Int? {
    let previous = words.filter { $0.index < first && $0.index >= first - 3 }
    guard let last = previous.last, last.index >= first - 2 else { return nil }
    let pair = previous.count > 1 ? DateNames.half(DateNames.key(previous[previous.count - 2].text + last.text)) : nil
    return pair ?? DateNames.half(DateNames.key(last.text))
  }
}
