import NIOCore

/// The responses that an event loop has sent repeatedly in the current second.
///
/// They belong to the loop alone. A lock, or a count of references, that all threads change for each request costs more
/// than the rest of such a response, and the more so the more processors there are. After a second at most, a response
/// comes from the responder again, which then notices its use, and whatever depends on the time.
package final class RecentResponses {
  /// A response with the current date, as one buffer. It is an object, so that each use counts one reference.
  final class Response {
    let source: EarlyResponse
    let bytes: ByteBuffer

    fileprivate init(source: EarlyResponse, bytes: ByteBuffer) {
      self.source = source
      self.bytes = bytes
    }
  }

  private struct Entry {
    let generation: Int
    /// nil after the first use.
    var response: Response?
  }

  /// The maximum number of requests that are remembered, and of those whose responses are stored.
  private static let maximumCount = 1024
  private static let maximumResponses = 64
  /// The maximum length of a stored body, in bytes.
  private static let maximumBytes = 64 << 10

  private let clock: HTTPDateClock
  private var entries: [PlainRequest: Entry] = [:]
  private var responses = 0
  /// The current date.
  private(set) var date: HTTPDateLine

  init(_ clock: HTTPDateClock) {
    self.clock = clock
    date = clock.line
  }

  /// Returns the stored response to a request in the current second; nil if there is none.
  ///
  /// - Parameter generation: The number of the responder's state.
  func response(to request: PlainRequest, in generation: Int) -> Response? {
    if HTTPDateClock.second != date.second {
      entries.removeAll(keepingCapacity: true)
      responses = 0
      date = clock.line
    }
    guard let entry = entries[request], entry.generation == generation else { return nil }
    return entry.response
  }

  /// Records that a response was sent.
  ///
  /// - Parameter generation: The number of the responder's state before it made the response.
  func note(_ source: EarlyResponse, to request: PlainRequest, in generation: Int) {
    if let known = entries[request], known.generation == generation {
      guard responses < Self.maximumResponses, source.response.bytes <= Self.maximumBytes else { return }
      responses += 1
      let response = Response(source: source, bytes: source.response.copy(with: date))
      entries[request] = Entry(generation: generation, response: response)
    } else if entries.count < Self.maximumCount || entries[request] != nil {
      entries[request] = Entry(generation: generation)
    }
  }
}
