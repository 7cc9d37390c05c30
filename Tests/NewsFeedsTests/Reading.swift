import Foundation
import News
import NewsFeeds
import Testing

/// Reads a whole text as one file.
func events(_ text: String) -> [FeedEvent] {
  events(Data(text.utf8))
}

/// Reads bytes in pieces of the given size, by default all at once.
func events(_ bytes: Data, pieces: Int = .max, limits: FeedReader.Limits = .init()) -> [FeedEvent] {
  let reader = FeedReader(limits: limits)
  var events: [FeedEvent] = []
  var rest = bytes[...]
  while !rest.isEmpty {
    events += reader.feed(Data(rest.prefix(pieces)))
    rest = rest.dropFirst(pieces)
  }
  return events + reader.finish()
}

extension [FeedEvent] {
  var entries: [FeedEntry] { compactMap { if case .entry(let entry) = $0 { entry } else { nil } } }
  /// The descriptions of all events that are not entries.
  var complaints: [String] {
    compactMap {
      switch $0 {
      case .entry: nil
      case .newsroom(_, let position): "newsroom \(position)"
      case .skipped(let problem): "skipped \(problem)"
      case .reduced(let problem): "reduced \(problem)"
      case .noted(let problem): "noted \(problem)"
      case .failed(let problem): "failed \(problem)"
      }
    }
  }
}

/// Returns the only entry of a text that must cause no complaints.
func entry(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> FeedEntry {
  let events = events(text)
  #expect(events.complaints == [], sourceLocation: sourceLocation)
  #expect(events.entries.count == 1, sourceLocation: sourceLocation)
  return try #require(events.entries.first, sourceLocation: sourceLocation)
}

/// Returns an RSS 2.0 feed with the given items.
func rss(_ items: String, channel: String = "<link>https://example.org/</link>") -> String {
  """
  <?xml version="1.0" encoding="UTF-8"?>
  <rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
    xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/">
  <channel><title>Example</title>\(channel)
  \(items)
  </channel></rss>
  """
}

/// Returns an Atom feed with the given entries.
func atom(_ entries: String, attributes: String = "", head: String = "<id>urn:example:feed</id>") -> String {
  """
  <feed xmlns="http://www.w3.org/2005/Atom" \(attributes)>\(head)<updated>2026-01-01T00:00:00Z</updated>
  \(entries)
  </feed>
  """
}

/// 20 August 2026, 13:45 UTC.
let august = Date(timeIntervalSince1970: 1_787_233_500)
