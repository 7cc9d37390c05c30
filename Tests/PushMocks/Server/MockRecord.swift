import Synchronization

/// The messages that a mock has received.
public final class MockRecord: Sendable {
  /// The numbers of messages.
  public struct Totals: Sendable, Equatable {
    /// The messages that were accepted, whether the sender has received the response or not.
    public var accepted = 0
    /// The messages that a fault has refused or lost.
    public var faulted = 0
    /// The messages that broke a rule of the service.
    public var refused = 0
    /// The requests without a response at the moment.
    public var open = 0
    /// The maximum of `open`.
    public var maximumOpen = 0
    /// The connections since the start.
    public var connections = 0
    /// The connections over HTTP/2 since the start.
    public var http2Connections = 0
  }

  private struct State {
    var totals = Totals()
    var messages: [ReceivedMessage] = []
    /// The messages by the hash of the address. Two of 100,000 addresses have the same with a probability of 10⁻⁹.
    var counts: [Int: UInt16] = [:]
    var refusals: [String: Int] = [:]
  }

  private let state = Mutex(State())
  private let keepsMessages: Bool

  init(keepsMessages: Bool) { self.keepsMessages = keepsMessages }

  /// The numbers of messages.
  public var totals: Totals { state.withLock { $0.totals } }

  /// The accepted messages in the order of their arrival; none in light mode.
  public var messages: [ReceivedMessage] { state.withLock { $0.messages } }

  /// The numbers of refused messages by the rule that they broke. A correct sender has none.
  public var refusals: [String: Int] { state.withLock { $0.refusals } }

  /// The number of addresses with at least one message.
  public var addresses: Int { state.withLock { $0.counts.count } }

  /// The number of addresses by the number of their messages.
  public var histogram: [Int: Int] {
    state.withLock { state in state.counts.values.reduce(into: [:]) { $0[Int($1), default: 0] += 1 } }
  }

  /// Returns the number of messages to an address.
  public func count(of address: String) -> Int { state.withLock { Int($0.counts[address.hashValue] ?? 0) } }

  /// Returns the messages so far and forgets them, with all numbers by address.
  @discardableResult
  public func takeMessages() -> [ReceivedMessage] {
    state.withLock { state in
      defer { (state.messages, state.counts) = ([], [:]) }
      return state.messages
    }
  }

  func accept(_ message: ReceivedMessage) {
    let hash = message.address.hashValue
    state.withLock { state in
      state.totals.accepted += 1
      let count = state.counts[hash] ?? 0
      state.counts[hash] = count == .max ? .max : count + 1
      if keepsMessages { state.messages.append(message) }
    }
  }

  func refuse(_ rule: String) {
    state.withLock { state in
      state.totals.refused += 1
      state.refusals[rule, default: 0] += 1
    }
  }

  func noteFault() { state.withLock { $0.totals.faulted += 1 } }

  func begin() {
    state.withLock { state in
      state.totals.open += 1
      state.totals.maximumOpen = max(state.totals.maximumOpen, state.totals.open)
    }
  }

  func end() { state.withLock { $0.totals.open -= 1 } }

  /// - Returns: The number of the connection, from 1.
  func connect() -> Int {
    state.withLock { state in
      state.totals.connections += 1
      return state.totals.connections
    }
  }

  func noteHTTP2() { state.withLock { $0.totals.http2Connections += 1 } }
}
