import Foundation

/// The three date formats of HTTP (RFC 9110 section 5.6.7).
enum HTTPDates {
  /// `Sun, 06 Nov 1994 08:49:37 GMT`, the only format for sending.
  static func fixdate(_ date: Date) -> String { text(date, "EEE, dd MMM yyyy HH:mm:ss 'GMT'") }

  /// `Sunday, 06-Nov-94 08:49:37 GMT`.
  static func rfc850(_ date: Date) -> String { text(date, "EEEE, dd-MMM-yy HH:mm:ss 'GMT'") }

  /// `Sun Nov  6 08:49:37 1994`, with the day padded by a space.
  static func asctime(_ date: Date) -> String {
    let day = text(date, "d")
    let padding = day.count < 2 ? " " : ""
    return text(date, "EEE MMM") + " " + padding + day + text(date, " HH:mm:ss yyyy")
  }

  /// Parses the first format.
  static func date(fixdate text: String) -> Date? { formatter("EEE, dd MMM yyyy HH:mm:ss 'GMT'").date(from: text) }

  private static func text(_ date: Date, _ format: String) -> String { formatter(format).string(from: date) }

  private static func formatter(_ format: String) -> DateFormatter {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = format
    return formatter
  }
}
