import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import News
import NewsStore

/// Answers public reads: those that have been answered from memory before without the router, all others for its handlers.
final class PublicReads: Sendable {
  private let views: Views
  private let caching: CachePolicy
  /// The policy of responses that clients poll.
  private let polled: CachePolicy
  /// The policy of responses to long polls.
  private let longPoll: CachePolicy
  private let metrics: APIMetrics

  init(views: Views, caching: CachePolicy, polled: CachePolicy, longPoll: CachePolicy, metrics: APIMetrics) {
    self.views = views
    self.caching = caching
    self.polled = polled
    self.longPoll = longPoll
    self.metrics = metrics
  }

  /// Returns the response with the content of a view, or a 304.
  ///
  /// - Parameters:
  ///   - at: The token of a state that must have been reached.
  ///   - isLongPoll: Whether the client waits for a change.
  /// - Throws: `ProblemError`, 412; the errors of the store.
  func response(
    _ key: ViewKey, at: SyncToken? = nil, isLongPoll: Bool = false, to request: Request
  ) async throws -> Response {
    try await views.representation(of: key, at: at, isLongPoll: isLongPoll, for: request.uri.string)
      .response(to: request, policy(of: key, isLongPoll), metrics)
  }

  /// Returns the response that the router would send; nil if it is not in memory.
  func storedResponse(to head: HTTPRequestHead) -> StoredResponse? {
    guard head.method == .GET, head.version == .http1_1, var conditions = Representation.Conditions(head),
      let snapshot = views.store.cachedSnapshot,
      let target = views.targets.meaning(of: head.uri, epoch: snapshot.feedVersion.epoch),
      let representation = views.cached(target.key, in: snapshot)
    else { return nil }
    conditions.isLongPoll = target.isLongPoll
    let policy = policy(of: target.key, target.isLongPoll)
    guard let stored = representation.stored(for: conditions, target: head.uri, policy) else { return nil }
    count(stored, target.key)
    return stored.response
  }

  private func policy(of key: ViewKey, _ isLongPoll: Bool) -> CachePolicy {
    if isLongPoll { return longPoll }
    return key.isFollowed ? polled : caching
  }

  private func count(_ stored: Representation.Stored, _ key: ViewKey) {
    let response = stored.response
    metrics.countEarlyResponse()
    metrics.count(route: key.route, method: .get, status: response.status, bytes: response.bytes, duration: .zero)
    if stored.savedByNotModified > 0 { metrics.countNotModified(sparing: stored.savedByNotModified) }
    if stored.savedByCompression > 0 { metrics.countCompression(sparing: stored.savedByCompression) }
  }
}

extension Representation.Conditions {
  /// Reads the conditions of a plain request.
  ///
  /// - Returns: nil for any other request, which is left to the router.
  fileprivate init?(_ head: HTTPRequestHead) {
    var host: String?
    var size = head.uri.utf8.count
    for (name, value) in head.headers {
      size += name.utf8.count + value.utf8.count + 4
      switch name.utf8.count {
      case 4 where name.isField("host"):
        guard host == nil else { return nil }
        host = value
      case 13 where name.isField("if-none-match"):
        guard ifNoneMatch == nil else { return nil }
        ifNoneMatch = value
      case 15 where name.isField("accept-encoding"):
        guard acceptEncoding == nil else { return nil }
        acceptEncoding = value
      case 17 where name.isField("if-modified-since"):
        guard ifModifiedSince == nil else { return nil }
        ifModifiedSince = value
      case 10 where name.isField("connection"):
        guard value.isField("keep-alive") else { return nil }
      case 6 where name.isField("expect"), 7 where name.isField("upgrade"), 8 where name.isField("if-match"),
        14 where name.isField("content-length"), 17 where name.isField("transfer-encoding"),
        19 where name.isField("if-unmodified-since"):
        return nil
      default: break
      }
    }
    guard size <= EdgeChannel.maximumHeaderBytes, let host, HTTPRequestHead.isAuthority(host) else { return nil }
  }
}

extension String {
  /// Whether the text equals a name in lower case, regardless of its own case.
  fileprivate func isField(_ name: StaticString) -> Bool {
    guard utf8.count == name.utf8CodeUnitCount else { return false }
    var place = name.utf8Start
    for byte in utf8 {
      guard byte | (65...90 ~= byte ? 0x20 : 0) == place.pointee else { return false }
      place += 1
    }
    return true
  }
}
