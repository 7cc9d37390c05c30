import Foundation
import News
import Synchronization

extension FaultFeed {
  /// The number of open event streams.
  public var eventStreams: Int {
    state.withLock { state in
      state.listeners.removeAll { $0.stream.isAbandoned }
      return state.listeners.count
    }
  }

  /// Sends a comment to all event streams, as a heartbeat.
  public func sendHeartbeat() { sendToStreams(":\n\n") }

  /// Sends a text to all event streams.
  public func sendToStreams(_ text: String) {
    for listener in state.withLock({ $0.listeners }) { listener.stream.send(Data(text.utf8)) }
  }

  /// Ends all event streams: cleanly, or with the given ending.
  public func endStreams(_ ending: FaultEnding? = nil) {
    let listeners = state.withLock { state in
      defer { state.listeners = [] }
      return state.listeners
    }
    for listener in listeners { listener.stream.end(ending) }
  }
}

extension FaultFeed.State {
  /// Sends the changes since an earlier state to the event streams.
  mutating func sendChanges(since before: FeedSnapshot) {
    listeners.removeAll { $0.stream.isAbandoned }
    for index in listeners.indices {
      let scope = listeners[index].scope
      let previous = before.token(of: scope)
      if snapshot.historyRefusal(of: previous) != nil {
        listeners[index].stream.send(Data(FeedResponses.resync(snapshot.token(of: scope)).utf8))
      } else if let event = snapshot.event(in: scope, after: previous.version) {
        send(FeedResponses.text(event), at: index)
      }
    }
  }

  private mutating func send(_ event: String, at index: Int) {
    func send(_ text: String) { listeners[index].stream.send(Data(text.utf8)) }
    switch eventOrder {
    case .faithful: send(event)
    case .twice: send(event + event)
    case .silent: break
    case .swapped:
      if let held = listeners[index].held.take() { send(event + held) } else { listeners[index].held = event }
    }
  }
}
