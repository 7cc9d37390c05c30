/// A time of day on the local clock, written as `13:00`; the end of the day is `24:00`.
///
///     let noon = try JSONDecoder().decode(LocalTime.self, from: Data(#""12:00""#.utf8))
///     for newsroom in catalogue.newsrooms {
///       print(newsroom.name, newsroom.streams?.contains { $0.from == noon } ?? false)
///     }
public struct LocalTime: Sendable, Hashable, Codable {
  /// The minutes since midnight, 0...1440.
  public internal(set) var minutes: Double

  init(minutes: Double) {
    self.minutes = minutes
  }

  /// Decodes a JSON string.
  ///
  /// - Throws: `DecodingError` if the text is not a time of day with two digits each for hours and minutes.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let parts = try container.decode(String.self).split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { 48...57 ~= $0 } }),
      let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60, hour * 60 + minute <= 1440
    else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a time of day: write it as 13:00")
    }
    minutes = Double(hour * 60 + minute)
  }

  /// Encodes hours and minutes with two digits each.
  public func encode(to encoder: any Encoder) throws {
    let whole = Int(minutes)
    let texts = [whole / 60, whole % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
    var container = encoder.singleValueContainer()
    try container.encode(texts.joined(separator: ":"))
  }
}

/// Days of the week.
///
///     let weekendHabits = persona.visits?.filter { $0.days == .weekend } ?? []
///     print(weekendHabits.count)
public enum Days: String, Sendable, Hashable, Codable {
  /// Every day.
  case all
  /// Monday to Friday.
  case workdays
  /// Saturday and Sunday.
  case weekend
  /// One day of the week.
  case monday, tuesday, wednesday, thursday, friday, saturday, sunday

  /// Whether a weekday is one of these days.
  ///
  /// - Parameter weekday: 0...6, 0 for Monday.
  public func contains(_ weekday: Int) -> Bool {
    let single: [Days] = [.monday, .tuesday, .wednesday, .thursday, .friday, .saturday, .sunday]
    return switch self {
    case .all: true
    case .workdays: weekday < 5
    case .weekend: weekday >= 5
    default: single[weekday] == self
    }
  }
}
