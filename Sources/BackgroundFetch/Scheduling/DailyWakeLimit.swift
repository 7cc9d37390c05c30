/// The limit of scheduled wakes in a day, after days without new data.
///
/// After a day with wakes that found `noData` and never `newData`, the next day has at most three quarters of the
/// wakes: at least one fewer, but never less than one. A single `newData` removes the limit.
struct DailyWakeLimit: Sendable, Hashable {
  /// The current day on the local clock. Such days are comparable, because each includes the quiet hours of a night.
  private var day: Int?
  /// The quarter of the day at which counting started; 0 except on the first day.
  private var start = 0
  private var wakes = 0
  private var hasNews = false
  private var hasNothing = false
  private var limit: Int?

  /// The number of wakes left before midnight; nil without a limit.
  var remaining: Int? { limit.map { max(0, $0 - wakes) } }

  mutating func advance(to quarter: LocalQuarter) {
    guard day != quarter.day else { return }
    if hasNothing, !hasNews, wakes > 0 {
      // The wakes of a partial first day are extrapolated to a whole day.
      let whole = Double(wakes) * Double(LocalQuarter.perDay) / Double(LocalQuarter.perDay - start)
      let count = Int(whole.rounded(.up))
      limit = max(1, count - max(1, count / 4))
    }
    start = day == nil ? quarter.ofDay : 0
    day = quarter.day
    wakes = 0
    hasNews = false
    hasNothing = false
  }

  mutating func recordWake() {
    wakes += 1
  }

  /// Removes the last wake from the count, because it had no network.
  mutating func undoWake() {
    wakes = max(0, wakes - 1)
  }

  mutating func record(_ result: FetchResult) {
    switch result {
    case .newData:
      hasNews = true
      limit = nil
    case .noData: hasNothing = true
    case .failed: break
    }
  }
}

extension DailyWakeLimit: Codable {
  private enum CodingKeys: String, CodingKey {
    case day, start, wakes, hasNews, hasNothing, limit
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    day = try container.decodeIfPresent(Int.self, forKey: .day)
    start = try container.decode(Int.self, forKey: .start)
    wakes = try container.decode(Int.self, forKey: .wakes)
    hasNews = try container.decode(Bool.self, forKey: .hasNews)
    hasNothing = try container.decode(Bool.self, forKey: .hasNothing)
    limit = try container.decodeIfPresent(Int.self, forKey: .limit)
    guard 0..<LocalQuarter.perDay ~= start, 0...1_000_000 ~= wakes, 1...1_000_000 ~= limit ?? 1 else {
      throw DecodingError.dataCorruptedError(forKey: .wakes, in: container, debugDescription: "out of range")
    }
  }
}
