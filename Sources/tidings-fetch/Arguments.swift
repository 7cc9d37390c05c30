import Foundation
import News
import NewsClient

/// Prints a result as one line of JSON with sorted keys.
func printJSON(_ value: some Encodable) throws { try Output.print(try jsonLine(value)) }

/// Returns one line of JSON with sorted keys, safe for terminals.
func jsonLine(_ value: some Encodable) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  encoder.dateEncodingStrategy = .custom { date, encoder in
    var container = encoder.singleValueContainer()
    try container.encode(RFC3339.string(from: date))
  }
  return String(decoding: try encoder.encode(value), as: UTF8.self).terminalSafeJSON
}

/// Formats a time for people, in the local time zone.
func localTime(_ date: Date) -> String {
  let parts = Calendar.current.dateComponents([.year, .month, .day, .hour, .minute], from: date)
  let digits = [parts.month, parts.day, parts.hour, parts.minute].map { part in
    String(repeating: "0", count: part ?? 0 < 10 ? 1 : 0) + "\(part ?? 0)"
  }
  return "\(parts.year ?? 0)-\(digits[0])-\(digits[1]) \(digits[2]):\(digits[3])"
}
