import Foundation
import HTTPConditions
import HTTPEdge
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import News
import NewsStore

/// The response to a request for `/v1/events`: a stream of server-sent events until either side closes it.
///
/// A client that reads slowly is sent no more than it accepts: the changes that it has missed become one event once it
/// reads again. The stream ends for a client that has accepted nothing between two heartbeats.
final class EventStream: StreamedResponse {
  private let streams: EventStreams
  private let request: EventStreams.Opening
  private let started = ContinuousClock.now
  private var connection: ResponseStream?
  private var ticket: EventStreams.Listeners.Ticket?
  /// The epoch and version up to which the client knows all changes.
  private var epoch = ""
  private var version = 0
  /// Whether an event was not sent because the client does not read.
  private var isBehind = false
  /// Whether the client did not read at the last heartbeat either.
  private var isStalled = false
  private var isClosed = false
  private var bytes = 0

  init(_ request: EventStreams.Opening, streams: EventStreams) {
    self.request = request
    self.streams = streams
  }

  func open(_ connection: ResponseStream) -> Bool {
    guard let state = streams.state, let current = state.token(of: request.scope) else { return false }
    let resumption = request.token.flatMap { state.resumption(of: $0, in: request.scope) }
    self.connection = connection
    epoch = state.feedVersion.epoch
    version = resumption ?? state.feedVersion.version
    connection.begin(Self.fields)
    // A client ignores an event without data, but keeps its id.
    let start = resumption == nil ? current : request.token ?? current
    send(ByteBuffer(string: "retry: \(streams.retryInterval)\nid: \(start)\n\n"))
    if request.isMalformed || request.token != nil && resumption == nil { resync(to: current) }
    listen(on: connection)
    // Catch up on changes made before the registration.
    if let state = streams.state { advance(EventStreams.Update(state: state)) }
    return true
  }

  private func listen(on connection: ResponseStream) {
    let bound = NIOLoopBound(self, eventLoop: connection.eventLoop)
    let listener = EventStreams.Listener(
      eventLoop: connection.eventLoop, advance: { bound.value.advance($0) },
      sendHeartbeat: { bound.value.sendHeartbeat() })
    let ticket = streams.add(listener, in: request.scope, after: version)
    // A write may have found out that the connection is closed.
    if isClosed { streams.remove(ticket) } else { self.ticket = ticket }
  }

  private static var fields: HTTPFields {
    var fields: HTTPFields = [
      .contentType: "text/event-stream", .cacheControl: CachePolicy.notStored, .date: HTTPDate.format(Date()),
      .requestID: RequestID().description, .accelBuffering: "no",
    ]
    CORS.add(to: &fields)
    return fields
  }

  func becomeWritable() {
    if isBehind, let state = streams.state { advance(EventStreams.Update(state: state)) }
  }

  func end() {
    send(ByteBuffer(string: "retry: \(streams.retryInterval)\n\n"))
    connection?.end()
  }

  func close() {
    isClosed = true
    if let ticket = ticket.take() { streams.remove(ticket) }
    streams.metrics.count(
      route: APIPath.events, method: .get, status: 200, bytes: bytes, duration: .now - started)
    connection?.logger.debug("stream ended", metadata: ["scope": "\(request.scope)", "bytes": "\(bytes)"])
  }

  /// Sends the changes up to a state.
  private func advance(_ update: EventStreams.Update) {
    guard let connection, !isClosed else { return }
    guard connection.isWritable else {
      isBehind = true
      return
    }
    isBehind = false
    let state = update.state
    if state.feedVersion.epoch != epoch, !goOn(in: state) {
      version = state.feedVersion.version
      if let token = state.token(of: request.scope) { resync(to: token) }
      return
    }
    guard state.feedVersion.version > version else { return }
    if let event = update.event, event.after == version {
      send(event.bytes)
    } else if let event = state.event(in: request.scope, after: version) {
      send(event.serverSent)
    }
    version = state.feedVersion.version
  }

  /// Moves the stream to another epoch.
  ///
  /// - Returns: Whether the epoch contains all changes that the client knows.
  private func goOn(in state: FeedSnapshot) -> Bool {
    let known = SyncToken(epoch: epoch, scope: request.scope, version: version)
    epoch = state.feedVersion.epoch
    return state.resumption(of: known, in: request.scope) != nil
  }

  /// Sends `resync`: the changes up to the token are unavailable.
  private func resync(to token: SyncToken) {
    send(ByteBuffer(string: "id: \(token)\nevent: resync\ndata: {\"token\":\"\(token)\"}\n\n"))
  }

  private func sendHeartbeat() {
    guard let connection, !isClosed else { return }
    if connection.isWritable {
      isStalled = false
      send(ByteBuffer(string: ":\n\n"))
    } else if isStalled {
      end()
    } else {
      isStalled = true
    }
  }

  private func send(_ buffer: ByteBuffer) {
    bytes += buffer.readableBytes
    connection?.send(buffer)
  }
}
