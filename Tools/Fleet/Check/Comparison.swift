import Foundation

/// A table that compares the counts of a simulation with those of reality.
///
///     var comparison = Comparison()
///     comparison.add("requests at the edges", simulated: 1050, counted: 1000)
///     print(comparison, comparison.failures.isEmpty)
public struct Comparison: Sendable, CustomStringConvertible {
  /// A line of the table.
  public struct Row: Sendable {
    /// The name of the count.
    public let name: String
    /// The count of the simulation.
    public let simulated: Double
    /// The count of reality.
    public let counted: Double
    /// Whether the deviation is limited.
    public let isLimited: Bool

    /// The difference as a share of the real count; infinite if that is 0 and the other is not.
    public var deviation: Double {
      if simulated == counted { return 0 }
      return (simulated - counted) / counted
    }

    /// Whether the deviation exceeds the limit.
    public var isFailure: Bool { isLimited && !(abs(deviation) <= Comparison.maximumDeviation) }
  }

  /// The maximum deviation, as a share of the real count.
  public static let maximumDeviation = 0.1

  /// The lines of the table.
  public private(set) var rows: [Row] = []
  /// The lines whose deviation exceeds the limit.
  public var failures: [Row] { rows.filter(\.isFailure) }

  /// Creates an empty table.
  public init() {}

  /// Adds a line.
  ///
  /// - Parameter isLimited: Whether the deviation is limited. Other lines are for information.
  public mutating func add(_ name: String, simulated: Double, counted: Double, isLimited: Bool = true) {
    rows.append(Row(name: name, simulated: simulated, counted: counted, isLimited: isLimited))
  }

  /// The table as text.
  public var description: String {
    let width = rows.map(\.name.count).max() ?? 0
    func line(_ name: String, _ columns: [String], _ note: String) -> String {
      let cells = columns.map { String(repeating: " ", count: max(1, 14 - $0.count)) + $0 }
      return name + String(repeating: " ", count: width - name.count) + cells.joined() + note
    }
    let lines = rows.map { row in
      line(
        row.name, [Self.text(row.simulated), Self.text(row.counted), Self.percentage(row.deviation)],
        row.isFailure ? "  TOO FAR" : row.isLimited ? "" : "  (not limited)")
    }
    return ([line("", ["simulated", "counted", "deviation"], "")] + lines).joined(separator: "\n")
  }

  private static func text(_ number: Double) -> String {
    number >= 100 || number == number.rounded() ? String(Int(number.rounded())) : String(format: "%.2f", number)
  }

  private static func percentage(_ share: Double) -> String {
    share.isFinite ? String(format: "%+.1f %%", share * 100) : "no limit"
  }
}
