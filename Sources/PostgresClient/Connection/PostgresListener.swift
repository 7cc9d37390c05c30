import CLibPQ
import Dispatch
public import Logging

/// A subscriber to NOTIFY on a connection of its own, which is opened again whenever it is lost.
///
///     func follow(configuration: PostgresConfiguration, logger: Logger) async {
///       let listener = PostgresListener(configuration: configuration, logger: logger)
///       for await event in listener.events(channel: "news") {
///         switch event {
///         case .listening: print("read the current state")
///         case .notification(let payload, _): print("changed: \(payload)")
///         case .disconnected: print("disconnected")
///         }
///       }
///     }
public final class PostgresListener: Sendable {
  /// An event of a channel.
  ///
  ///     func requiresRead(_ event: PostgresListener.Event) -> Bool {
  ///       event != .disconnected
  ///     }
  public enum Event: Sendable, Hashable {
    /// LISTEN is in effect. Earlier notifications are lost: read the state again.
    case listening
    /// A NOTIFY with its payload, which may be empty, and the process id of the session that sent it, as
    /// `pg_backend_pid()` returns it there.
    case notification(payload: String, sender: Int32)
    /// The connection could not be opened or was lost. `.listening` follows once it is open again.
    case disconnected
  }

  private let configuration: PostgresConfiguration
  private let logger: Logger

  /// Creates a listener, which has no connection yet.
  public init(configuration: PostgresConfiguration, logger: Logger) {
    self.configuration = configuration
    self.logger = logger
  }

  /// Opens a connection and returns the events of a channel.
  ///
  /// The sequence ends when the iterating task is cancelled or the sequence is released. The connection is then closed.
  ///
  /// - Parameter channel: The name of the channel, any string of at most 63 bytes.
  public func events(channel: String) -> AsyncStream<Event> {
    let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
    let task = Task { await run(channel, continuation) }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  private func run(_ channel: String, _ events: AsyncStream<Event>.Continuation) async {
    var delay: UInt64 = 0
    var hasReportedDisconnection = false
    while !Task.isCancelled {
      let wasListening = await listen(channel, events)
      if Task.isCancelled { break }
      if wasListening || !hasReportedDisconnection {
        events.yield(.disconnected)
        hasReportedDisconnection = true
      }
      delay = wasListening ? 50 : min(max(50, delay * 2), 2_000)
      try? await Task.sleep(for: .milliseconds(UInt64.random(in: delay / 2...delay)))
    }
    events.finish()
  }

  /// Opens one connection and publishes its notifications until it ends.
  ///
  /// - Returns: Whether LISTEN was ever in effect.
  private func listen(_ channel: String, _ events: AsyncStream<Event>.Continuation) async -> Bool {
    let (closed, closing) = AsyncStream.makeStream(of: Never.self)
    let connection = PostgresConnection(
      configuration: configuration, logger: logger,
      notificationHandler: { events.yield(.notification(payload: $0, sender: $1)) }, closeHandler: { closing.finish() })
    var isListening = false
    do {
      try await connection.open()
      let name = channel.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      try await connection.execute(script: "LISTEN \"\(name)\"")
      configuration.outages.recordSuccess(logger: logger)
      isListening = true
      events.yield(.listening)
      for await _ in closed {}
    } catch {
      configuration.outages.recordFailure(error, logger: logger)
    }
    await connection.close()
    return isListening
  }
}
