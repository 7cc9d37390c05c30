/// When to connect anew after a stream of events has ended: when the server has said, and after failures later by a
/// random time whose bound doubles with each, so that those who were cut off together do not come back together.
package struct ReconnectDelay: Sendable, Equatable {
  /// The longest that the server or the bound may come to, in seconds.
  package static let most = 300.0

  /// What the server has said last, in seconds: 0...``most``.
  private var hint = 1.0
  private var failures = 0

  /// Before the first attempt.
  package init() {}

  /// Takes what the server says (`retry`), which it spreads itself.
  package mutating func suggest(milliseconds: Int) {
    hint = min(Double(max(0, milliseconds)) / 1000, Self.most)
  }

  /// The connection has brought what it is for.
  package mutating func succeed() { failures = 0 }

  /// The time until the next attempt, which counts as a failure until that succeeds.
  ///
  /// - Parameter random: 0..<1.
  /// - Returns: Seconds, from what the server said to ``most`` above it.
  package mutating func next(random: Double) -> Double {
    let bound = min(Double(1 << min(failures, 20)) - 1, Self.most)
    failures += 1
    return hint + bound * random
  }
}
