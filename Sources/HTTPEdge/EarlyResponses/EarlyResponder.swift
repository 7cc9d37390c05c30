package import Logging
package import NIOCore
package import NIOHTTP1

/// Answers requests before the router, on the event loop of their connection. It must not block.
package protocol EarlyResponder: Sendable {
  /// The number of the state from which responses are made. While it is the same, a response is valid for a second.
  var generation: Int { get }

  /// Looks in memory for the response to a request, once for each request.
  ///
  /// - Parameter isNew: Whether the request might be held. One that asks to be is passed on then.
  /// - Returns: nil to pass the request on.
  func lookUp(_ request: PlainRequest, isNew: Bool) -> EarlyLookup?

  /// Returns why a request is held until later; nil to answer it at once.
  func deferral(of head: HTTPRequestHead) -> EarlyDeferral?

  /// Called by each connection when the server shuts down, before its waits are ended.
  func beginShutdown()
}

/// The result of a look for a response in memory.
package enum EarlyLookup: Sendable {
  /// The response, byte for byte the router's except for `Date`.
  case response(EarlyResponse)
  /// The response is not in memory, and is sent without the router once it is loaded. The closure begins the load for the
  /// decoded request, with the address of the connection's peer and its logger.
  case load(@Sendable (HTTPRequestHead, SocketAddress?, Logger) -> any EarlyWait)
}

/// A response from memory.
package struct EarlyResponse: Sendable {
  package let response: StoredResponse
  /// Counts the response each time that it is sent.
  ///
  /// `isRepeated` is whether the responder was not asked again.
  package let count: @Sendable (_ isRepeated: Bool) -> Void

  package init(_ response: StoredResponse, count: @escaping @Sendable (_ isRepeated: Bool) -> Void = { _ in }) {
    self.response = response
    self.count = count
  }
}

/// A reason to hold a request, and all input after it on its connection.
package enum EarlyDeferral {
  /// The request waits for an event, and is then answered like any other, or with the response that the event brings.
  case wait(any EarlyWait)
  /// The request is answered with a stream, after all earlier requests of its connection.
  case stream(any StreamedResponse)
}

/// The wait of a request for an event.
package protocol EarlyWait: Sendable {
  /// Starts to wait.
  ///
  /// - Parameter release: Called on the event loop, once or more often, when the wait is over, with the response if
  ///   there is one.
  /// - Returns: A closure that ends the wait without an event; nil if the event has happened already.
  func start(
    on eventLoop: any EventLoop, release: @escaping @Sendable (StoredResponse?) -> Void
  ) -> (@Sendable () -> Void)?
}

/// The body of a response of unlimited length, such as a stream of events. All calls are on the event loop of its
/// connection.
package protocol StreamedResponse: AnyObject {
  /// Sends the head and the first bytes.
  ///
  /// - Returns: Whether the response has begun. If not, the request is passed on to the router.
  func open(_ stream: ResponseStream) -> Bool

  /// Continues after backpressure: the client accepts bytes again.
  func becomeWritable()

  /// Handles the end of the connection: the server shuts down, or the client sends no more. The last bytes can be sent.
  func end()

  /// Releases resources once nothing more can be sent. Called once for each response that has begun.
  func close()
}
