import Foundation
import News
import TestKit
import Testing

@Suite struct `RFC 3339 dates` {
  /// Returns the number in `count` decimal digits.
  private func digits(_ number: Int?, _ count: Int) -> String {
    let text = String(number ?? -1)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"),
    (1, "1970-01-01T00:00:00.001Z"),
    (-1, "1969-12-31T23:59:59.999Z"),
    (482_196_050_520, "1985-04-12T23:20:50.520Z"),
    (951_827_696_789, "2000-02-29T12:34:56.789Z"),
    (1_795_249_800_000, "2026-11-21T08:30:00.000Z"),
    (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
    (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
    (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
  ])
  func `Dates are written in UTC with three fraction digits`(_ milliseconds: Int, _ text: String) {
    let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    #expect(RFC3339.string(from: date) == text)
    #expect(RFC3339.date(from: text) == date)
    #expect(RFC3339.milliseconds(of: date) == milliseconds)
  }

  @Test(arguments: [
    (253_402_300_800.0, "9999-12-31T23:59:59.999Z"), (1e300, "9999-12-31T23:59:59.999Z"),
    (.infinity, "9999-12-31T23:59:59.999Z"), (-62_167_219_200.001, "0000-01-01T00:00:00.000Z"),
    (-1e300, "0000-01-01T00:00:00.000Z"), (-.infinity, "0000-01-01T00:00:00.000Z"), (.nan, "0000-01-01T00:00:00.000Z"),
  ])
  func `Dates without an RFC 3339 form are written as the nearest that has one`(_ seconds: Double, _ text: String) {
    #expect(RFC3339.string(from: Date(timeIntervalSince1970: seconds)) == text)
  }

  @Test(arguments: [
    // The examples of section 5.8.
    ("1985-04-12T23:20:50.52Z", "1985-04-12T23:20:50.520Z"),
    ("1996-12-19T16:39:57-08:00", "1996-12-20T00:39:57.000Z"),
    ("1990-12-31T23:59:60Z", "1991-01-01T00:00:00.000Z"),
    ("1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00.000Z"),
    ("1937-01-01T12:00:27.87+00:20", "1937-01-01T11:40:27.870Z"),
    // Section 5.6: "T" and "Z" may be lower case, and a space may replace the "T".
    ("2026-11-21t08:30:00z", "2026-11-21T08:30:00.000Z"),
    ("2026-11-21 08:30:00+01:00", "2026-11-21T07:30:00.000Z"),
    // time-secfrac = "." 1*DIGIT
    ("2026-11-21T08:30:00.1Z", "2026-11-21T08:30:00.100Z"),
    ("2026-11-21T08:30:00.12Z", "2026-11-21T08:30:00.120Z"),
    ("2026-11-21T08:30:00.1239Z", "2026-11-21T08:30:00.123Z"),
    ("2026-11-21T08:30:00.9999999999999999999999999999999Z", "2026-11-21T08:30:00.999Z"),
    ("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"),
    // time-numoffset = ("+" / "-") time-hour ":" time-minute
    ("2026-11-21T00:00:00+23:59", "2026-11-20T00:01:00.000Z"),
    ("2026-11-21T00:00:00-23:59", "2026-11-21T23:59:00.000Z"),
    ("2026-11-21T00:00:00-00:00", "2026-11-21T00:00:00.000Z"),
    ("2024-02-29T23:30:00-01:00", "2024-03-01T00:30:00.000Z"),
    ("2026-01-01T00:15:00+00:30", "2025-12-31T23:45:00.000Z"),
    ("2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00.500Z"),
  ])
  func `Every form of the standard is read`(_ text: String, _ expected: String) {
    #expect(RFC3339.date(from: text).map(RFC3339.string) == expected)
    #expect(RFC3339.date(from: "x\(text)".dropFirst()).map(RFC3339.string) == expected)
  }

  @Test(arguments: [
    "", "nonsense", "0", "1795249800", "2026", "2026-11", "2026-11-21", "08:30:00Z", "2026-11-21T", "2026-11-21T08:30Z",
    "2026-11-21T08:30:00", "2026-11-21T08:30:00.Z", "2026-11-21T08:30:00,5Z", "2026-11-21T08:30:00.5", "2026-11-21T08Z",
    "2026-11-21T08:30:00ZZ", "2026-11-21T08:30:00Z ", " 2026-11-21T08:30:00Z", "2026-11-21  08:30:00Z",
    "2026-11-21T08:30:00 Z", "2026-11-21T08:30:00+1:00", "2026-11-21T08:30:00+0100", "2026-11-21T08:30:00+01",
    "2026-11-21T08:30:00+24:00", "2026-11-21T08:30:00+01:60", "2026-11-21T08:30:00+01:00:00", "2026-11-21T08:30:00UTC",
    "2026-11-21T08:30:00−01:00", "26-11-21T08:30:00Z", "02026-11-21T08:30:00Z", "+2026-11-21T08:30:00Z",
    "-2026-11-21T08:30:00Z", "2026-11-21_08:30:00Z", "2026/11/21T08:30:00Z", "20261121T083000Z", "2026-1-21T08:30:00Z",
    "2026-11-1T08:30:00Z", "2026-11-21T8:30:00Z", "2026-W47-6T08:30:00Z", "2026-325T08:30:00Z", "2026-00-21T08:30:00Z",
    "2026-13-21T08:30:00Z", "2026-11-00T08:30:00Z", "2026-11-31T08:30:00Z", "2026-02-29T08:30:00Z",
    "2024-02-30T08:30:00Z", "1900-02-29T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T08:60:00Z",
    "2026-11-21T08:30:61Z", "2026-11-21T08:30:99Z", "2026-11-21T08:30:-1Z", "２０２６-11-21T08:30:00Z",
    "2026-11-21T08:30:00\u{0}Z", "2026-11-21T08:30:00Z\u{0}",
    // A leap second ends a UTC day.
    "2026-11-21T08:30:60Z", "2026-11-21T23:58:60Z", "1990-12-31T23:59:60-08:00",
    // Outside the years 0 to 9999 after conversion to UTC.
    "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z",
  ])
  func `Anything else is refused`(_ text: String) {
    #expect(RFC3339.date(from: text) == nil)
  }

  @Test(arguments: [
    // In 895, 1440 and 1710 a `Date`, which counts from 2001, has a lower resolution than the seconds since 1970.
    1, 4, 99, 100, 400, 895, 999, 1440, 1582, 1600, 1710, 1752, 1900, 1969, 1970, 2000, 2001, 2026, 2038, 2106, 2400,
    9999,
  ])
  func `Every millisecond survives writing, reading and cutting`(_ year: Int) throws {
    let prefix = digits(year, 4)
    for second in ["-01-01T00:00:00", "-02-28T23:59:59", "-07-04T12:34:56", "-12-31T23:59:59"] {
      let start = try #require(RFC3339.date(from: prefix + second + "Z"))
      let milliseconds = RFC3339.milliseconds(of: start)
      for millisecond in slice(of: 0..<1000) {
        let text = "\(prefix)\(second).\(digits(millisecond, 3))Z"
        let date = try #require(RFC3339.date(from: text))
        #expect(RFC3339.string(from: date) == text)
        #expect(RFC3339.milliseconds(of: date) == milliseconds + millisecond)
        #expect(RFC3339.truncated(date) == date)
      }
    }
  }

  @Test func `A year has a 29th of February where the calendar says so`() throws {
    for year in slice(of: 0...9999) {
      let prefix = digits(year, 4)
      let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
      #expect((RFC3339.date(from: prefix + "-02-29T00:00:00Z") != nil) == isLeap)
      let february = try #require(RFC3339.date(from: prefix + "-02-28T00:00:00Z"))
      let next = RFC3339.string(from: february.addingTimeInterval(86_400))
      #expect(next == "\(prefix)-\(isLeap ? "02-29" : "03-01")T00:00:00.000Z")
    }
  }

  @Test func `Foundation's calendar agrees about random dates`() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    var generator = SplitMix64(seed: 3339)
    for _ in 0..<rounds(10_000) {
      let milliseconds = Int.random(in: -62_135_596_800_000...253_402_300_799_999, using: &generator)
      let millisecond = (milliseconds % 1000 + 1000) % 1000
      // Foundation's calendar is Julian before 1582-10-15; the Gregorian calendar repeats every 400 years.
      let cycles = milliseconds < -12_219_292_800_000 ? 4 : 0
      let seconds = (milliseconds - millisecond) / 1000 + cycles * 146_097 * 86_400
      let parts = calendar.dateComponents(
        [.year, .month, .day, .hour, .minute, .second], from: Date(timeIntervalSince1970: Double(seconds)))
      let year = try #require(parts.year) - cycles * 400
      let day = "\(digits(year, 4))-\(digits(parts.month, 2))-\(digits(parts.day, 2))"
      let time = "\(digits(parts.hour, 2)):\(digits(parts.minute, 2)):\(digits(parts.second, 2))"
      let expected = "\(day)T\(time).\(digits(millisecond, 3))Z"
      #expect(RFC3339.string(from: Date(timeIntervalSince1970: Double(milliseconds) / 1000)) == expected)
    }
  }

  @Test func `Offsets shift the date by themselves`() throws {
    var generator = SplitMix64(seed: 8601)
    for _ in 0..<2_000 {
      let seconds = Int.random(in: -60_000_000_000...250_000_000_000, using: &generator)
      let minutes = Int.random(in: -1439...1439, using: &generator)
      let local = RFC3339.string(from: Date(timeIntervalSince1970: Double(seconds + minutes * 60))).dropLast()
      let (hours, rest) = abs(minutes).quotientAndRemainder(dividingBy: 60)
      let offset = "\(minutes < 0 ? "-" : "+")\(digits(hours, 2)):\(digits(rest, 2))"
      #expect(RFC3339.date(from: local + offset)?.timeIntervalSince1970 == Double(seconds), "\(local)\(offset)")
    }
  }

  @Test(arguments: [
    (1_795_249_800.123, 123), (1_795_249_800.1239, 123), (1_795_249_800.9999, 999), (1_795_249_800.0001, 0),
    (1_795_249_800.999_999, 999), (1_795_249_800.001, 1),
  ])
  func `What is finer than a millisecond is cut, not rounded`(_ seconds: Double, _ millisecond: Int) {
    let date = RFC3339.truncated(Date(timeIntervalSince1970: seconds))
    #expect(RFC3339.milliseconds(of: date) == 1_795_249_800_000 + millisecond)
    #expect(RFC3339.truncated(date) == date)
  }

  @Test func `Dates before 1970 are cut towards the past`() {
    let date = RFC3339.truncated(Date(timeIntervalSince1970: -0.0001))
    #expect(RFC3339.string(from: date) == "1969-12-31T23:59:59.999Z")
  }

  @Test func `Any bytes are a date that can be written or none`() {
    let choices = [
      ["2026-11-21", "2024-02-29", "0000-01-01", "9999-12-31", "2026-02-29", "2026-1-1"], ["T", "t", " ", "_", ""],
      ["00:00:00", "08:30:59", "23:59:59", "23:59:60", "24:00:00", "8:3:0"],
      ["", ".5", ".123", ".0009999999999999", "."],
      ["Z", "z", "+00:00", "+05:45", "-12:34", "+24:00", ""],
    ]
    var generator = SplitMix64(seed: 7)
    var read = 0
    for _ in 0..<rounds(200_000) {
      var bytes = choices.flatMap { Array(($0.randomElement(using: &generator) ?? "").utf8) }
      if Bool.random(using: &generator), !bytes.isEmpty {
        bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: .min ... .max, using: &generator)
      }
      guard let date = RFC3339.date(from: String(decoding: bytes, as: UTF8.self)) else { continue }
      read += 1
      #expect(RFC3339.date(from: RFC3339.string(from: date)) == date)
    }
    #expect(read > rounds(10_000), "\(read)")
  }
}
