import NewsStore
import TestKit
import Testing

@Suite struct `The cost of search expressions` {
  @Test(arguments: [
    "a", "a ", "-", "- ", "-a ", "\"", "\" ", "\"a\"", "\"a\" ", "-\"a b\" ", " ", "\n", "!", "e\u{316}\u{301} ",
    "\u{316}\u{301}", "🇩🇪", "\u{3000}",
  ])
  func `An expression is read in time in proportion to its size`(_ piece: String) {
    for start in ["", "e", "-", "\"", " "] {
      let make = { (size: Int) in start + String(repeating: piece, count: size / piece.utf8.count) }
      #expect(growth(from: 16_000, of: make, in: { _ = SearchQuery($0) }) < linearGrowth, "\(start.debugDescription)")
    }
  }
}
