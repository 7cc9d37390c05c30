package import Logging
import Synchronization

/// A log that stores its messages from `trace` up, including their metadata.
package final class RecordingLog: Sendable {
  private let lines = Mutex<[String]>([])

  package init() {}

  package var logger: Logger {
    var logger = Logger(label: "test", factory: { _ in Handler(log: self) })
    logger.logLevel = .trace
    return logger
  }

  package var text: String { lines.withLock { $0.joined(separator: "\n") } }

  private struct Handler: LogHandler {
    let log: RecordingLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      log.lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }
  }
}
