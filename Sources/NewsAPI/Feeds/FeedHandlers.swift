import HTTPConditions
import HTTPEdge
import HTTPTypes
import Hummingbird
import News
import NewsFeeds
import NewsStore

/// The handlers of feeds for feed readers.
struct FeedHandlers: Sendable {
  let reads: PublicReads
  let proxies: TrustedProxies

  /// Responds with a document, or with the changes since the one that a client has.
  func feed(_ route: PublicRoute, _ request: Request, _ context: APIContext) async throws -> Response {
    guard let feeds = reads.feeds else { throw ProblemError.feedsNotConfigured }
    let read = try route.read(request, context)
    if let changes = changes(for: request, context, read, feeds) {
      do {
        return try await difference(reads.response(to: request, of: changes))
      } catch StoreError.tokenExpired {
        // The whole document has all that is left of the changes.
      }
    }
    return try await reads.response(to: request, of: read)
  }

  /// The read of the changes since the document that a client has (RFC 3229); nil if it asks for the whole document, or if a
  /// proxy may have replaced its `If-None-Match` by that of another document.
  private func changes(
    for request: Request, _ context: APIContext, _ read: PublicRead, _ feeds: FeedPublisher
  ) -> PublicRead? {
    guard request.method == .get, var feed = read.view as? FeedView, feed.part == .current,
      request.headers.acceptsFeedManipulation, request.headers[.via] == nil,
      context.peer.map({ !proxies.trusts($0) }) ?? true,
      case .tags(let tags) = EntityTagList(fields: request.headers, name: .ifNoneMatch)
    else { return nil }
    let fingerprint = feeds.fingerprint(of: feed.format)
    let known = tags.compactMap(FeedTag.init).filter {
      $0.fingerprint == fingerprint && $0.token.scope == feed.scope.fingerprint
    }
    guard let since = known.map(\.token).max(by: { $0.version < $1.version }) else { return nil }
    feed.part = .changes(since: since)
    return PublicRead(feed)
  }

  /// Turns the response with the changes into one of RFC 3229. A response with the whole document is left as it is.
  private func difference(_ response: Response) -> Response {
    guard response.headers[.instanceManipulation] != nil else { return response }
    var response = response
    guard response.status == .ok else {
      response.headers[.instanceManipulation] = nil
      return response
    }
    response.status = HTTPResponse.Status(code: 226, reasonPhrase: "IM Used")
    // A cache that knows RFC 3229 may store the response.
    response.headers[.cacheControl] = "no-store, im"
    response.headers[.vary] = Vary(.acceptInstanceManipulation, .ifNoneMatch, .acceptEncoding).fieldValue
    return response
  }
}

extension HTTPFields {
  /// Whether `A-IM` has `feed` with a quality above 0 (RFC 3229 section 10.5.3).
  fileprivate var acceptsFeedManipulation: Bool {
    self[values: .acceptInstanceManipulation].contains { value in
      value.utf8.count <= 256
        && value.split(separator: ",").contains { element in
          let parts = element.split(separator: ";").map { $0.filter { !$0.isWhitespace }.lowercased() }
          let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) }
          return parts.first == FeedTag.manipulation && quality ?? 1 > 0
        }
    }
  }
}
