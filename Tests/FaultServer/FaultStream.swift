public import Foundation
import NIOCore
import Synchronization

/// A body that is written while it is sent.
public final class FaultStream: Sendable {
  private struct State {
    var backlog = ByteBuffer()
    var ending: FaultEnding?
    var isOver = false
    var isAbandoned = false
    var wake: @Sendable () -> Void = {}
  }

  private let state = Mutex(State())

  /// Creates a stream without bytes.
  public init() {}

  /// Whether the connection of the stream has ended.
  public var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

  /// Appends bytes, which are sent at once.
  public func send(_ bytes: Data) {
    state.withLock { state in
      state.backlog.writeBytes(bytes)
      return state.wake
    }()
  }

  /// Ends the body after the bytes so far: cleanly, or with the given ending.
  public func end(_ ending: FaultEnding? = nil) {
    state.withLock { state in
      state.isOver = true
      state.ending = ending
      return state.wake
    }()
  }

  /// Attaches the connection.
  ///
  /// - Parameter wake: The function that is called, on any thread, when there are bytes to take.
  func attach(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

  func abandon() {
    state.withLock { state in
      state.isAbandoned = true
      state.wake = {}
      state.backlog.clear()
    }
  }

  func take() -> (bytes: ByteBuffer, isOver: Bool, ending: FaultEnding?) {
    state.withLock { state in
      defer { state.backlog = ByteBuffer() }
      return (state.backlog, state.isOver, state.ending)
    }
  }
}
