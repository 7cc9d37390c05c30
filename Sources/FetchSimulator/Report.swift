public import Foundation

/// A text report of outcomes for a terminal.
///
///     let outcomes = simulation.run(catalogue.policies)
///     print(Report(outcomes, in: .gmt))
public struct Report: Sendable, CustomStringConvertible {
  private let outcomes: [Outcome]
  private let zone: TimeZone

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - outcomes: The outcomes, in the order of the report. Outcomes that differ only in the seed are added up.
  ///   - zone: The time zone for the hours of the day.
  public init(_ outcomes: [Outcome], in zone: TimeZone) {
    self.outcomes = outcomes
    self.zone = zone
  }

  /// A table of policies for each persona and newsroom, with bars for the hits per wake. Sparklines show the openings
  /// and each policy's wakes over the 24 hours of the day.
  public var description: String {
    grouped(outcomes) { [$0.persona, $0.newsroom] }.map(section).joined(separator: "\n")
  }

  private func section(_ outcomes: [Outcome]) -> String {
    let policies = grouped(outcomes) { [$0.policy] }.compactMap(sum)
    guard let first = outcomes.first else { return "" }
    let best = policies.map(\.hitsPerWake).max() ?? 0
    let width = (policies.map(\.policy.count) + ["openings".count]).max() ?? 0
    var lines = ["\(first.persona), \(first.newsroom), \(first.days) days"]
    let heads = ["wakes/day", "hits", "missed", "hits/wake", "items", "KB/day"].map { Self.right($0, 10) }
    lines.append(Self.left("", width) + heads.joined())
    for sum in policies {
      let days = Double(max(1, sum.days))
      let cells = [
        Self.fixed(Double(sum.wakes.count) / days, 1), "\(sum.hits)", "\(sum.misses)", Self.fixed(sum.hitsPerWake, 3),
        "\(sum.items)", Self.fixed(Double(sum.bytes) / days / 1000, 1),
      ]
      let bar = String(repeating: "█", count: best > 0 ? Int((sum.hitsPerWake / best * 20).rounded()) : 0)
      lines.append(Self.left(sum.policy, width) + cells.map { Self.right($0, 10) }.joined() + "  " + bar)
    }
    lines.append(Self.left("hour", width) + "  0     6     12    18")
    lines.append(Self.left("openings", width) + "  " + sparkline(policies.first?.openings ?? []))
    lines += policies.map { Self.left($0.policy, width) + "  " + sparkline($0.wakes) }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns the sum of one policy's outcomes for several seeds.
  private func sum(_ outcomes: [Outcome]) -> Outcome? {
    outcomes.dropFirst().reduce(outcomes.first) { sum, next in
      sum.map {
        Outcome(
          persona: $0.persona, newsroom: $0.newsroom, policy: $0.policy, seed: $0.seed, days: $0.days + next.days,
          wakes: $0.wakes + next.wakes, openings: $0.openings + next.openings, hits: $0.hits + next.hits,
          misses: $0.misses + next.misses, items: $0.items + next.items, bytes: $0.bytes + next.bytes)
      }
    }
  }

  /// Returns 24 characters, the highest for the hour with the most dates.
  private func sparkline(_ dates: [Date]) -> String {
    var counts = [Int](repeating: 0, count: 24)
    for date in dates {
      let seconds = Int(date.timeIntervalSince1970.rounded(.down)) + zone.secondsFromGMT(for: date)
      counts[(seconds % 86_400 + 86_400) % 86_400 / 3600] += 1
    }
    let highest = max(1, counts.max() ?? 1)
    let marks = Array("▁▂▃▄▅▆▇█")
    return String(counts.map { $0 == 0 ? "·" : marks[($0 * marks.count - 1) / highest] })
  }

  private func grouped(_ outcomes: [Outcome], by key: (Outcome) -> [String]) -> [[Outcome]] {
    var groups: [(key: [String], outcomes: [Outcome])] = []
    for outcome in outcomes {
      if let index = groups.firstIndex(where: { $0.key == key(outcome) }) {
        groups[index].outcomes.append(outcome)
      } else {
        groups.append((key(outcome), [outcome]))
      }
    }
    return groups.map(\.outcomes)
  }

  private static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.count)) + text
  }

  private static func fixed(_ number: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", number) }
}
