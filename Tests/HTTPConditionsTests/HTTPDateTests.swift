import Foundation
import HTTPConditions
import TestKit
import Testing

@Suite struct `Dates in fields (RFC 9110 section 5.6.7)` {
  struct Row: Sendable, CustomTestStringConvertible {
    var sentence: String
    var text: String
    /// The seconds since 1970; nil if the text is not a date.
    var seconds: Double?
    var testDescription: String { "\(text): \(sentence)" }

    init(_ sentence: String, _ text: String, _ seconds: Double?) {
      self.sentence = sentence
      self.text = text
      self.seconds = seconds
    }
  }

  /// 2026-07-01T12:00:00Z.
  static let now = Date(timeIntervalSince1970: 1_782_907_200)

  @Test(arguments: [
    Row("an example of the preferred format", "Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
    Row("obsolete RFC 850 format", "Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    Row("ANSI C's asctime() format", "Sun Nov  6 08:49:37 1994", 784_111_777),
    Row("date3 = month SP ( 2DIGIT / ( SP 1DIGIT ))", "Sun Nov 06 08:49:37 1994", 784_111_777),
    Row("date3 = month SP 2DIGIT", "Sat Oct 29 19:43:31 1994", 783_459_811),
    Row("the beginning of the count", "Thu, 01 Jan 1970 00:00:00 GMT", 0),
    Row("before the beginning of the count", "Wed, 31 Dec 1969 23:59:59 GMT", -1),
    Row("year = 4DIGIT, the least", "Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
    Row("year = 4DIGIT, the greatest", "Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    Row("a leap day", "Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
    Row("a leap day in asctime", "Thu Feb 29 00:00:00 2024", 1_709_164_800),
    Row("23:59:60 (leap second)", "Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
    Row("whitespace around a field value is no part of it", "\t Sun, 06 Nov 1994 08:49:37 GMT ", 784_111_777),
    Row("recipients are encouraged to be robust: the wrong day name", "Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
    Row("the wrong day name in RFC 850", "Friday, 06-Nov-94 08:49:37 GMT", 784_111_777),
  ])
  func `All three formats are parsed`(_ row: Row) {
    #expect(HTTPDate.parse(row.text, now: Self.now)?.timeIntervalSince1970 == row.seconds)
  }

  @Test(arguments: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], [1, 6, 11])
  func `Every name of a day and of a month is parsed`(_ day: String, _ month: Int) throws {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let long = [
      "Mon": "Mon", "Tue": "Tues", "Wed": "Wednes", "Thu": "Thurs", "Fri": "Fri", "Sat": "Satur", "Sun": "Sun",
    ]
    for name in months {
      let fixdate = try #require(HTTPDate.parse("\(day), \(10 + month) \(name) 2026 00:00:00 GMT"))
      #expect(HTTPDate.parse("\(day) \(name) \(10 + month) 00:00:00 2026") == fixdate)
      let obsolete = "\(long[day] ?? "")day, \(10 + month)-\(name)-26 00:00:00 GMT"
      #expect(HTTPDate.parse(obsolete, now: Self.now) == fixdate)
      #expect(HTTPDate.format(fixdate).dropFirst(5) == "\(10 + month) \(name) 2026 00:00:00 GMT")
    }
  }

  static let refused = [
    Row("HTTP-date is case sensitive", "sun, 06 Nov 1994 08:49:37 GMT", nil),
    Row("HTTP-date is case sensitive", "Sun, 06 NOV 1994 08:49:37 GMT", nil),
    Row("HTTP-date is case sensitive", "Sun, 06 Nov 1994 08:49:37 gmt", nil),
    Row("HTTP-date is case sensitive", "sunday, 06-Nov-94 08:49:37 GMT", nil),
    Row("GMT = %s\"GMT\"", "Sun, 06 Nov 1994 08:49:37 UTC", nil),
    Row("GMT = %s\"GMT\"", "Sun, 06 Nov 1994 08:49:37 +0000", nil),
    Row("GMT = %s\"GMT\"", "Sun, 06 Nov 1994 08:49:37", nil),
    Row("GMT = %s\"GMT\"", "Sunday, 06-Nov-94 08:49:37 UTC", nil),
    Row("MUST NOT generate additional whitespace", "Sun,  06 Nov 1994 08:49:37 GMT", nil),
    Row("MUST NOT generate additional whitespace", "Sun, 06 Nov 1994  08:49:37 GMT", nil),
    Row("day-name \",\" SP", "Sun,06 Nov 1994 08:49:37 GMT", nil),
    Row("day = 2DIGIT", "Sun, 6 Nov 1994 08:49:37 GMT", nil),
    Row("day = 2DIGIT", "Sun,  6 Nov 1994 08:49:37 GMT", nil),
    Row("year = 4DIGIT", "Sun, 06 Nov 94 08:49:37 GMT", nil),
    Row("year = 4DIGIT", "Sun, 06 Nov 01994 08:49:37 GMT", nil),
    Row("2DIGIT year", "Sunday, 06-Nov-1994 08:49:37 GMT", nil),
    Row("day-name-l", "Sun, 06-Nov-94 08:49:37 GMT", nil),
    Row("day-name", "Sunday, 06 Nov 1994 08:49:37 GMT", nil),
    Row("day-name", "Son, 06 Nov 1994 08:49:37 GMT", nil),
    Row("day-name-l", "Someday, 06-Nov-94 08:49:37 GMT", nil),
    Row("month", "Sun, 06 Nob 1994 08:49:37 GMT", nil),
    Row("month", "Sun, 06 11 1994 08:49:37 GMT", nil),
    Row("hour 00 to 23", "Sun, 06 Nov 1994 24:00:00 GMT", nil),
    Row("minute 00 to 59", "Sun, 06 Nov 1994 08:60:00 GMT", nil),
    Row("second 00 to 59", "Sun, 06 Nov 1994 08:49:61 GMT", nil),
    Row("a leap second ends a day", "Sun, 06 Nov 1994 08:49:60 GMT", nil),
    Row("a leap second ends the last minute", "Sun, 06 Nov 1994 23:58:60 GMT", nil),
    Row("a day of its month", "Sun, 00 Nov 1994 08:49:37 GMT", nil),
    Row("a day of its month", "Sun, 31 Nov 1994 08:49:37 GMT", nil),
    Row("a day of its month", "Wed, 29 Feb 2023 08:49:37 GMT", nil),
    Row("a day of its month", "Thu, 29 Feb 1900 08:49:37 GMT", nil),
    Row("2DIGIT", "Sun, 06 Nov 1994 8:49:37 GMT", nil),
    Row("2DIGIT", "Sun, 06 Nov 1994 +8:49:37 GMT", nil),
    Row("2DIGIT", "Sun, -6 Nov 1994 08:49:37 GMT", nil),
    Row("\":\"", "Sun, 06 Nov 1994 08.49.37 GMT", nil),
    Row("asctime-date has no zone", "Sun Nov  6 08:49:37 1994 GMT", nil),
    Row("asctime-date: one-digit day without its space", "Sun Nov 6 08:49:37 1994", nil),
    Row("one date, no list", "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", nil),
    Row("not RFC 3339", "1994-11-06T08:49:37Z", nil),
    Row("not seconds", "784111777", nil),
    Row("not 0", "0", nil),
    Row("not a tag", "\"Sun, 06 Nov 1994 08:49:37 GMT\"", nil),
    Row("not empty", "", nil),
    Row("ASCII only", "Sun, 06 Nov 1994 08:49:3７ GMT", nil),
  ]

  @Test(arguments: refused)
  func `Anything else is rejected`(_ row: Row) {
    #expect(HTTPDate.parse(row.text, now: Self.now) == nil)
  }

  struct TwoDigits: Sendable, CustomTestStringConvertible {
    var now: String
    var text: String
    var year: String
    var testDescription: String { "\(text) read at \(now)" }

    init(_ now: String, _ text: String, year: String) {
      self.now = now
      self.text = text
      self.year = year
    }
  }

  /// "MUST interpret a timestamp that appears to be more than 50 years in the future as representing the most recent
  /// year in the past that had the same last two digits".
  @Test(arguments: [
    TwoDigits("Wed, 01 Jul 2026 12:00:00 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", year: "1994"),
    TwoDigits("Wed, 01 Jul 2026 12:00:00 GMT", "Sunday, 06-Nov-26 08:49:37 GMT", year: "2026"),
    TwoDigits("Wed, 01 Jul 2026 12:00:00 GMT", "Sunday, 06-Nov-27 08:49:37 GMT", year: "2027"),
    TwoDigits("Wed, 01 Jul 2026 12:00:00 GMT", "Sunday, 06-Nov-75 08:49:37 GMT", year: "2075"),
    TwoDigits("Wed, 01 Jul 2026 12:00:00 GMT", "Wednesday, 01-Jul-76 12:00:00 GMT", year: "2076"),
    TwoDigits("Wed, 01 Jul 2026 12:00:00 GMT", "Wednesday, 01-Jul-76 12:00:01 GMT", year: "1976"),
    TwoDigits("Wed, 01 Jul 2026 12:00:00 GMT", "Friday, 31-Dec-99 23:59:59 GMT", year: "1999"),
    TwoDigits("Wed, 01 Jul 2026 12:00:00 GMT", "Saturday, 01-Jan-00 00:00:00 GMT", year: "2000"),
    TwoDigits("Thu, 31 Dec 1998 00:00:00 GMT", "Saturday, 01-Jan-00 00:00:00 GMT", year: "1900"),
    TwoDigits("Thu, 31 Dec 1998 00:00:00 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", year: "1994"),
    TwoDigits("Thu, 29 Feb 2024 00:00:00 GMT", "Saturday, 29-Feb-68 00:00:00 GMT", year: "2068"),
    TwoDigits("Thu, 29 Feb 2024 00:00:00 GMT", "Sunday, 29-Feb-76 00:00:00 GMT", year: "1976"),
    TwoDigits("Thu, 29 Feb 2024 00:00:00 GMT", "Friday, 01-Mar-74 00:00:00 GMT", year: "2074"),
    TwoDigits("Thu, 29 Feb 2024 00:00:00 GMT", "Friday, 02-Mar-74 00:00:00 GMT", year: "1974"),
  ])
  func `A two-digit year is at most 50 years in the future`(_ row: TwoDigits) throws {
    let now = try #require(HTTPDate.parse(row.now))
    let date = try #require(HTTPDate.parse(row.text, now: now))
    #expect(HTTPDate.format(date).dropFirst(12).prefix(4) == row.year)
  }

  @Test func `The clock is read for two-digit years only`() {
    var asked = 0
    func now() -> Date {
      asked += 1
      return Self.now
    }
    _ = HTTPDate.parse("Sun, 06 Nov 1994 08:49:37 GMT", now: now())
    _ = HTTPDate.parse("Sun Nov  6 08:49:37 1994", now: now())
    _ = HTTPDate.parse("nonsense", now: now())
    #expect(asked == 0)
    _ = HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", now: now())
    #expect(asked == 1)
  }

  @Test(arguments: [
    (784_111_777.0, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (784_111_777.999, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (-0.001, "Wed, 31 Dec 1969 23:59:59 GMT"),
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
    (951_868_799, "Tue, 29 Feb 2000 23:59:59 GMT"),
    (-62_167_219_200, "Sat, 01 Jan 0000 00:00:00 GMT"),
    (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
    (-1e300, "Sat, 01 Jan 0000 00:00:00 GMT"),
    (1e300, "Fri, 31 Dec 9999 23:59:59 GMT"),
    (.infinity, "Fri, 31 Dec 9999 23:59:59 GMT"),
    (-.infinity, "Sat, 01 Jan 0000 00:00:00 GMT"),
    (.nan, "Sat, 01 Jan 0000 00:00:00 GMT"),
  ])
  func `One format is written, rounded down and within four-digit years`(_ seconds: Double, _ text: String) {
    #expect(HTTPDate.format(Date(timeIntervalSince1970: seconds)) == text)
  }

  @Test func `A formatted date can be parsed, in every format`() throws {
    var generator = SplitMix64(seed: 5322)
    for _ in 0..<rounds(20_000) {
      let seconds = Double(Int64.random(in: -62_167_219_200...253_402_300_799, using: &generator))
      let text = HTTPDate.format(Date(timeIntervalSince1970: seconds))
      #expect(HTTPDate.parse(text)?.timeIntervalSince1970 == seconds, "\(text)")
      let part = { (start: Int, count: Int) in String(text.dropFirst(start).prefix(count)) }
      let asctime = "\(part(0, 3)) \(part(8, 3)) \(part(5, 2)) \(part(17, 8)) \(part(12, 4))"
      #expect(HTTPDate.parse(asctime)?.timeIntervalSince1970 == seconds, "\(asctime)")
    }
  }

  @Test func `Foundation's calendar agrees about dates and days of the week`() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    var generator = SplitMix64(seed: 1582)
    for _ in 0..<rounds(5_000) {
      // Foundation's calendar is Julian before 1582-10-15, so the range begins there.
      let seconds = Double(Int64.random(in: -12_219_292_800...253_402_300_799, using: &generator))
      let date = Date(timeIntervalSince1970: seconds)
      let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second, .weekday], from: date)
      let month = try months[#require(parts.month) - 1]
      let two = { (value: Int?) in String((value ?? -1) + 100).dropFirst() }
      let year = try String(#require(parts.year) + 10_000).dropFirst()
      let weekday = try days[#require(parts.weekday) - 1]
      let time = "\(two(parts.hour)):\(two(parts.minute)):\(two(parts.second))"
      let expected = "\(weekday), \(two(parts.day)) \(month) \(year) \(time) GMT"
      #expect(HTTPDate.format(date) == expected)
    }
  }
}
