public import Foundation

/// A log of openings, as `tidings-fetch log --openings --json` and `tidings-fetch log --json` print it: a JSON object on each
/// line, with the date of an opening in `opened`, or with that of a fetch for the launch of the app in `started`.
///
///     let log = try OpeningLog(#"{"opened":"2026-06-01T13:02:00Z"}"#)
///     print(log.openings.count)  // 1
public struct OpeningLog: Sendable, Hashable {
  /// The error if a line is not part of such a log.
  public struct ReadError: Error, Sendable, CustomStringConvertible {
    /// The number of the line, from 1.
    public let line: Int

    /// A message with the number of the line.
    public var description: String { "line \(line) is not a line of tidings-fetch log --json" }
  }

  private struct Line: Decodable {
    var opened: String?
    var started: String?
    var reason: String?
  }

  /// The dates of the openings, in order.
  public let openings: [Date]

  /// Reads a log. Fetches for other reasons than a launch are ignored.
  ///
  /// - Throws: ``ReadError``
  public init(_ text: String) throws {
    var openings: Set<Date> = []
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    for (number, line) in lines.enumerated()
    where !line.allSatisfy(\.isWhitespace) {
      guard let line = try? JSONDecoder().decode(Line.self, from: Data(line.utf8)),
        let text = line.opened ?? line.started, let date = Self.date(text)
      else { throw ReadError(line: number + 1) }
      if line.opened != nil || line.reason == "launch" { openings.insert(date) }
    }
    self.openings = openings.sorted()
  }

  private static func date(_ text: String) -> Date? {
    (try? Date(text, strategy: .iso8601))
      ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
  }
}
