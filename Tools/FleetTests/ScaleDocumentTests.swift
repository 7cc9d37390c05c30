import Fleet
import Foundation
import Testing

/// `docs/scale.md` has a calculation by hand beside the output of the program.
@Suite struct `The document about scale` {
  private static let text = Result {
    let docs = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/scale.md")
    return try String(contentsOf: docs.standardizedFileURL, encoding: .utf8)
  }

  /// The output of `make fleet OPTIONS='--key 1000 --edges 20'`.
  private func report(_ lifetime: Network.Lifetime, edgeHit: Double? = nil) throws -> String {
    var network = Network()
    (network.edges, network.changes) = (20, lifetime)
    var prices = try Prices.recorded()
    if let edgeHit { prices.set(.edgeHit, at: .edge, microseconds: edgeHit) }
    return KeyReport(KeyFlow(rate: 1000, network, lifetime), network, prices).description
  }

  @Test func `Has the output for a key, for another lifetime and for another price`() throws {
    let text = try Self.text.get()
    #expect(text.contains(try report(.init(sharedMaxAge: 1))))
    #expect(text.contains(try report(.init(sharedMaxAge: 5))))
    #expect(text.contains(try report(.init(sharedMaxAge: 1), edgeHit: 20)))
  }

  @Test func `Calculates correctly, and ends with the figures of the output`() throws {
    let text = try Self.text.get()
    let lines = text.split(separator: "\n").compactMap { $0.wholeMatch(of: #/    (.*) = ([0-9.]+)(  .*)?/#)?.output }
    #expect(lines.count >= 10)
    for line in lines {
      let value = try Arithmetic.value(of: line.1)
      let stated = try #require(Double(line.2))
      let digits = line.2.split(separator: ".").dropFirst().first?.count ?? 0
      #expect(abs(value - stated) <= 0.6 * pow(10, -Double(digits)), "\(line.0): \(value)")
    }
    // The results are those of the program, which has three digits.
    let results = Set(lines.map { String($0.2) })
    for report in [try report(.init(sharedMaxAge: 1)), try report(.init(sharedMaxAge: 5))] {
      for row in report.split(separator: "\n").suffix(2) {
        let requests = try #require(row.split(separator: " ").dropFirst().first)
        #expect(results.contains(String(requests)), "\(requests)")
      }
    }
    for price in [nil, 20.0] {
      let row = try #require(
        try report(.init(sharedMaxAge: 1), edgeHit: price).split(separator: "\n").first { $0.hasPrefix("edge") })
      #expect(results.contains(String(try #require(row.split(separator: " ").last))))
    }
  }

  @Test(arguments: [("1 + 2 × 3", 7.0), ("(1 + 2) × 3 / 2", 4.5), ("10 - 4 - 3", 3)])
  func `Is calculated by the usual rules`(_ text: String, _ value: Double) throws {
    #expect(try Arithmetic.value(of: text[...]) == value)
  }
}

/// Sums, differences, products and quotients of decimal numbers, with parentheses.
private enum Arithmetic {
  struct SyntaxError: Error {}

  static func value(of text: Substring) throws -> Double {
    var rest = text.filter { $0 != " " }[...]
    let value = try sum(&rest)
    guard rest.isEmpty else { throw SyntaxError() }
    return value
  }

  private static func sum(_ rest: inout Substring) throws -> Double {
    var value = try product(&rest)
    while let sign = rest.first, sign == "+" || sign == "-" {
      rest.removeFirst()
      value += try product(&rest) * (sign == "+" ? 1 : -1)
    }
    return value
  }

  private static func product(_ rest: inout Substring) throws -> Double {
    var value = try factor(&rest)
    while let sign = rest.first, sign == "×" || sign == "/" {
      rest.removeFirst()
      let next = try factor(&rest)
      value = sign == "×" ? value * next : value / next
    }
    return value
  }

  private static func factor(_ rest: inout Substring) throws -> Double {
    if rest.first == "(" {
      rest.removeFirst()
      let value = try sum(&rest)
      guard rest.popFirst() == ")" else { throw SyntaxError() }
      return value
    }
    let number = rest.prefix { $0.isNumber || $0 == "." }
    rest = rest.dropFirst(number.count)
    guard let value = Double(number) else { throw SyntaxError() }
    return value
  }
}
