package import HTTPTypes
package import NIOCore
package import NIOHTTP1
import Synchronization

/// The settings and services that all connections of a server share.
package struct EdgeServices: Sendable {
  /// The timeouts and byte limits of each connection.
  package var limits = ConnectionLimits()
  /// The rate limits of client addresses; nil for none.
  package var addressLimits: AddressLimits?
  /// Answers requests before the router.
  package var responder: any EarlyResponder
  /// Whether plain requests are answered before the decoder.
  package var recognizesRequests = true
  /// Makes the response to a refused message.
  ///
  /// The head is nil if none could be read.
  package var refusalResponse: @Sendable (RequestRefusal, HTTPRequestHead?) -> RefusalResponse
  /// Called for each refusal, with its status and the length of its body in bytes.
  package var onRefusal: @Sendable (_ status: Int, _ bytes: Int) -> Void = { _, _ in }
  /// Called for each request that exceeds the rate limit of its address, before `onRefusal`.
  package var onLimitedRequest: @Sendable () -> Void = {}
  /// Returns the executor of the handler of a request; nil if the handler computes so little that it runs on the thread of its
  /// event loop. It must not block.
  package var executor: @Sendable (HTTPRequest) -> (any TaskExecutor)? = { _ in globalConcurrentExecutor }
  /// The open connections.
  package var connections = ConnectionCount()
  /// Called with each new connection on its event loop, once its handlers are in place.
  package var onConnection: (@Sendable (any Channel) -> Void)?
  let date = HTTPDateClock()
  private let recentResponses = LoopResponses()

  /// Returns the responses that an event loop has sent recently. Called on the loop.
  package func recentResponses(on eventLoop: any EventLoop) -> RecentResponses {
    recentResponses.loops.withLock { loops in
      let id = ObjectIdentifier(eventLoop)
      if let known = loops[id] { return known }
      let new = NIOLoopBound(RecentResponses(date), eventLoop: eventLoop)
      loops[id] = new
      return new
    }.value
  }

  private final class LoopResponses: Sendable {
    let loops = Mutex<[ObjectIdentifier: NIOLoopBound<RecentResponses>]>([:])
  }

  package init(
    responder: any EarlyResponder,
    refusalResponse: @escaping @Sendable (RequestRefusal, HTTPRequestHead?) -> RefusalResponse
  ) {
    self.responder = responder
    self.refusalResponse = refusalResponse
  }
}
