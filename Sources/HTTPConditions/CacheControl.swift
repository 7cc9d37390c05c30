/// The `Cache-Control` field of a response (RFC 9111 section 5.2.2, RFC 5861, RFC 8246).
///
/// Durations are in seconds, clamped to 0...2^31, the largest value that a cache must understand (RFC 9111 section
/// 1.2.2). A shared cache such as nginx prefers `s-maxage` to `max-age`. It stores nothing on `no-cache`, `no-store`,
/// `private` or a bare `max-age=0`.
///
///     let control = CacheControl(maxAge: 0, sMaxAge: 5, staleWhileRevalidate: 5)
///     print(control.fieldValue)  // max-age=0, s-maxage=5, stale-while-revalidate=5
public struct CacheControl: Hashable, Sendable {
  /// `private`: only the cache of a single user may store the response.
  public var isPrivate: Bool
  /// `no-store`: a cache must not store the response. It does not replace a stored response, which may still be served.
  public var noStore: Bool
  /// `no-cache`: a cache may store the response but must revalidate it before each use.
  public var noCache: Bool
  /// `max-age`: the freshness lifetime in seconds.
  public var maxAge: Int?
  /// `s-maxage`: the freshness lifetime in a shared cache, in seconds; implies `public`.
  public var sMaxAge: Int?
  /// `must-revalidate`: a cache must not serve the response stale.
  public var mustRevalidate: Bool
  /// `immutable`: the content does not change while it is fresh, so a reload need not revalidate it.
  public var immutable: Bool
  /// `stale-while-revalidate`: the seconds after expiry during which a cache may serve the response while it
  /// revalidates.
  public var staleWhileRevalidate: Int?
  /// `stale-if-error`: the seconds after expiry during which a cache may serve the response if the server fails.
  public var staleIfError: Int?

  /// Creates a field with the given directives; all others are absent.
  public init(
    isPrivate: Bool = false, noStore: Bool = false, noCache: Bool = false, maxAge: Int? = nil, sMaxAge: Int? = nil,
    mustRevalidate: Bool = false, immutable: Bool = false, staleWhileRevalidate: Int? = nil, staleIfError: Int? = nil
  ) {
    self.isPrivate = isPrivate
    self.noStore = noStore
    self.noCache = noCache
    self.maxAge = maxAge
    self.sMaxAge = sMaxAge
    self.mustRevalidate = mustRevalidate
    self.immutable = immutable
    self.staleWhileRevalidate = staleWhileRevalidate
    self.staleIfError = staleIfError
  }

  /// The field value: the directives in the order of their declaration here, or an empty string if there are none.
  public var fieldValue: String {
    var value = ""
    func add(_ directive: String, _ seconds: Int? = nil) {
      if !value.isEmpty { value += ", " }
      value += directive
      if let seconds { value += "=\(min(max(seconds, 0), 1 << 31))" }
    }
    if isPrivate { add("private") }
    if noStore { add("no-store") }
    if noCache { add("no-cache") }
    if let maxAge { add("max-age", maxAge) }
    if let sMaxAge { add("s-maxage", sMaxAge) }
    if mustRevalidate { add("must-revalidate") }
    if immutable { add("immutable") }
    if let staleWhileRevalidate { add("stale-while-revalidate", staleWhileRevalidate) }
    if let staleIfError { add("stale-if-error", staleIfError) }
    return value
  }
}
