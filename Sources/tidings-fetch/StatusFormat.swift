import ArgumentParser
import BackgroundFetch
import Foundation
import News
import NewsClient

/// A line for a status bar: text with placeholders of a percent sign and a letter.
struct StatusFormat: ExpressibleByArgument {
  /// The placeholders, for the help.
  static let help = """
    A line with %b (badge), %n (stored items), %t (newest title), %c (time of the last check), %m (minutes since then), \
    %e (! if the last fetch has failed), %% (a percent sign).
    """

  private enum Part {
    case text(String)
    case badge, items, title, checked, minutes, error
  }

  private let parts: [Part]

  init?(argument: String) {
    var parts: [Part] = []
    var rest = Substring(argument)
    while let index = rest.firstIndex(of: "%") {
      parts.append(.text(String(rest[..<index])))
      rest = rest[index...].dropFirst()
      switch rest.popFirst() {
      case "b": parts.append(.badge)
      case "n": parts.append(.items)
      case "t": parts.append(.title)
      case "c": parts.append(.checked)
      case "m": parts.append(.minutes)
      case "e": parts.append(.error)
      case "%": parts.append(.text("%"))
      default: return nil
      }
    }
    self.parts = parts + [.text(String(rest))]
  }

  /// Returns the line for the stored state.
  ///
  /// - Throws: `FetchError` with `storage`.
  func line(_ client: NewsFetcher, now: Date) throws -> String {
    let snapshot = try client.snapshot
    return try parts.map { part in
      switch part {
      case .text(let text): text
      case .badge: "\(try client.badge)"
      case .items: "\(try client.count)"
      case .title: snapshot.headlines.first?.title ?? ""
      case .checked: snapshot.checked.map { String(localTime($0).suffix(5)) } ?? "never"
      case .minutes: snapshot.checked.map { "\(max(0, Int(now.timeIntervalSince($0) / 60)))" } ?? "-"
      case .error: try client.runs(limit: 1).first?.result == .failed ? "!" : ""
      }
    }.joined().terminalSafe
  }
}
