import BackgroundFetch
import Foundation
import Testing

@Suite struct `Fetch intervals` {
  @Test(arguments: [
    ("never", FetchInterval.never), ("minimum", .minimum), ("3600", .seconds(3600)), ("90m", .seconds(5400)),
    ("2h", .seconds(7200)), ("1.5h", .seconds(5400)), ("1d", .seconds(86_400)), ("45s", .seconds(45)),
  ])
  func `A word, a number and a number with a unit are parsed`(_ text: String, _ interval: FetchInterval) {
    #expect(FetchInterval(text) == interval)
  }

  @Test(arguments: [
    "", "Never", "-1", "0", "0h", "1e3", "nan", "inf", "h", "1h30m", " 60", "60 ", "1.2.3", ".", ".5h", "31d", "٣",
    "0x10", "99999999999999999999999",
  ])
  func `Any other text is refused`(_ text: String) {
    #expect(FetchInterval(text) == nil)
  }

  @Test(arguments: [FetchInterval.never, .minimum, .seconds(900), .seconds(0.5 + 5400)])
  func `The description and the JSON are parsed back`(_ interval: FetchInterval) throws {
    #expect(FetchInterval(interval.description) == interval)
    let data = try JSONEncoder().encode([interval])
    #expect(try JSONDecoder().decode([FetchInterval].self, from: data) == [interval])
  }

  @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, .greatestFiniteMagnitude])
  func `Any number can be printed`(_ seconds: Double) {
    #expect(!FetchInterval.seconds(seconds).description.isEmpty)
  }

  @Test func `JSON without a valid interval is an error`() {
    for text in ["[3600]", "[\"often\"]", "[null]", "[\"-3\"]"] {
      #expect(throws: DecodingError.self) { try JSONDecoder().decode([FetchInterval].self, from: Data(text.utf8)) }
    }
  }

  @Test func `Every interval is clamped to 15 minutes to 30 days`() {
    #expect(FetchInterval.never.seconds == nil)
    #expect(FetchInterval.minimum.seconds == 900)
    #expect(FetchInterval.seconds(-5).seconds == 900)
    #expect(FetchInterval.seconds(.nan).seconds == FetchInterval.maximumSeconds)
    #expect(FetchInterval.seconds(.infinity).seconds == FetchInterval.maximumSeconds)
    #expect(FetchInterval.seconds(7200).seconds == 7200)
  }
}
