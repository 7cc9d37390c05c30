import Foundation

/// Returns median, 99th percentile and maximum, separated by spaces.
func summary(of times: [Double]) -> String {
  let sorted = times.sorted()
  let values = [
    sorted[sorted.count / 2], sorted[min(sorted.count - 1, sorted.count * 99 / 100)], sorted[sorted.count - 1],
  ]
  return values.map { String(format: "%.2f", $0) }.joined(separator: " ")
}
