import HTTPConditions

/// The `Cache-Control` fields of the kinds of responses.
struct CachePolicy: Sendable {
  /// The maximum age of a response in a shared cache in seconds, `stale-while-revalidate` included.
  static let maximumAge = 10

  /// Public responses: clients revalidate each time, shared caches after `sharedMaxAge` seconds.
  let publicRead: String
  /// Files: a client keeps a file for an hour, because its content never changes. Shared caches revalidate as often as other
  /// responses, so that a file that was taken down disappears within the same time. Otherwise the response is a 304.
  let file: String
  /// Returns the poll interval for clients, in seconds; nil for none.
  var pollInterval: @Sendable () -> Int? = { nil }

  /// - Parameter sharedMaxAge: The age at which a shared cache revalidates, in seconds, 1 or more.
  init(sharedMaxAge: Int) {
    var control = CacheControl(
      maxAge: 0, sMaxAge: sharedMaxAge, staleWhileRevalidate: max(0, Self.maximumAge - sharedMaxAge), staleIfError: 300)
    publicRead = control.fieldValue
    control.maxAge = 3600
    file = control.fieldValue
  }

  private init(publicRead: String, pollInterval: @escaping @Sendable () -> Int?) {
    self.publicRead = publicRead
    file = publicRead
    self.pollInterval = pollInterval
  }

  /// Responses that must replace a stored 200. After a `no-store`, a cache that may serve stale would keep the stored one.
  static let goneRead = CacheControl(maxAge: 0, sMaxAge: 1).fieldValue

  /// Responses to long polls. A cache would answer the next waiter at once.
  ///
  /// - Parameter pollInterval: Returns the poll interval in seconds; nil for none.
  static func longPoll(pollInterval: @escaping @Sendable () -> Int?) -> CachePolicy {
    CachePolicy(publicRead: notStored, pollInterval: pollInterval)
  }

  /// Files whose address changes with their content.
  static let immutable = CachePolicy(
    publicRead: CacheControl(maxAge: 31_536_000, immutable: true).fieldValue, pollInterval: { nil })

  /// Files at the address of another version of their content.
  static let brief = CachePolicy(publicRead: goneRead, pollInterval: { nil })

  /// Files at an address that all versions share, and that must not be old.
  static let revalidated = CachePolicy(publicRead: CacheControl(noCache: true).fieldValue, pollInterval: { nil })

  static let editorial = CacheControl(isPrivate: true, noStore: true).fieldValue

  static let notStored = CacheControl(noStore: true).fieldValue

  /// Whether a shared cache may store a response with one of these fields.
  static func isShared(_ field: String) -> Bool { field != editorial && field != notStored }
}
