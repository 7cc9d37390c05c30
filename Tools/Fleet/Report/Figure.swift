import Foundation

/// Numbers as text.
enum Figure {
  /// Returns a number with three digits and a unit: `1.23 k`, `45.6 M`.
  static func short(_ number: Double) -> String {
    let units = ["", " k", " M", " G", " T"]
    var (rest, unit) = (number, 0)
    while abs(rest) >= 999.5, unit + 1 < units.count { (rest, unit) = (rest / 1000, unit + 1) }
    let isWhole = unit == 0 && rest == rest.rounded()
    let digits = isWhole || abs(rest) >= 99.95 ? 0 : abs(rest) >= 9.995 ? 1 : 2
    return String(format: "%.\(digits)f", rest) + units[unit]
  }

  /// Returns a whole number with spaces between groups of three digits.
  static func whole(_ number: Double) -> String {
    var digits = String(Int(number.rounded()))
    var groups: [String] = []
    while digits.count > 3 {
      groups.insert(String(digits.suffix(3)), at: 0)
      digits.removeLast(3)
    }
    return ([digits] + groups).joined(separator: " ")
  }

  /// Returns a text with spaces before it.
  static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// Returns a text with spaces behind it.
  static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// Returns a line without the spaces at its end.
  static func trimmed(_ line: Substring) -> Substring {
    var line = line
    while line.last == " " { line.removeLast() }
    return line
  }
}
