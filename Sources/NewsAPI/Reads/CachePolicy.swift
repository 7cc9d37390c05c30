import HTTPConditions

/// The `Cache-Control` of each kind of answer.
struct CachePolicy: Sendable {
  /// A shared cache may be this old at most, together with the seconds of `stale-while-revalidate`.
  static let longestAge = 10

  /// Public answers: clients ask each time, shared caches ask after `sharedMaxAge` seconds.
  let publicRead: String
  /// Files: a client keeps one for an hour, because its content never changes. Shared caches ask as often as for other
  /// answers, so that a file that is taken down disappears from them within the same bound; the answer is then a 304.
  let file: String
  /// Seconds after which a client that follows the answer should come again.
  var pollInterval: @Sendable () -> Int? = { nil }

  /// - Parameter sharedMaxAge: Seconds, 1 or more.
  init(sharedMaxAge: Int) {
    var control = CacheControl(
      maxAge: 0, sMaxAge: sharedMaxAge, staleWhileRevalidate: max(0, Self.longestAge - sharedMaxAge), staleIfError: 300)
    publicRead = control.fieldValue
    control.maxAge = 3600
    file = control.fieldValue
  }

  private init(publicRead: String, pollInterval: @escaping @Sendable () -> Int?) {
    self.publicRead = publicRead
    file = publicRead
    self.pollInterval = pollInterval
  }

  /// Answers that must replace a stored 200: with `no-store` a cache that may serve stale would go on with that.
  static let goneRead = CacheControl(maxAge: 0, sMaxAge: 1).fieldValue

  /// Answers that somebody has waited for: a cache would give the next one what he waits for the end of.
  ///
  /// - Parameter pollInterval: After how many seconds he should come again; nil for at once.
  static func longPoll(pollInterval: @escaping @Sendable () -> Int?) -> CachePolicy {
    CachePolicy(publicRead: notStored, pollInterval: pollInterval)
  }

  static let editorial = CacheControl(isPrivate: true, noStore: true).fieldValue

  static let notStored = CacheControl(noStore: true).fieldValue
}
