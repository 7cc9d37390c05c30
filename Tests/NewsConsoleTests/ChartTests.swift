import Foundation
import NewsAPI
import NewsConsole
import NewsPages
import TestSupport
import Testing

@Suite struct ChartTests {
  private static let label = Chart.Label(id: "c", title: "Requests", description: "At most 5.")

  /// The tags of a picture. A page around it makes it readable for `PageScan`.
  private static func scan(_ picture: String) throws -> [PageScan.Tag] {
    try PageScan("<!doctype html>\(picture)", as: .console).tags
  }

  private static func line(_ values: [Double], isFilled: Bool = false) -> Chart.Line {
    let points = values.enumerated().map {
      Chart.Point(position: Double($0.offset) / Double(max(1, values.count - 1)), value: $0.element)
    }
    return Chart.Line(style: "first", isFilled: isFilled, points: points)
  }

  @Test(
    "The axis ends at the next round number",
    arguments: [
      ([], 1), ([0], 1), ([0.2], 1), ([1], 1), ([1.01], 2), ([2], 2), ([2.1], 5), ([5.1, 3], 10), ([99], 100),
      ([100], 100), ([101], 200), ([123_456], 200_000), ([-4], 1), ([.nan, 3], 5), ([.infinity, 7], 10),
    ] as [([Double], Double)])
  func axis(values: [Double], top: Double) {
    #expect(Chart.top(of: values) == top)
  }

  @Test("A line runs from left to right, with greater values higher up")
  func line() throws {
    let tags = try Self.scan(Chart.lines([Self.line([0, 5, 10])], upTo: 10, Self.label))
    #expect(tags.last?["class"] == "line first")
    #expect(tags.last?["d"] == "M0 160L300 80L600 0")
    let filled = try Self.scan(Chart.lines([Self.line([0, 5], isFilled: true)], upTo: 10, Self.label))
    #expect(filled.first { $0["class"] == "area first" }?["d"] == "M0 160L0 160L600 80V160Z")
  }

  @Test("Values that cannot be drawn stay within the picture")
  func limits() throws {
    let points = [
      Chart.Point(position: -1, value: .nan), Chart.Point(position: .nan, value: -5),
      Chart.Point(position: 0.5, value: .infinity), Chart.Point(position: 7, value: 1e300),
    ]
    let tags = try Self.scan(Chart.lines([Chart.Line(style: "first", points: points)], upTo: 10, Self.label))
    #expect(tags.last?["d"] == "M0 160L0 160L300 160L600 0")
    for values in [[], [3]] as [[Double]] {
      let picture = Chart.lines([Self.line(values, isFilled: true)], upTo: 10, Self.label)
      #expect(try Self.scan(picture).map(\.name) == ["svg", "title", "desc", "path"])
    }
  }

  @Test("A bar stands on the base line, with its part in front of it")
  func bars() throws {
    let picture = Chart.bars(
      [.init(whole: 10, part: 4), .init(whole: 0, part: 0), .init(whole: 5, part: 9)], upTo: 10, Self.label)
    let bars = try Self.scan(picture).filter { $0.name == "rect" }
    #expect(bars.map { $0["class"] } == ["bar whole", "bar part", "bar whole", "bar part"])
    #expect(bars.map { $0["x"] } == ["30", "30", "430", "430"])
    #expect(bars.allSatisfy { $0["width"] == "140" })
    #expect(bars.map { $0["y"] } == ["0", "96", "80", "80"])
    #expect(bars.map { $0["height"] } == ["160", "64", "80", "80"])
    #expect(try Self.scan(Chart.bars([], upTo: 1, Self.label)).count == 4)
  }

  @Test(
    "The title and the description are for screen readers, and are escaped",
    arguments: ["<script>x</script>", "\"\u{301} onload=\"x", "</title><b>", "a & b"])
  func texts(text: String) throws {
    let tags = try Self.scan(Chart.bars([], upTo: 1, .init(id: "c", title: text, description: text)))
    #expect(tags[0]["role"] == "img")
    #expect(tags[0]["aria-labelledby"] == "c-title c-text")
    #expect(tags.map { $0["id"] } == [nil, "c-title", "c-text", nil])
    #expect(tags[1].text == text && tags[2].text == text)
  }

  @Test("Numbers are written in the language of the pages")
  func numbers() {
    let english = NumberText(TextCatalogue(.english, in: [("en.txt", "decimal-sign = .\ngroup-sign = ,\n")]))
    let german = NumberText(TextCatalogue(.german, in: [("de.txt", "decimal-sign = ,\ngroup-sign = .\n")]))
    #expect(
      [0, 7, 999, 1000, 1_234_567, -1000].map(english.whole) == ["0", "7", "999", "1,000", "1,234,567", "-1,000"])
    #expect(german.whole(1_234_567) == "1.234.567")
    #expect(
      [0, 0.04, 0.25, 3, 99.94, 99.96, 1234.5].map(english.short) == ["0", "0", "0.3", "3", "99.9", "100", "1,235"])
    #expect(german.short(2.5) == "2,5")
    #expect([-.infinity, .nan, 1e15, -3].map(english.short) == ["–", "–", "–", "0"])
    let bytes: [Double] = [0, 999, 999.4, 999.5, 1000, 1_250_000, 3e9, 5e15, 2e18]
    let texts = ["0 B", "999 B", "999 B", "1 kB", "1 kB", "1.3 MB", "3 GB", "5 PB", "2,000 PB"]
    #expect(bytes.map(english.bytes) == texts)
    #expect(english.percent(0, of: 0) == "–")
    #expect(english.percent(1, of: 3) == "33.3 %")
    #expect(english.percent(999_999, of: 1_000_000) == "99.9 %")
    #expect(english.percent(5, of: 5) == "100 %")
    #expect(english.milliseconds(.microseconds(1250)) == "1.3 ms")
    let times: [Double] = [0, 119.9, 120, 7199, 7200, 4e6]
    #expect(times.map(english.duration) == ["0 s", "119 s", "2 min", "119 min", "2 h", "1,111 h"])
  }
}

