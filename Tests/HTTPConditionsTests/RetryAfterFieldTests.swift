import Foundation
import HTTPConditions
import Testing

@Suite struct RetryAfterFieldTests {
  private static let now = Date(timeIntervalSince1970: 784_111_777)

  private static func seconds(_ value: String, date: String? = nil) -> Double? {
    RetryAfterField.seconds(value, date: date, now: now, maximum: 1000)
  }

  @Test(
    "A number of seconds is the wait, up to the maximum",
    arguments: [
      ("0", 0), ("120", 120), (" 120\t", 120), ("0120", 120), ("1000", 1000), ("1001", 1000),
      ("99999999999999999999", 1000), (String(repeating: "9", count: 400), 1000),
    ])
  func numbers(value: String, wait: Double) {
    #expect(Self.seconds(value) == wait)
  }

  @Test(
    "A date in any of the three forms is relative to the current time, and never in the past",
    arguments: [
      ("Sun, 06 Nov 1994 08:51:37 GMT", 120), ("Sunday, 06-Nov-94 08:51:37 GMT", 120),
      ("Sun Nov  6 08:51:37 1994", 120),
      ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 1000),
    ])
  func dates(value: String, wait: Double) {
    #expect(Self.seconds(value) == wait)
  }

  @Test("A date is relative to the clock of the server, if the response has a valid Date")
  func otherClock() {
    let value = "Sun, 06 Nov 1994 09:51:37 GMT"
    #expect(Self.seconds(value, date: "Sun, 06 Nov 1994 09:50:37 GMT") == 60)
    #expect(Self.seconds("Sun, 06 Nov 1994 08:50:37 GMT", date: "yesterday") == 60)
  }

  @Test(
    "Other forms are invalid",
    arguments: ["", " ", "-1", "+5", "1.5", "1e3", "0x10", "soon", "10, 20", "١٠", "Mon, 30 Feb 2026 25:61:61 GMT"])
  func invalid(value: String) {
    #expect(Self.seconds(value) == nil)
  }
}
