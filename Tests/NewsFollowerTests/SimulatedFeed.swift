import FaultServer
import Foundation

/// A feed of the simulation, which publishes entries at regular times, and serves them in its own way.
struct SimulatedFeed: Sendable {
  /// The number of entries in a document.
  private static let window = 16

  let number: Int
  let kind: Kind
  /// The time between two entries in seconds.
  let cadence: Double
  let start: Date

  var path: String { "/\(number)" }

  /// The times of all entries until a time, oldest first. The first ones are from before the start.
  func publications(until now: Date) -> [(guid: String, date: Date)] {
    let phase = cadence * Double(number % 97) / 97
    let count = Int(((now.timeIntervalSince(start) + phase) / cadence).rounded(.down))
    return (-Self.window...max(count, -Self.window)).map { index in
      ("\(number)-\(index)", start.addingTimeInterval(cadence * Double(index) - phase))
    }
  }

  /// Returns the feed as RSS at a time.
  func rss(_ now: Date, hasDates: Bool = true) -> String {
    let items = publications(until: now).suffix(Self.window).reversed().map { entry in
      """
      <item><guid>\(entry.guid)</guid><title>Entry \(entry.guid)</title>\
      \(hasDates ? "<dc:date>\(entry.date.formatted(.iso8601))</dc:date>" : "")</item>
      """
    }
    return """
      <rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">
      <channel><title>Feed \(number)</title>\(kind.channel)<link>https://feed\(number).example/</link>
      \(items.joined(separator: "\n"))</channel></rss>
      """
  }

  func atom(_ now: Date) -> String {
    let entries = publications(until: now).suffix(Self.window).reversed().map { entry in
      """
      <entry><id>\(entry.guid)</id><title>Entry \(entry.guid)</title><updated>\(entry.date.formatted(.iso8601))</updated></entry>
      """
    }
    return """
      <feed xmlns="http://www.w3.org/2005/Atom"><id>urn:feed:\(number)</id><title>Feed \(number)</title>
      \(entries.joined(separator: "\n"))</feed>
      """
  }

  func jsonFeed(_ now: Date) -> String {
    let items = publications(until: now).suffix(Self.window).reversed().map { entry in
      """
      {"id": "\(entry.guid)", "title": "Entry \(entry.guid)", "content_text": "Text",
        "date_published": "\(entry.date.formatted(.iso8601))"}
      """
    }
    return """
      {"version": "https://jsonfeed.org/version/1.1", "title": "Feed \(number)",
      "home_page_url": "https://feed\(number).example/", "items": [\(items.joined(separator: ","))]}
      """
  }

  /// Returns the identity of the current document.
  func tag(_ now: Date) -> String { "\"\(publications(until: now).count)\"" }

  /// The way in which a feed is served.
  struct Kind: Sendable {
    /// The circumstances of a request.
    struct Call: Sendable {
      let feed: SimulatedFeed
      let request: FaultRequest
      let now: Date
      let port: Int
      /// The number of earlier requests for the path.
      let index: Int
    }

    /// The expectation.
    enum Role: Sendable {
      /// All entries arrive in time.
      case good
      /// All entries arrive, but nothing is said of the time.
      case slow
      /// No poll succeeds.
      case bad
      /// Polls do not end until the test releases them, and then fail.
      case stuck
    }

    var name: String
    var role = Role.good
    /// The host name. `rebinding.example` and `private.example` resolve to addresses that are not public.
    var host = "feeds.example"
    /// The time in seconds before which no second request may follow, by the feed's own hints.
    var hint: Double = 0
    /// The hours in UTC without requests.
    var skippedHours: Set<Int> = []
    var skippedDay: Int?
    /// Whether one poll may request the same address several times.
    var mayRepeat = false
    /// The elements of the channel.
    var channel = ""
    /// The response, and the time in seconds for which it asks to be left alone.
    var respond: @Sendable (Call) -> (FaultResponse, Double)
  }
}

extension SimulatedFeed.Kind.Call {
  /// The plain response.
  var page: FaultResponse {
    FaultResponse(headers: [("Content-Type", "application/rss+xml")], body: Data(feed.rss(now).utf8))
  }
}
