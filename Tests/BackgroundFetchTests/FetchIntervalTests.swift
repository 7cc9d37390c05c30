import BackgroundFetch
import Foundation
import Testing

@Suite struct `Fetch intervals` {
  @Test(arguments: [
    ("never", FetchInterval.never), ("minimum", .minimum), ("3600", .duration(.seconds(3600))),
    ("90m", .duration(.seconds(5400))),
    ("2h", .duration(.seconds(7200))), ("1.5h", .duration(.seconds(5400))), ("1d", .duration(.seconds(86_400))),
    ("45s", .duration(.seconds(45))),
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

  @Test(arguments: [FetchInterval.never, .minimum, .duration(.seconds(900)), .duration(.seconds(5400.5))])
  func `The description and the JSON are parsed back`(_ interval: FetchInterval) throws {
    #expect(FetchInterval(interval.description) == interval)
    let data = try JSONEncoder().encode([interval])
    #expect(try JSONDecoder().decode([FetchInterval].self, from: data) == [interval])
  }

  @Test func `Whole seconds are stored as whole numbers`() {
    for seconds in [900, 5400, 7201, 86_399, 2_591_999] {
      #expect(FetchInterval.duration(.seconds(seconds)).description == "\(seconds)")
    }
    #expect(FetchInterval.duration(.seconds(5400.5)).description == "5400.5")
  }

  @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .zero, .nanoseconds(1)])
  func `Any duration can be printed`(_ duration: Duration) {
    #expect(!FetchInterval.duration(duration).description.isEmpty)
  }

  @Test func `JSON without a valid interval is an error`() {
    for text in ["[3600]", "[\"often\"]", "[null]", "[\"-3\"]"] {
      #expect(throws: DecodingError.self) { try JSONDecoder().decode([FetchInterval].self, from: Data(text.utf8)) }
    }
  }

  @Test func `Every interval is clamped to 15 minutes to 30 days`() {
    #expect(FetchInterval.never.duration == nil)
    #expect(FetchInterval.minimum.duration == .seconds(900))
    #expect(FetchInterval.duration(.seconds(-5)).duration == .seconds(900))
    #expect(FetchInterval.duration(.seconds(Int64.max)).duration == .seconds(2_592_000))
    #expect(FetchInterval.duration(.seconds(7200)).duration == .seconds(7200))
  }
}
