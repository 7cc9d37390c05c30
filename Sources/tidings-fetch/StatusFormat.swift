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

  /// Texts, each with the letter of the placeholder behind it.
  private let parts: [(text: Substring, letter: Character?)]

  init?(argument: String) {
    var parts: [(text: Substring, letter: Character?)] = []
    var rest = argument[...]
    while let index = rest.firstIndex(of: "%") {
      guard let letter = rest[index...].dropFirst().first, "bntcme%".contains(letter) else { return nil }
      parts.append((rest[..<index], letter))
      rest = rest[index...].dropFirst(2)
    }
    self.parts = parts + [(rest, nil)]
  }

  /// Returns the line for the stored state.
  ///
  /// - Throws: `FetchError` with `storage`.
  func line(_ client: NewsFetcher, now: Date) throws -> String {
    let snapshot = try client.snapshot
    return try parts.map { text, letter in
      let value =
        switch letter {
        case "b": "\(try client.badge)"
        case "n": "\(try client.count)"
        case "t": snapshot.headlines.first?.title ?? ""
        case "c": snapshot.checked.map { String(localTime($0).suffix(5)) } ?? "never"
        case "m": snapshot.checked.map { "\(max(0, Int(now.timeIntervalSince($0) / 60)))" } ?? "-"
        case "e": try client.runs(limit: 1).first?.result == .failed ? "!" : ""
        case let other: other.map(String.init) ?? ""
        }
      return String(text) + value
    }.joined().terminalSafe
  }
}
