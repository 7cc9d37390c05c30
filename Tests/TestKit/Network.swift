public import BackgroundFetch
import Synchronization

/// A network that is lost and comes back on request.
///
///     let network = Network()
///     network.set(isOffline: true)
///     print(network.current.isOffline)  // true
public final class Network: ConstraintSource {
  private struct State {
    var isOffline = false
    var observers: [Int: AsyncStream<Void>.Continuation] = [:]
    var lastNumber = 0
  }

  private let state = Mutex(State())

  /// Creates a network that is available.
  public init() {}

  /// The constraints: whether the network is lost.
  public var current: FetchConstraints { FetchConstraints(isOffline: state.withLock(\.isOffline)) }

  /// The number of tasks that wait for changes.
  public var observers: Int { state.withLock(\.observers.count) }

  /// The losses and returns from now on.
  public var networkChanges: AsyncStream<Void> {
    AsyncStream { continuation in
      let number = state.withLock { state in
        state.lastNumber += 1
        state.observers[state.lastNumber] = continuation
        return state.lastNumber
      }
      continuation.onTermination = { [weak self] _ in
        _ = self?.state.withLock { $0.observers.removeValue(forKey: number) }
      }
    }
  }

  /// Loses the network, or brings it back.
  public func set(isOffline: Bool) {
    let observers = state.withLock { state in
      state.isOffline = isOffline
      return state.observers.values
    }
    for observer in observers { observer.yield() }
  }
}
