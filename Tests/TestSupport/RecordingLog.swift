package import Logging
import Synchronization

/// A log that stores its messages from `trace` up, including their metadata.
package final class RecordingLog: Sendable {
  private let lines = Lines()

  package init() {}

  package var logger: Logger {
    var logger = Logger(label: "test", factory: { [lines] _ in Handler(lines: lines) })
    logger.logLevel = .trace
    return logger
  }

  package var text: String { lines.texts.withLock { $0.joined(separator: "\n") } }

  private final class Lines: Sendable {
    let texts = Mutex<[String]>([])
  }

  private struct Handler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      lines.texts.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }
  }
}
