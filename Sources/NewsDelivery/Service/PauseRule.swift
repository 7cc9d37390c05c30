/// The rule that pauses a push service: too many of its answers within a minute are errors that a wrong environment or a
/// fault of ours gives for every device.
///
/// Errors of tokens count against 5 % of the answers, failures of the service against half of them.
package struct PauseRule: Sendable {
  /// The kind of an answer.
  package enum Answer: Sendable {
    case fine, tokenError, failure
  }

  /// The minimum number of answers for a decision.
  package static let minimumAnswers = 20
  /// The share of token errors above which the service pauses.
  private static let tokenErrorShare = 0.05
  /// The share of failures above which the service pauses.
  private static let failureShare = 0.5
  /// The shortest and the longest pause in seconds.
  private static let pauses: ClosedRange<Double> = 60...900
  private static let bucketCount = 6
  private static let bucketTime: Double = 10

  private struct Bucket: Sendable {
    var number = 0
    var answers = 0
    var tokenErrors = 0
    var failures = 0
  }

  private var buckets = [Bucket](repeating: Bucket(), count: bucketCount)

  package init() {}

  /// Counts an answer.
  ///
  /// - Parameter seconds: A monotonic time in seconds, not negative.
  package mutating func note(_ answer: Answer, at seconds: Double) {
    let number = Int(seconds / Self.bucketTime)
    let index = number % Self.bucketCount
    if buckets[index].number != number { buckets[index] = Bucket(number: number) }
    buckets[index].answers += 1
    switch answer {
    case .fine: break
    case .tokenError: buckets[index].tokenErrors += 1
    case .failure: buckets[index].failures += 1
    }
  }

  /// Forgets all answers, because a pause or a success has begun a new period.
  package mutating func reset() { buckets = [Bucket](repeating: Bucket(), count: Self.bucketCount) }

  /// The reason for a pause, a sentence without full stop; nil for none.
  ///
  /// - Parameter countsFailures: Whether failures concern all devices alike.
  package func violation(at seconds: Double, countsFailures: Bool) -> String? {
    let recent = recent(seconds)
    let answers = recent.reduce(0) { $0 + $1.answers }
    guard answers >= Self.minimumAnswers else { return nil }
    let tokenErrors = recent.reduce(0) { $0 + $1.tokenErrors }
    let failures = recent.reduce(0) { $0 + $1.failures }
    if Double(tokenErrors) > Double(answers) * Self.tokenErrorShare {
      return "\(tokenErrors) of \(answers) answers within a minute refuse the token of the device"
    }
    if countsFailures, Double(failures) > Double(answers) * Self.failureShare {
      return "\(failures) of \(answers) messages within a minute have failed"
    }
    return nil
  }

  private func recent(_ seconds: Double) -> [Bucket] {
    let current = Int(seconds / Self.bucketTime)
    return buckets.filter { $0.number > current - Self.bucketCount }
  }

  /// Returns the duration of a pause in seconds. It doubles with each pause in a row.
  ///
  /// - Parameter previous: The number of pauses in a row before this one.
  package static func pause(after previous: Int, atLeast minimum: Double = 0) -> Double {
    var seconds = pauses.lowerBound
    for _ in 0..<min(max(previous, 0), 10) { seconds *= 2 }
    return max(min(seconds, pauses.upperBound), minimum)
  }
}
