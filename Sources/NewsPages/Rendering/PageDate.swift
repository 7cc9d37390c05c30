package import Foundation
import News

/// A date as pages show it. It is in UTC, because the same page is for all readers.
package struct PageDate {
  /// The date for programs, by RFC 3339.
  package let machine: String
  /// The date for readers.
  package let text: String

  package init(_ date: Date, _ texts: TextCatalogue) {
    machine = RFC3339.string(from: date)
    // 2026-11-14T06:00:00.000Z
    let parts = machine.split(whereSeparator: { "-T:".contains($0) })
    guard parts.count >= 5 else {
      text = machine
      return
    }
    func number(_ part: Substring) -> String { Int(part).map(String.init) ?? String(part) }
    text = texts.text(
      "date",
      [
        "day": number(parts[2]), "month": texts.text("month-\(number(parts[1]))"), "year": String(parts[0]),
        "time": "\(parts[3]):\(parts[4])",
      ])
  }
}
