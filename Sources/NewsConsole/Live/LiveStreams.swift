import NewsAPI
import Synchronization

/// The open streams of the live page.
final class LiveStreams: Sendable {
  /// The place of a stream, which is free again once no one has it.
  final class Place: Sendable {
    private let streams: LiveStreams

    fileprivate init(_ streams: LiveStreams) {
      self.streams = streams
    }

    deinit { streams.taken.withLock { $0 -= 1 } }
  }

  let source: LiveSource
  /// The interval between two events.
  let interval: Duration
  /// The time for which a client may read nothing.
  let maximumStall: Duration
  private let limit: Int
  private let taken = Mutex(0)

  /// - Parameters:
  ///   - interval: The interval between two events.
  ///   - limit: The maximum number of streams, 1 or more.
  ///   - stall: The time for which a client may read nothing.
  init(_ api: NewsAPI, interval: Duration, limit: Int, stall: Duration) {
    source = LiveSource(api, interval: interval)
    self.interval = interval
    self.limit = limit
    maximumStall = stall
  }

  /// The number of open streams.
  var count: Int { taken.withLock { $0 } }

  /// Takes a place for a stream.
  ///
  /// - Returns: nil if all places are taken.
  func take() -> Place? {
    let isFree = taken.withLock { taken in
      guard taken < limit else { return false }
      taken += 1
      return true
    }
    return isFree ? Place(self) : nil
  }
}
