import Foundation
import HTTPTypes
import NewsFeeds
import NewsStore
import OutgoingHTTP
import Synchronization

/// The content of a response, read as a feed.
struct FeedReading {
  private static let pieceBytes = 1 << 16

  var isFeed = false
  var properties = FeedProperties()
  /// The dates of the entries that name one.
  var dates: [Date] = []
  var counts = ImportCounts()
  /// The writes of the feed in the current period of a day, this poll included.
  var tally: WriteTally?
  /// The parts of the feed that are not stored, or not as they were written.
  var losses = PollLosses()
  /// The reason why the response is not a complete feed; nil if it is one.
  var problem: String?

  /// Reads a response.
  ///
  /// - Parameters:
  ///   - start: The date of entries without one.
  ///   - add: Receives each entry, and returns whether to continue.
  /// - Returns: nil if `add` has ended the reading.
  /// - Throws: The errors of `add`.
  static func reading(
    _ response: OutgoingResponse, at start: Date, _ add: (FeedEntry) async throws -> Bool
  ) async throws -> FeedReading? {
    let reader = PooledFeedReader(response, at: start)
    var reading = FeedReading()
    var skipped: String?
    var rest = response.body[...]
    repeat {
      let piece = rest.prefix(pieceBytes)
      rest = rest.dropFirst(pieceBytes)
      for event in try await reader.events(in: Data(piece), isLast: rest.isEmpty) {
        switch event {
        case .entry(let entry):
          reading.isFeed = true
          if !entry.isDateFirstSeen { reading.dates.append(entry.date) }
          guard try await add(entry) else { return nil }
        case .skipped(let problem):
          skipped = skipped ?? "\(problem)"
          reading.losses.add("skipped, \(problem)")
        case .reduced(let problem), .noted(let problem): reading.losses.add("\(problem)")
        case .failed(let problem): reading.problem = "\(problem)"
        case .newsroom: break
        }
      }
    } while !rest.isEmpty
    let end = reader.end
    reading.properties = end.properties
    // Any JSON object may be a line of JSON Lines, also the message of an error.
    if let format = end.format, format != .jsonLines { reading.isFeed = true }
    if !reading.isFeed { reading.problem = reading.problem ?? skipped }
    return reading
  }
}

extension FeedReading {
  /// Returns the feeds to which a page links.
  ///
  /// - Throws: The errors of `ComputePool.run`.
  static func links(in page: OutgoingResponse) async throws -> [FeedDiscovery.Link] {
    try await ComputePool.shared.run(.feed, for: page.url.text, bytes: page.body.count) {
      FeedDiscovery.feeds(in: Data(page.body), at: page.url.text, contentType: page.fields[.contentType])
    }
  }
}

/// A reader of a response that parses on the threads of `ComputePool`.
private final class PooledFeedReader: Sendable {
  private let reader: Mutex<FeedReader>
  private let address: String
  private let bytes: Int

  init(_ response: OutgoingResponse, at start: Date) {
    (address, bytes) = (response.url.text, response.body.count)
    reader = Mutex(
      FeedReader(
        FeedReader.Options(
          address: response.url.text, contentType: response.fields[.contentType], missingDate: .firstSeen(at: start))))
  }

  /// - Throws: The errors of `ComputePool.run`.
  func events(in piece: Data, isLast: Bool) async throws -> [FeedEvent] {
    try await ComputePool.shared.run(.feed, for: address, bytes: bytes) { [self] in
      reader.withLock { $0.feed(piece) + (isLast ? $0.finish() : []) }
    }
  }

  /// The properties and the format of the feed, as far as it was read.
  var end: (properties: FeedProperties, format: FeedFormat?) { reader.withLock { ($0.properties, $0.format) } }
}
