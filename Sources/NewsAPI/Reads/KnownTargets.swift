import Synchronization

/// The targets of requests that were answered from memory, with their views.
final class KnownTargets: Sendable {
  struct Target {
    let key: ViewKey
    /// Whether the target has the parameter `wait`.
    let isLongPoll: Bool
    /// The epoch in which tokens in the target were checked.
    let epoch: String
  }

  /// The maximum number of targets. Clients can make up any number of them, of any length.
  private static let maximumCount = 10_000
  private static let maximumBytes = 512

  private let targets = Mutex<[String: Target]>([:])

  func add(_ target: String, _ meaning: Target) {
    guard target.utf8.count <= Self.maximumBytes else { return }
    targets.withLock { targets in
      if targets.count >= Self.maximumCount { targets.removeAll(keepingCapacity: true) }
      targets[target] = meaning
    }
  }

  /// Returns the meaning of a target; nil for an unknown target, or one of another epoch.
  func meaning(of target: String, epoch: String) -> Target? {
    targets.withLock { targets in
      guard let known = targets[target], known.epoch == epoch else { return nil }
      return known
    }
  }
}
