import Foundation
import Hummingbird
import NIOCore
import NewsAPI
import NewsPages
import NewsStore
import ServiceLifecycle

/// A stream of the live page. It ends with the session, with the server, or with the client.
struct LiveStream: Sendable {
  /// The client has read nothing for some time.
  struct Stalled: Error {}

  let services: ConsoleServices
  let place: LiveStreams.Place
  let client: APIContext

  /// The time after which a browser opens the stream again once it is cut off, in milliseconds.
  private static let retryInterval = 3000

  /// Sends events until the end.
  ///
  /// - Throws: An error of the connection, which is closed then.
  func write(to writer: inout any ResponseBodyWriter, for visit: ConsoleVisit) async throws {
    var visit = visit
    var versions = Versions()
    var stalledSince: ContinuousClock.Instant?
    try await writer.write(ByteBuffer(string: "retry: \(Self.retryInterval)\n\n"))
    repeat {
      guard let current = await self.current(visit) else {
        try await writer.write(ByteBuffer(string: ServerSentEvent.text("-", type: "end")))
        break
      }
      visit = current
      await versions.refresh(from: services.live.source, for: visit)
      // A client that does not read gets the next event instead. A wait for it would hold up the end of the server.
      if client.isWritable {
        stalledSince = nil
        try await writer.write(await event(for: visit, versions.latest))
      } else {
        let start = stalledSince ?? .now
        stalledSince = start
        guard .now - start < services.live.maximumStall else { throw Stalled() }
      }
    } while await pause()
    try await writer.finish(nil)
  }

  private func event(for visit: ConsoleVisit, _ versions: [PublishedVersion]) async -> ByteBuffer {
    let facts = await services.live.source.facts(for: visit, versions: versions, viewers: services.live.count)
    let html = services.pages.part("live-main", LivePage(facts, for: visit, services.pages).values)
    return ByteBuffer(string: ServerSentEvent.text(html))
  }

  /// The visit with the present rights of the key; nil once the session has ended. While the database does not answer,
  /// the rights that are known remain: the page is for just that case, too.
  private func current(_ visit: ConsoleVisit) async -> ConsoleVisit? {
    guard visit.session.expiresAt > Date() else { return nil }
    do {
      return try await services.store.session(visit.session.id).map {
        ConsoleVisit(session: $0, formToken: visit.formToken)
      }
    } catch {
      return visit
    }
  }

  /// Waits for the next event.
  ///
  /// - Returns: false if the server shuts down.
  private func pause() async -> Bool {
    guard !Task.isShuttingDownGracefully else { return false }
    let interval = services.live.interval
    do {
      try await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
    } catch {
      return false
    }
    return !Task.isShuttingDownGracefully
  }

  /// The latest versions, which are read again with each version of the feed.
  private struct Versions {
    private(set) var latest: [PublishedVersion] = []
    private var key: (feed: FeedVersion, access: ItemAccess)?

    mutating func refresh(from source: LiveSource, for visit: ConsoleVisit) async {
      let feed = source.feedVersion
      if let key, let feed, key.feed == feed, key.access == visit.access { return }
      guard let versions = try? await source.versions(for: visit) else { return }
      latest = versions
      key = feed.map { ($0, visit.access) }
    }
  }
}

/// The format of server-sent events (HTML standard, section 9.2.6).
package enum ServerSentEvent {
  /// Returns an event.
  ///
  /// - Parameters:
  ///   - data: The data. Each line end, of any kind, becomes a line feed.
  ///   - type: The type of the event, without line ends; nil for an ordinary one.
  package static func text(_ data: String, type: String? = nil) -> String {
    // A carriage return and a line feed are one character of a string.
    let lines = data.replacing("\r\n", with: "\n").utf8.split(omittingEmptySubsequences: false) {
      $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r")
    }
    let fields = lines.map { "data: \(Substring($0))\n" }.joined()
    return (type.map { "event: \($0)\n" } ?? "") + fields + "\n"
  }
}
