import CLibPQ
import Dispatch
public import Logging

/// Listens for NOTIFY on a connection of its own, which it makes again whenever it is lost.
public final class PostgresListener: Sendable {
  /// What happens on a channel.
  public enum Event: Sendable, Hashable {
    /// LISTEN is in effect. What was notified before is lost: read the state again.
    case listening
    /// A NOTIFY with its payload, which may be empty.
    case notification(payload: String)
    /// The connection could not be made or was lost; `.listening` follows when there is one again.
    case disconnected
  }

  private let configuration: PostgresConfiguration
  private let logger: Logger

  /// A listener that has no connection yet.
  public init(configuration: PostgresConfiguration, logger: Logger) {
    self.configuration = configuration
    self.logger = logger
  }

  /// The events of a channel, whose name may be any string of at most 63 bytes. The sequence ends with the task that
  /// iterates or when it is dropped; then the connection is closed.
  public func events(channel: String) -> AsyncStream<Event> {
    let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
    let task = Task { await run(channel, continuation) }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  private func run(_ channel: String, _ events: AsyncStream<Event>.Continuation) async {
    var delay: UInt64 = 0
    var isAnnounced = false
    while !Task.isCancelled {
      let wasListening = await listen(channel, events)
      if Task.isCancelled { break }
      if wasListening || !isAnnounced {
        events.yield(.disconnected)
        isAnnounced = true
      }
      delay = wasListening ? 50 : min(max(50, delay * 2), 2_000)
      try? await Task.sleep(for: .milliseconds(UInt64.random(in: delay / 2...delay)))
    }
    events.finish()
  }

  /// One connection from its making to its end.
  ///
  /// - Returns: whether LISTEN was ever in effect.
  private func listen(_ channel: String, _ events: AsyncStream<Event>.Continuation) async -> Bool {
    let (ends, end) = AsyncStream.makeStream(of: Never.self)
    let connection = PostgresConnection(
      configuration: configuration, logger: logger,
      notificationHandler: { events.yield(.notification(payload: $0)) }, closeHandler: { end.finish() })
    var isListening = false
    do {
      try await connection.open()
      let name = channel.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      try await connection.execute(script: "LISTEN \"\(name)\"")
      configuration.outages.succeeded(logger: logger)
      isListening = true
      events.yield(.listening)
      for await _ in ends {}
    } catch {
      configuration.outages.failed(error, logger: logger)
    }
    await connection.close()
    return isListening
  }
}
