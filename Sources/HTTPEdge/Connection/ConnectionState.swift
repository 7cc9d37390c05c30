import DequeModule
package import NIOHTTP1

/// The state of an HTTP/1.1 connection of a server (RFC 9112 section 9), without input and output.
///
/// It decides which input belongs to a request, which response ends the connection, and when a refusal may be sent:
/// requests arrive one after the other, and their responses are sent in the same order.
///
///     var state = ConnectionState()
///     state.begin(head, bucket: nil)
///     if state.end() { /* pass the end of the request on */ }
///     let isLast = state.beginResponse()
///     switch state.endResponse().next { … }
package struct ConnectionState {
  /// The state of the input.
  private enum Input {
    /// Between two requests. Can transition to `body`, `early` and `finished`.
    case ready
    /// In a request that the router has. Can transition to `ready`, and to `finished` after the last request.
    case body(Body)
    /// In a request that is answered before the router (its response is pending), or that is about to be held. Can
    /// transition to `ready`, `held` and `finished`.
    case early(isPending: Bool)
    /// A complete request is held: it waits for an event, or for its turn. Can transition to `ready` and `finished`.
    case held
    /// The last request is complete, or the next one was refused. Nothing is read until its response has been sent. Can
    /// transition to `discarding`.
    case finished
    /// The last response was sent. Input is read and discarded, so that the client receives the response.
    case discarding
  }

  /// The body of a request that the router has.
  private struct Body {
    /// Whether no other request follows on the connection.
    var isLast: Bool
    /// Whether the client sends the body only after a 100 (Continue).
    var expectsContinue: Bool
    /// Whether the handler of the request reads the body.
    var isBeingRead = false
    /// Whether the body has ended too early. Nothing more is read then.
    var isBroken = false
    /// The reason why it has ended too early, until the handler of the request reads the body. To another handler it
    /// would be the end of the connection, in the middle of its response.
    var failure: (any Error)?
  }

  /// The action after a response.
  package enum Next: Equatable, Sendable {
    /// The connection continues.
    case proceed
    /// The refusal of the next request is due.
    case refuse
    /// The output of the connection ends.
    case close
  }

  private var input = Input.ready
  /// The requests whose responses have not been sent, each with the bucket that was charged for it.
  private var pending = Deque<RateBucket?>()
  /// Whether a refusal is sent after the pending responses.
  private var hasRefusal = false
  /// Whether the response that is being sent is the last one.
  private var isLastResponse = false
  /// Whether the last response was sent.
  package private(set) var isOver = false
  /// Whether the request that is being received, or the next one, is the last one.
  package private(set) var isDraining = false

  package init() {}

  // MARK: Requests

  /// Whether a new request may begin. Otherwise its head is ignored.
  package var acceptsRequest: Bool { if case .ready = input { true } else { false } }

  /// Whether all earlier requests have been answered.
  package var hasNoPendingResponse: Bool { pending.isEmpty && !hasRefusal }

  /// Whether the input is read. Backpressure: an unread request stays in the socket, which is bounded.
  package var reads: Bool {
    switch input {
    case .ready, .early, .discarding: true
    case .body(let body): !body.isBroken
    case .held, .finished: false
    }
  }

  /// Begins a request that is passed to the router.
  ///
  /// - Parameter bucket: The bucket that was charged for it; nil if it is not limited.
  package mutating func begin(_ head: HTTPRequestHead, bucket: RateBucket?) {
    pending.append(bucket)
    input = .body(Body(isLast: head.isLast || isDraining, expectsContinue: head.expectsContinue))
  }

  /// Makes the request that is being received, or the next one, the last one of the connection.
  package mutating func drain() {
    isDraining = true
    guard case .body(var body) = input else { return }
    body.isLast = true
    input = .body(body)
  }

  /// Begins a request that is answered before the router.
  package mutating func beginEarly(bucket: RateBucket?) {
    pending.append(bucket)
    input = .early(isPending: true)
  }

  /// Begins a request that is held. It has no pending response until it is released.
  package mutating func beginHeld() { input = .early(isPending: false) }

  /// Receives a part of a body.
  ///
  /// - Returns: Whether it belongs to a request that the router has.
  package mutating func receiveBody() -> Bool {
    guard case .body(var body) = input, !body.isBroken else { return false }
    body.expectsContinue = false
    input = .body(body)
    return true
  }

  /// Receives the end of a request.
  ///
  /// - Returns: Whether it belongs to a request that the router has.
  package mutating func end() -> Bool {
    switch input {
    case .body(let body) where !body.isBroken:
      input = body.isLast ? .finished : .ready
      return true
    case .early:
      input = isDraining ? .finished : .ready
      return false
    case .ready, .body, .held, .finished, .discarding: return false
    }
  }

  /// Holds the complete request that was received last.
  package mutating func hold() { input = .held }

  /// Releases the held request, which then begins anew.
  package mutating func release() { if case .held = input { input = .ready } }

  /// Ends the input: the message cannot be a request, or is refused.
  ///
  /// - Returns: Whether the refusal is due at once; nil if the input has ended before, so there is nothing to refuse.
  package mutating func refuse() -> Bool? {
    switch input {
    case .finished, .discarding: return nil
    case .early(isPending: true): pending.removeLast()
    case .ready, .body, .early, .held: break
    }
    input = .finished
    hasRefusal = true
    return pending.isEmpty
  }

  /// Begins a streamed response to the held request. It is the last one of the connection.
  package mutating func beginStream(bucket: RateBucket?) {
    pending.append(bucket)
    input = .finished
    isLastResponse = true
  }

  // MARK: Bodies

  /// Whether the body whose end was passed on last is complete. The framework ends the body of a request at the end of
  /// the connection as well.
  package var isBodyComplete: Bool {
    // Another request has begun after it.
    if pending.count > 1 { return true }
    if case .body = input { return false }
    return true
  }

  /// Records why a body has ended too early.
  ///
  /// - Returns: nil if no request is being received; otherwise whether its handler receives the error now.
  package mutating func failBody(_ error: any Error) -> Bool? {
    guard case .body(var body) = input else { return nil }
    if body.isBroken { return false }
    body.isLast = true
    body.isBroken = true
    body.failure = body.isBeingRead ? nil : error
    input = .body(body)
    return body.isBeingRead
  }

  /// Records that the handler of the only pending request reads the body.
  ///
  /// - Returns: The error with which the body has ended already, and whether the client waits for a 100 (Continue).
  package mutating func startReadingBody() -> (failure: (any Error)?, sendsContinue: Bool) {
    // The handler of an earlier request has its body already.
    guard pending.count == 1, case .body(var body) = input else { return (nil, false) }
    defer { input = .body(body) }
    body.isBeingRead = true
    let result = (body.failure, body.expectsContinue)
    body.failure = nil
    body.expectsContinue = false
    return result
  }

  // MARK: Responses

  /// Begins the response to the first pending request.
  ///
  /// - Returns: Whether the connection ends with it.
  package mutating func beginResponse() -> Bool {
    guard pending.count == 1, !hasRefusal else { return false }
    switch input {
    case .body(var body):
      // The response did not need the rest of the body.
      body.isLast = true
      input = .body(body)
      isLastResponse = true
    case .finished: isLastResponse = true
    case .ready where isDraining:
      input = .finished
      isLastResponse = true
    case .ready, .early, .held, .discarding: isLastResponse = false
    }
    return isLastResponse
  }

  /// The bucket that was charged for the first pending request.
  package var bucket: RateBucket? { pending.first ?? nil }

  /// Ends the response to the first pending request.
  package mutating func endResponse() -> Next {
    _ = pending.popFirst()
    if isLastResponse {
      close()
      return .close
    }
    return hasRefusal && pending.isEmpty ? .refuse : .proceed
  }

  /// Ends the output, after the refusal or the last response.
  package mutating func close() {
    isOver = true
    hasRefusal = false
    pending.removeAll()
    input = .discarding
  }
}
