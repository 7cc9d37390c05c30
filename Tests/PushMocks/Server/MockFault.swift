import Synchronization

/// A fault of a mock, in place of the response to a message that has passed all checks.
public enum MockFault: Sendable {
  /// The message is refused with this response.
  case answer(MockResponse)
  /// The message is lost, and there is no response.
  case hang
  /// The message is lost. The stream is reset; over HTTP/1.1 the connection is closed.
  case resetStream
  /// The message is not processed, and its stream is refused (RFC 9113 section 8.7); over HTTP/1.1 the connection is closed.
  case refuseStream
  /// As `resetStream`, and the connection takes no further messages from before the reset on (GOAWAY).
  case resetLastStream
  /// The message is accepted. The connection is reset in the middle of the response, with all other messages on it.
  case resetConnection
  /// As `resetConnection`, but the connection is closed without an end of TLS, and the response has no length over HTTP/1.1.
  case cutResponse
  /// The message is accepted. The connection then takes no further messages: GOAWAY, or `Connection: close` over
  /// HTTP/1.1.
  case goAway
  /// The message is accepted, and the response follows after a time.
  case slow(Duration)
}

/// The faults that a mock commits.
///
///     mock.faults.next(.hang, .resetStream)
///     mock.faults.always(.answer(APNsReason.badDeviceToken.response()))
///     mock.faults.share(0.1, .answer(APNsReason.tooManyRequests.response().retry(after: 5)))
public final class MockFaults: Sendable {
  private struct State {
    var queue: [MockFault] = []
    var rule: (@Sendable (ReceivedMessage) -> MockFault?)?
    var streamsPerConnection: Int?
    var reordering = 1
  }

  private let state = Mutex(State())

  /// Commits faults with the next messages, in order. They take precedence over other faults.
  public func next(_ faults: MockFault...) { state.withLock { $0.queue += faults } }

  /// Decides about each further message; nil for no fault.
  public func decide(_ rule: (@Sendable (ReceivedMessage) -> MockFault?)?) { state.withLock { $0.rule = rule } }

  /// Commits a fault with each further message.
  public func always(_ fault: MockFault) { decide { _ in fault } }

  /// Commits a fault with a random share of the messages, 0...1.
  public func share(_ share: Double, _ fault: MockFault) {
    decide { _ in .random(in: 0..<1) < share ? fault : nil }
  }

  /// Ends all faults.
  public func clear() { state.withLock { $0 = State() } }

  /// The number of streams after which a connection takes no further messages (GOAWAY); nil for no limit.
  public var streamsPerConnection: Int? {
    get { state.withLock { $0.streamsPerConnection } }
    set { state.withLock { $0.streamsPerConnection = newValue } }
  }

  /// The number of responses that a connection collects, to send the last one first; 1 for none. If there are fewer,
  /// they are sent after a moment.
  public var reordering: Int {
    get { state.withLock { $0.reordering } }
    set { state.withLock { $0.reordering = newValue } }
  }

  func fault(for message: ReceivedMessage) -> MockFault? {
    let (fault, rule) = state.withLock { state in
      (state.queue.isEmpty ? nil : state.queue.removeFirst(), state.rule)
    }
    return fault ?? rule?(message)
  }
}
