import Foundation
import HTTPTypes
import NewsFeeds
import NewsStore
import OutgoingHTTP

/// The content of a response, read as a feed.
struct FeedReading {
  private static let pieceBytes = 1 << 16

  var isFeed = false
  var properties = FeedProperties()
  /// The dates of the entries that name one.
  var dates: [Date] = []
  var counts = ImportCounts()
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
    let reader = FeedReader(
      FeedReader.Options(
        address: response.url.text, contentType: response.fields[.contentType],
        missingDate: .firstSeen(at: start)))
    var reading = FeedReading()
    var skipped: String?
    var rest = response.body[...]
    repeat {
      var events = reader.feed(Data(rest.prefix(pieceBytes)))
      rest = rest.dropFirst(pieceBytes)
      if rest.isEmpty { events += reader.finish() }
      for event in events {
        switch event {
        case .entry(let entry):
          reading.isFeed = true
          if !entry.isDateFirstSeen { reading.dates.append(entry.date) }
          guard try await add(entry) else { return nil }
        case .skipped(let problem): skipped = skipped ?? "\(problem)"
        case .failed(let problem): reading.problem = "\(problem)"
        case .newsroom, .reduced, .noted: break
        }
      }
    } while !rest.isEmpty
    reading.properties = reader.properties
    // Any JSON object may be a line of JSON Lines, also the message of an error.
    if let format = reader.format, format != .jsonLines { reading.isFeed = true }
    if !reading.isFeed { reading.problem = reading.problem ?? skipped }
    return reading
  }
}
