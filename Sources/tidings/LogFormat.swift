import Foundation
import Logging
import News

#if canImport(Glibc)
  import Glibc
#endif

/// How log lines are written, always to standard error.
enum LogFormat: String, CaseIterable, Sendable {
  /// For people.
  case text
  /// For machines: one JSON object a line.
  case json

  /// People read terminals, machines read everything else.
  static var standard: LogFormat { isatty(STDERR_FILENO) == 1 ? .text : .json }

  /// Makes it the format of the process; to be called once, before the first logger is made.
  func bootstrap(level: Logger.Level) {
    LoggingSystem.bootstrap { label in
      var handler: any LogHandler =
        switch self {
        case .text: StreamLogHandler.standardError(label: label)
        case .json: JSONLogHandler(label: label)
        }
      handler.logLevel = level
      return handler
    }
  }
}

/// Writes each event as one line of JSON: `time`, `level`, `message`, `source`, and the metadata in an object.
private struct JSONLogHandler: LogHandler {
  let label: String
  var logLevel = Logger.Level.info
  var metadata = Logger.Metadata()

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let line = Line(
      time: RFC3339.string(from: .now),
      level: event.level.rawValue,
      message: event.message.description,
      source: label,
      metadata: metadata.merging(event.metadata ?? [:]) { $1 }.mapValues(\.description))
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard var bytes = try? encoder.encode(line) else { return }
    bytes.append(UInt8(ascii: "\n"))
    // One call a line keeps the lines of several threads apart.
    try? FileHandle.standardError.write(contentsOf: bytes)
  }

  private struct Line: Encodable {
    var time: String
    var level: String
    var message: String
    var source: String
    var metadata: [String: String]
  }
}