@Suite struct TrafficTests {
  private static func history(at start: String = "2026-01-05T10:58:00Z") throws -> TrafficHistory {
    TrafficHistory(start: try Date(start, strategy: .iso8601), interval: .seconds(2)) { TrafficTotals() }
  }

  @Test("Samples are kept for five minutes, and one before them")
  func samples() throws {
    let history = try Self.history()
    for second in stride(from: 0, through: 700, by: 2) {
      history.record(TrafficTotals(requests: second), at: .seconds(second))
    }
    #expect(history.samples.map(\.totals.requests) == Array(stride(from: 398, through: 700, by: 2)))
  }

  @Test("Polls are counted by the hour of their sample, in the last 24 hours")
  func hours() throws {
    let history = try Self.history()
    history.record(TrafficTotals(polls: 10, unchangedPolls: 4), at: .zero)
    history.record(TrafficTotals(polls: 15, unchangedPolls: 9), at: .seconds(60))
    history.record(TrafficTotals(polls: 18, unchangedPolls: 10), at: .seconds(180))
    let hours = history.hours(at: .seconds(180))
    #expect(hours.count == 24)
    #expect(hours.suffix(2).map(\.polls) == [15, 3] && hours.suffix(2).map(\.unchanged) == [9, 1])
    #expect(hours.last?.start == (try Date("2026-01-05T11:00:00Z", strategy: .iso8601)))
    #expect(hours.dropLast(2).allSatisfy { $0.polls == 0 })
    // A day later, both hours are gone.
    history.record(TrafficTotals(polls: 20), at: .seconds(180 + 86_400))
    let later = history.hours(at: .seconds(180 + 86_400))
    #expect(later.map(\.polls) == Array(repeating: 0, count: 23) + [2])
    for day in 2...60 { history.record(TrafficTotals(polls: 20 + day), at: .seconds(day * 43_200)) }
    #expect(history.hours(at: .seconds(60 * 43_200)).map(\.polls).reduce(0, +) == 2)
  }

  @Test("Rates are averages between samples")
  func rates() throws {
    func sample(_ second: Int, _ requests: Int, _ notModified: Int = 0, bytes: Int = 0) -> TrafficHistory.Sample {
      .init(
        time: .seconds(second),
        totals: TrafficTotals(
          requests: requests, notModified: notModified, sentBytes: bytes, savedByNotModified: bytes,
          savedByCompression: bytes))
    }
    let rates = TrafficRates(samples: [
      sample(0, 5), sample(10, 25, 10, bytes: 100), sample(10, 25, 10, bytes: 100), sample(20, 25, 10, bytes: 100),
      sample(30, 85, 40, bytes: 1100), sample(60, 85, 40, bytes: 1100),
    ])
    #expect(rates.rates.map(\.requests) == [2, 0, 6, 0])
    #expect(rates.rates.map(\.notModified) == [1, 0, 3, 0])
    #expect(rates.rates.map(\.sentBytes) == [10, 0, 100, 0] && rates.rates.map(\.savedBytes) == [20, 0, 200, 0])
    #expect(rates.present?.requests == 0)
    #expect(rates.rows.map(\.requests) == [0, 80.0 / 30])
    #expect(rates.requests.all == 80 && rates.requests.notModified == 40)
    for samples in [[], [sample(1, 1)], [sample(1, 1), sample(1, 2)]] {
      let rates = TrafficRates(samples: samples)
      #expect(rates.present == nil && rates.rates.isEmpty && rates.rows.isEmpty)
    }
    let short = TrafficRates(samples: [sample(0, 0), sample(2, 8), sample(4, 20)])
    #expect(short.present?.requests == 5)
    #expect(short.rows.map(\.requests) == [5])
  }

  @Test("The data of an event keeps its lines, whatever ends them")
  func events() {
    #expect(ServerSentEvent.text("a\nb") == "data: a\ndata: b\n\n")
    #expect(ServerSentEvent.text("a\r\nb\rc\n", type: "end") == "event: end\ndata: a\ndata: b\ndata: c\ndata: \n\n")
    #expect(ServerSentEvent.text("x\revent: end\r\rid: 1") == "data: x\ndata: event: end\ndata: \ndata: id: 1\n\n")
    #expect(ServerSentEvent.text("") == "data: \n\n")
  }

  @Test("A recent value is loaded once, and a missing one is not kept")
  func recentValue() async {
    let kept = RecentValue<Int>(lifetime: .seconds(3600))
    #expect(await kept.value { nil } == nil)
    #expect(await kept.value { 1 } == 1)
    #expect(await kept.value { 2 } == 1)
    let expired = RecentValue<Int>(lifetime: .zero)
    #expect(await expired.value { 1 } == 1)
    #expect(await expired.value { 2 } == 2)
  }
}
