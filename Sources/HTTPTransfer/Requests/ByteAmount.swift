import Foundation

/// Numbers of bytes in texts for people.
package enum ByteAmount {
  private static let units = ["B", "KiB", "MiB", "GiB"]

  /// Returns an amount such as `2.9 MiB`.
  package static func text(_ bytes: Int64) -> String {
    let (number, unit) = parts(bytes)
    return "\(number) \(unit)"
  }

  /// Returns a part of a total, such as `1.0 of 2.9 MiB`.
  ///
  /// - Parameter total: The total number of bytes; negative if it is unknown.
  static func text(_ bytes: Int64, of total: Int64) -> String {
    if total < 0 { return text(bytes) }
    let (part, whole) = (parts(bytes), parts(total))
    // Two amounts that look equal are given in bytes.
    if part == whole, bytes != total { return "\(bytes) of \(total) B" }
    return part.unit == whole.unit ? "\(part.number) of \(text(total))" : "\(text(bytes)) of \(text(total))"
  }

  /// Returns a limit, such as `8 MiB`.
  static func limit(_ bytes: Int64) -> String { text(bytes).replacing(".0 ", with: " ") }

  private static func parts(_ bytes: Int64) -> (number: String, unit: String) {
    if bytes < 1024 { return ("\(bytes)", units[0]) }
    var value = Double(bytes)
    var unit = 0
    while value >= 1024, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    return (String(format: "%.1f", value), units[unit])
  }
}
