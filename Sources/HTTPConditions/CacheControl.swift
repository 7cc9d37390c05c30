/// The `Cache-Control` field of a response (RFC 9111 section 5.2.2, RFC 5861, RFC 8246).
///
/// Durations are seconds, kept within 0...2^31, the largest a cache must understand (RFC 9111 section 1.2.2).
/// A shared cache such as nginx reads `s-maxage` before `max-age` and stores nothing on `no-cache`, `no-store`,
/// `private` or a bare `max-age=0`.
public struct CacheControl: Hashable, Sendable {
  /// `private`: for the cache of one user only.
  public var isPrivate: Bool
  /// `no-store`: not to be stored, and not to replace what is stored: a cache may go on serving that.
  public var noStore: Bool
  /// `no-cache`: stored, but not used without asking first.
  public var noCache: Bool
  /// `max-age`: how long the answer is fresh.
  public var maxAge: Int?
  /// `s-maxage`: how long it is fresh in a shared cache; says `public` at once.
  public var sMaxAge: Int?
  /// `must-revalidate`: never served stale.
  public var mustRevalidate: Bool
  /// `immutable`: does not change while it is fresh, so a reload need not ask.
  public var immutable: Bool
  /// `stale-while-revalidate`: how long after that it may be served while a fresh one is fetched.
  public var staleWhileRevalidate: Int?
  /// `stale-if-error`: how long after that it may be served while the server fails.
  public var staleIfError: Int?

  /// The directives to send; those left out are absent.
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

  /// The directives in the order in which they are declared here; empty without any.
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
