import Foundation
import Logging
import News

#if canImport(Glibc)
  import Glibc
#endif

/// The format of log lines, which always go to standard error.
enum LogFormat: String, CaseIterable, Sendable {
  /// Text for people.
  case text
  /// One JSON object per line for machines.
  case json

  /// The default: text on a terminal, JSON everywhere else.
  static var standard: LogFormat { isatty(STDERR_FILENO) == 1 ? .text : .json }

  /// Sets the log format of the process. Call it once, before the first logger is created.
  func bootstrap(level: Logger.Level) {
    LoggingSystem.bootstrap { label in
      var handler: any LogHandler =
        switch self {
        case .text: TextLogHandler(label: label)
        case .json: JSONLogHandler(label: label)
        }
      handler.logLevel = level
      return handler
    }
  }
}

/// Writes each event as one line of text that is safe on a terminal.
///
/// Database errors quote data, which may contain line breaks and terminal sequences.
private struct TextLogHandler: LogHandler {
  private var stream: StreamLogHandler

  init(label: String) {
    stream = .standardError(label: label)
  }

  var logLevel: Logger.Level {
    get { stream.logLevel }
    set { stream.logLevel = newValue }
  }

  var metadata: Logger.Metadata {
    get { stream.metadata }
    set { stream.metadata = newValue.mapValues(\.terminalSafe) }
  }

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { stream[metadataKey: key] }
    set { stream[metadataKey: key] = newValue?.terminalSafe }
  }

  func log(event: LogEvent) {
    var safe = event
    safe.message = "\(event.message.description.terminalSafe)"
    safe.metadata = event.metadata?.mapValues(\.terminalSafe)
    stream.log(event: safe)
  }
}

extension Logger.MetadataValue {
  fileprivate var terminalSafe: Logger.MetadataValue { .string(description.terminalSafe) }
}

/// Writes each event as one line of JSON: `time`, `level`, `message`, `source`, and the metadata in an object.
///
/// Characters that `terminalSafe` would remove or replace are escaped instead, so that none is lost.
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
    guard let encoded = try? encoder.encode(line) else { return }
    var bytes = Data(String(decoding: encoded, as: UTF8.self).terminalSafeJSON.utf8)
    bytes.append(UInt8(ascii: "\n"))
    // A single write per line keeps the lines of several threads apart.
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
