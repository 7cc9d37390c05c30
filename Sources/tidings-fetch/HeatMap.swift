/// A week of 24 x 7 hours, drawn in shades.
struct HeatMap {
  private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  /// The shades, from zero to the maximum.
  private static let shades = ["·", "░", "▒", "▓", "█"]

  private let hours: [[Double]]

  /// Creates a map.
  ///
  /// - Parameter hours: The values by weekday, Monday first, and by hour. They are not negative.
  init(_ hours: [[Double]]) {
    self.hours = hours
  }

  /// The lines of the map: the hours, and one line for each day.
  var lines: [String] {
    let maximum = hours.joined().max() ?? 0
    let head = "     " + stride(from: 0, to: 24, by: 3).map { ($0 < 10 ? "0\($0)" : "\($0)") + "    " }.joined()
    return [head.trimmingEnd]
      + zip(Self.days, hours).map { day, row in
        day + "  " + row.map { Self.shade($0, maximum: maximum) + Self.shade($0, maximum: maximum) }.joined()
      }
  }

  private static func shade(_ value: Double, maximum: Double) -> String {
    guard value > 0, maximum > 0 else { return shades[0] }
    return shades[min(shades.count - 1, 1 + Int(value / maximum * Double(shades.count - 1)))]
  }
}

extension String {
  fileprivate var trimmingEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
