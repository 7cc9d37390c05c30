import NewsAPI
import Synchronization

/// The open streams of the live page.
final class LiveStreams: Sendable {
  /// The place of a stream, which is free again once no one has it.
  final class Place: Sendable {
    private let streams: LiveStreams
    private let key: String

    fileprivate init(_ streams: LiveStreams, _ key: String) {
      (self.streams, self.key) = (streams, key)
    }

    deinit {
      streams.taken.withLock { taken in
        let rest = (taken[key] ?? 1) - 1
        taken[key] = rest > 0 ? rest : nil
      }
    }
  }

  let source: LiveSource
  /// The interval between two events.
  let interval: Duration
  /// The time for which a client may read nothing.
  let maximumStall: Duration
  private let limit: Int
  private let limitPerKey: Int
  /// The number of streams of each key that has one.
  private let taken = Mutex<[String: Int]>([:])

  /// - Parameters:
  ///   - interval: The interval between two events.
  ///   - limit: The maximum number of streams, 1 or more.
  ///   - limitPerKey: The maximum number of streams of a key, 1 or more.
  ///   - stall: The time for which a client may read nothing.
  init(_ api: NewsAPI, interval: Duration, limit: Int, limitPerKey: Int, stall: Duration) {
    source = LiveSource(api, interval: interval)
    self.interval = interval
    self.limit = limit
    self.limitPerKey = limitPerKey
    maximumStall = stall
  }

  /// The number of open streams.
  var count: Int { taken.withLock { $0.values.reduce(0, +) } }

  /// Takes a place for a stream.
  ///
  /// - Parameter key: The id of the key of the session.
  /// - Returns: nil if all places are taken, or all of the key.
  func take(for key: String) -> Place? {
    let isFree = taken.withLock { taken in
      let own = taken[key] ?? 0
      guard own < limitPerKey, taken.values.reduce(0, +) < limit else { return false }
      taken[key] = own + 1
      return true
    }
    return isFree ? Place(self, key) : nil
  }
}
