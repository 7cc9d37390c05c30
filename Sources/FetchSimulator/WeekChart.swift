public import Foundation

/// A chart of the last days of an outcome for a terminal: a line for each day, with a mark for each half hour that has a wake
/// or an opening.
///
///     let outcomes = simulation.run(catalogue.policies)
///     print(WeekChart(outcomes[0], in: .autoupdatingCurrent))
public struct WeekChart: Sendable, CustomStringConvertible {
  /// The number of half hours in a day.
  private static let columns = 48
  /// The maximum number of days.
  private static let rows = 7

  private let outcome: Outcome
  private let zone: TimeZone

  /// Creates a chart.
  ///
  /// - Parameters:
  ///   - outcome: The outcome of a policy.
  ///   - zone: The time zone for days and hours.
  public init(_ outcome: Outcome, in zone: TimeZone) {
    (self.outcome, self.zone) = (outcome, zone)
  }

  /// The chart, with its legend in the last line.
  public var description: String {
    var days: [Int: [Character]] = [:]
    for (dates, mark) in [(outcome.wakes, Character("▴")), (outcome.openings, Character("●"))] {
      for date in dates {
        let minutes = localMinutes(date)
        let (day, column) = (minutes.day, min(Self.columns - 1, minutes.minute / 30))
        var line = days[day] ?? Array(repeating: "·", count: Self.columns)
        line[column] = line[column] == "·" || line[column] == mark ? mark : "◉"
        days[day] = line
      }
    }
    let last = days.keys.max() ?? 0
    let hours = stride(from: 0, to: 24, by: 3).map { ($0 < 10 ? "0\($0)" : "\($0)") + "    " }.joined()
    var lines = ["     " + hours.trimmingCharacters(in: .whitespaces)]
    for day in (last - Self.rows + 1)...last {
      guard let line = days[day] else { continue }
      lines.append("\(Self.name(day))  " + String(line))
    }
    lines.append("     ▴ wake, ● opening, ◉ both in the same half hour")
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns the number of the local day since 1970, and the minute of that day.
  private func localMinutes(_ date: Date) -> (day: Int, minute: Int) {
    let seconds = Int(date.timeIntervalSince1970.rounded(.down)) + zone.secondsFromGMT(for: date)
    let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    return (day, (seconds - day * 86_400) / 60)
  }

  /// The name of a day; the first of January 1970 was a Thursday.
  private static func name(_ day: Int) -> String {
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][((day + 3) % 7 + 7) % 7]
  }
}
