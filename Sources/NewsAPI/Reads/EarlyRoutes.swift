import HTTPEdge
import NIOHTTP1

/// Answers requests before the router: repeated reads from memory, and by path those that wait or become streams.
struct EarlyRoutes: EarlyResponder {
  /// A path whose requests may be held.
  struct Route: Sendable {
    let path: String
    /// Returns why a request is held; nil to answer it like any other.
    let deferral: @Sendable (HTTPRequestHead) -> EarlyDeferral?
  }

  let repeatedReads: RepeatedReads
  let deferrals: [Route]
  let onShutdown: @Sendable () -> Void

  func storedResponse(to head: HTTPRequestHead) -> StoredResponse? { repeatedReads.response(to: head) }

  func deferral(of head: HTTPRequestHead) -> EarlyDeferral? {
    deferrals.first { head.uri.hasPath($0.path) }.flatMap { $0.deferral(head) }
  }

  func beginShutdown() { onShutdown() }
}

extension String {
  /// Whether a target in origin form has a path.
  fileprivate func hasPath(_ path: String) -> Bool {
    guard utf8.starts(with: path.utf8) else { return false }
    let rest = utf8.dropFirst(path.utf8.count).first
    return rest == nil || rest == UInt8(ascii: "?")
  }
}
