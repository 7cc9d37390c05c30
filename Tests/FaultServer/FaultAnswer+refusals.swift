public import Foundation
public import News

/// The value of a `Retry-After` (RFC 9110 section 10.2.3).
public enum RetryAfter: Sendable {
  /// As a number.
  case seconds(Int)
  /// As a date in the form that is in use.
  case date(Date)
  /// As a date in the form of RFC 850, which a client must still read.
  case rfc850Date(Date)
  /// As a date in the form of C's `asctime`, which a client must still read.
  case asctimeDate(Date)
  /// Anything.
  case text(String)

  /// Values to be ignored or capped.
  public static let absurd = [
    "", "-1", "-9223372036854775808", "1.5", "1e3", "0x10", "soon", "99999999999999999999", "9223372036854775807",
    "Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "Mon, 30 Feb 2026 25:61:61 GMT", "10, 20",
  ]

  /// The value as it is sent.
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

extension FaultAnswer {
  /// A refusal for now: 503, or 429.
  public static func busy(_ status: Int = 503, retryAfter: RetryAfter?) -> FaultAnswer {
    let answer = problem(
      Problem(
        type: status == 429 ? "/problems/too-many-requests" : "/problems/unavailable",
        title: status == 429 ? "Too many requests" : "Temporarily unavailable", status: status)
    ).setting("Cache-Control", "no-store")
    return retryAfter.map { answer.setting("Retry-After", $0.fieldValue) } ?? answer
  }

  /// 410 with the token to go on from.
  ///
  /// - Parameters:
  ///   - reason: `epoch`, `scope`, `expired` or `ahead`.
  ///   - token: A current one.
  public static func tokenExpired(reason: String, token: SyncToken?) -> FaultAnswer {
    problem(
      Problem(
        type: "/problems/token-expired", title: "The token cannot be continued", status: 410, reason: reason,
        token: token)
    ).setting("Cache-Control", "max-age=0, s-maxage=1")
  }

  /// An error in the form of RFC 9457.
  public static func problem(_ problem: Problem) -> FaultAnswer {
    // Encoding fails for numbers that are none, and there are no fractions here.
    let body = (try? NewsJSON.encode(problem)) ?? Data()
    return FaultAnswer(
      status: problem.status, headers: [("Content-Type", "application/problem+json"), ("Vary", "Accept-Encoding")],
      body: body)
  }

  /// 304, also to somebody who holds nothing.
  public static func notModified(etag: String? = #""never-seen""#) -> FaultAnswer {
    FaultAnswer(status: 304, headers: etag.map { [("ETag", $0)] } ?? [])
  }

  /// The page of a hotel: HTML with status 200.
  ///
  /// - Parameter type: What it claims to be; some claim to be JSON.
  public static func captivePortal(claiming type: String = "text/html; charset=utf-8") -> FaultAnswer {
    let page = "<!doctype html><html><head><title>Welcome</title></head><body><a href=/login>Sign in</a></body></html>"
    return FaultAnswer(
      headers: [("Content-Type", type), ("Cache-Control", "no-store"), ("Set-Cookie", "portal=1; Path=/")],
      body: Data(page.utf8))
  }
}
