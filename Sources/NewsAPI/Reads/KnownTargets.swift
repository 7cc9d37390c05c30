import Synchronization

/// The targets of requests that were answered from memory, and what they stand for.
final class KnownTargets: Sendable {
  struct Target {
    let key: ViewKey
    /// Whether it says to wait.
    let isLongPoll: Bool
    /// Tokens in it are judged by the history of the time.
    let epoch: String
  }

  /// A client can make up as many as it likes, and as long.
  private static let limit = 10_000
  private static let longest = 512

  private let targets = Mutex<[String: Target]>([:])

  func learn(_ target: String, _ meaning: Target) {
    guard target.utf8.count <= Self.longest else { return }
    targets.withLock { targets in
      if targets.count >= Self.limit { targets.removeAll(keepingCapacity: true) }
      targets[target] = meaning
    }
  }

  /// nil for one that is not known, or was in another history.
  func meaning(of target: String, epoch: String) -> Target? {
    targets.withLock { targets in
      guard let known = targets[target], known.epoch == epoch else { return nil }
      return known
    }
  }
}
