/// The publications of a scope, as the server counts them: the token of the scope is the number of its publications.
struct ScopeHistory {
  /// The number of items of the first page (`limit`).
  static let pageSize = 100

  /// The times of the publications of the scope, in order.
  let times: [Double]
  /// The JSON sizes of the items, summed up: the element n has the sum of the first n.
  private let sizes: [Double]
  /// The token after each number of publications of the newsroom.
  private let tokens: [Int]
  private let layout: Sizes

  init(_ topics: [String], _ publications: [Publication], _ layout: Sizes) {
    var (times, sizes, tokens) = ([Double](), [0.0], [0])
    for publication in publications {
      if publication.belongs(to: topics) {
        times.append(publication.time)
        sizes.append(sizes[times.count - 1] + layout.item + Double(publication.textBytes))
      }
      tokens.append(times.count)
    }
    (self.times, self.sizes, self.tokens, self.layout) = (times, sizes, tokens, layout)
  }

  /// Returns the token after a number of publications of the newsroom.
  func token(after publications: Int) -> Int { tokens[min(max(0, publications), tokens.count - 1)] }

  /// Returns the token at a time.
  func token(at time: Double) -> Int { times.count(until: time) }

  /// Returns the time of the first publication after a time; nil if there is none.
  func next(after time: Double) -> Double? {
    let token = token(at: time)
    return token < times.count ? times[token] : nil
  }

  /// Returns the size of a 200 with the changes between two tokens.
  func changes(since: Int, to token: Int) -> Double {
    layout.changes(json: layout.list + sizes[max(since, token)] - sizes[since])
  }

  /// Returns the size of a 200 with the first page at a token.
  func page(at token: Int) -> Double {
    layout.page(json: layout.list + sizes[token] - sizes[max(0, token - Self.pageSize)])
  }
}
