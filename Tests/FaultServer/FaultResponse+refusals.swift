public import Foundation
public import News

/// The value of `Retry-After` (RFC 9110 section 10.2.3).
public enum RetryAfter: Sendable {
  /// A number of seconds.
  case seconds(Int)
  /// A date in the current form (IMF-fixdate).
  case date(Date)
  /// A date in the form of RFC 850, which a client must still parse.
  case rfc850Date(Date)
  /// A date in the form of C's `asctime`, which a client must still parse.
  case asctimeDate(Date)
  /// Any text.
  case text(String)

  /// Values that a client must ignore or clamp.
  public static let absurd = [
    "", "-1", "-9223372036854775808", "1.5", "1e3", "0x10", "soon", "99999999999999999999", "9223372036854775807",
    "Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "Mon, 30 Feb 2026 25:61:61 GMT", "10, 20",
  ]

  /// The field value.
  public var fieldValue: String {
    switch self {
    case .seconds(let seconds): "\(seconds)"
    case .date(let date): HTTPDates.fixdate(date)
    case .rfc850Date(let date): HTTPDates.rfc850(date)
    case .asctimeDate(let date): HTTPDates.asctime(date)
    case .text(let text): text
    }
  }
}

extension FaultResponse {
  /// Returns a temporary refusal: 503 or 429.
  public static func busy(_ status: Int = 503, retryAfter: RetryAfter?) -> FaultResponse {
    let response = problem(
      Problem(
        type: status == 429 ? "/problems/too-many-requests" : "/problems/unavailable",
        title: status == 429 ? "Too many requests" : "Temporarily unavailable", status: status)
    ).setting("Cache-Control", "no-store")
    return retryAfter.map { response.setting("Retry-After", $0.fieldValue) } ?? response
  }

  /// Returns a 410 with a token to continue from.
  ///
  /// - Parameters:
  ///   - reason: `epoch`, `scope`, `expired` or `ahead`.
  ///   - token: A current token.
  public static func tokenExpired(reason: String, token: SyncToken?) -> FaultResponse {
    problem(
      Problem(
        type: "/problems/token-expired", title: "The token cannot be continued", status: 410, reason: reason,
        token: token)
    ).setting("Cache-Control", "max-age=0, s-maxage=1")
  }

  /// Returns a problem in the form of RFC 9457.
  public static func problem(_ problem: Problem) -> FaultResponse {
    // Encoding fails only for NaN and infinity, and a problem contains no floating-point numbers.
    let body = (try? NewsJSON.encode(problem)) ?? Data()
    return FaultResponse(
      status: problem.status, headers: [("Content-Type", "application/problem+json"), ("Vary", "Accept-Encoding")],
      body: body)
  }

  /// Returns a 304, also for a client that holds no copy.
  public static func notModified(etag: String? = #""never-seen""#) -> FaultResponse {
    FaultResponse(status: 304, headers: etag.map { [("ETag", $0)] } ?? [])
  }

  /// Returns the login page of a captive portal: HTML with status 200.
  ///
  /// - Parameter type: The declared content type; some portals declare JSON.
  public static func captivePortal(claiming type: String = "text/html; charset=utf-8") -> FaultResponse {
    let page = "<!doctype html><html><head><title>Welcome</title></head><body><a href=/login>Sign in</a></body></html>"
    return FaultResponse(
      headers: [("Content-Type", type), ("Cache-Control", "no-store"), ("Set-Cookie", "portal=1; Path=/")],
      body: Data(page.utf8))
  }
}
