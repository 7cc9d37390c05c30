import Foundation

/// Metrics in the text format of Prometheus, version 0.0.4.
package struct PrometheusText {
  package enum Kind: String {
    case counter, gauge, histogram
  }

  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  package private(set) var text = ""

  package init() {}

  /// Begins a family. Its samples follow.
  package mutating func begin(_ name: String, _ kind: Kind, help: String?) {
    if let help { text += "# HELP \(name) \(help)\n" }
    text += "# TYPE \(name) \(kind.rawValue)\n"
  }

  /// Adds a sample.
  ///
  /// - Parameter labels: The labels in the format of `labels(_:)`.
  package mutating func add(_ name: String, _ labels: String, _ value: Double) {
    text += labels.isEmpty ? name : "\(name){\(labels)}"
    text += " \(Self.number(value))\n"
  }

  /// Adds a family of one sample.
  package mutating func add(_ name: String, _ kind: Kind, help: String, _ value: Double) {
    begin(name, kind, help: help)
    add(name, "", value)
  }

  /// Adds a family of one sample, a count.
  package mutating func add(_ name: String, _ kind: Kind, help: String, _ count: Int) {
    add(name, kind, help: help, Double(count))
  }

  /// Adds a family of one count for each value of a label.
  package mutating func add(
    _ name: String, _ kind: Kind, help: String, by label: String, _ counts: KeyValuePairs<String, Int>
  ) {
    begin(name, kind, help: help)
    for (value, count) in counts { add(name, Self.labels([(label, value)]), Double(count)) }
  }

  package static func labels(_ dimensions: [(String, String)]) -> String {
    dimensions.map { dimension, value in
      let value = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
      return "\(name(dimension))=\"\(value)\""
    }.joined(separator: ",")
  }

  /// Returns a name that matches `[a-zA-Z_][a-zA-Z0-9_]*`, with `_` for every other character.
  static func name(_ label: String) -> String {
    let name = label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
    return name.first?.isNumber == true ? "_" + String(name) : String(name)
  }

  static func number(_ value: Double) -> String {
    if value == .infinity { return "+Inf" }
    return Int(exactly: value).map { String($0) } ?? "\(value)"
  }
}
