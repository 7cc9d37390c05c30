import Foundation
import HTTPConditions
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import News
import NewsStore

/// Answers `/v1/events` with a stream that lasts until either side closes it. It is the last answer of its connection:
/// input after the request is not read while the stream lasts.
///
/// A slow reader is not sent more than it takes: missed changes become one event once it reads again. A reader that has
/// taken nothing from one heartbeat to the next is sent the end.
final class EventStreamHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private final class Stream {
    let scope: Scope
    let began = ContinuousClock.now
    var epoch: String
    /// The version up to which the client has been told everything.
    var told: Int
    var ticket: EventStreams.Listening.Ticket?
    /// Something was not sent because the client does not read.
    var isBehind = false
    /// It did not read at the last heartbeat either.
    var isStalled = false
    var bytes = 0

    init(scope: Scope, epoch: String, told: Int) {
      self.scope = scope
      self.epoch = epoch
      self.told = told
    }
  }

  private let streams: EventStreams
  private let logger: Logger
  /// Requests that were passed on, and whose answers are not written yet.
  private var owed = 0
  /// A request for a stream, with its head, that waits for its end and for earlier answers.
  private var opening: (head: HTTPRequestHead, opening: EventStreams.Opening, isWhole: Bool)?
  private var stream: Stream?
  private var isOver = false
  /// The server is about to end, or the client has said that it sends no more.
  private var isClosing = false
  private var wantsToRead = false

  /// How long the last bytes of a stream may take to leave.
  private static let farewell = TimeAmount.seconds(10)

  init(streams: EventStreams, logger: Logger) {
    self.streams = streams
    self.logger = logger
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard stream == nil, !isOver, opening?.isWhole != true else { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      if !isClosing, let opening = streams.opening(head) {
        self.opening = (head, opening, false)
        return
      }
      owed += 1
    case .body: if opening != nil { return }
    case .end:
      if opening != nil {
        opening?.isWhole = true
        return openIfDue(context)
      }
    }
    context.fireChannelRead(data)
  }

  /// Backpressure: input after a request for a stream is never answered, so it is left to the socket, which is bounded.
  /// SwiftNIO reports the end of the input all the same.
  func read(context: ChannelHandlerContext) {
    if stream != nil || opening?.isWhole == true { wantsToRead = true } else { context.read() }
  }

  private func resumeReading(_ context: ChannelHandlerContext) {
    guard wantsToRead else { return }
    wantsToRead = false
    context.read()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    context.write(data, promise: promise)
    if case .end = unwrapOutboundIn(data) {
      owed -= 1
      openIfDue(context)
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if let stream, stream.isBehind, context.channel.isWritable, let state = streams.present {
      advance(EventStreams.News(state: state), context)
    }
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent, ChannelEvent.inputClosed:
      isClosing = true
      end(context)
    default: break
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // An answer to what comes behind would be an event to the client.
    if stream != nil { end(context) } else if !isOver { context.fireErrorCaught(error) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    leave()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { leave() }
}

extension EventStreamHandler {
  private func openIfDue(_ context: ChannelHandlerContext) {
    guard owed == 0, let (head, opening, isWhole) = opening, isWhole else { return }
    self.opening = nil
    guard let state = streams.present, let current = state.token(of: opening.scope) else {
      return passOn(head, context)
    }
    let resumption = opening.token.flatMap { state.resumption(of: $0, in: opening.scope) }
    let stream = Stream(scope: opening.scope, epoch: state.moment.epoch, told: resumption ?? state.moment.version)
    self.stream = stream
    context.write(wrapOutboundOut(.head(Self.head(version: head.version))), promise: nil)
    // An event without data is none to the client, but names where it is.
    let start = resumption == nil ? current : opening.token ?? current
    send(ByteBuffer(string: "retry: \(streams.retry)\nid: \(start)\n\n"), context)
    if opening.isMalformed || opening.token != nil && resumption == nil { resync(to: current, context) }

    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    stream.ticket = streams.add(
      EventStreams.Stream(
        eventLoop: context.eventLoop,
        advance: { news in bound.value.handler.advance(news, bound.value.context) },
        beat: { bound.value.handler.beat(bound.value.context) }),
      in: stream.scope, after: stream.told)
    // Catch up on changes made before the registration.
    if let state = streams.present { advance(EventStreams.News(state: state), context) }
    if isClosing { end(context) }
  }

  /// Leaves a request to the router. Requests behind it may have been dropped, so its answer is the last one.
  private func passOn(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    var head = head
    head.headers.replaceOrAdd(name: "Connection", value: "close")
    owed += 1
    context.fireChannelRead(wrapInboundOut(.head(head)))
    context.fireChannelRead(wrapInboundOut(.end(nil)))
    context.fireChannelReadComplete()
    resumeReading(context)
  }

  private static func head(version: HTTPVersion) -> HTTPResponseHead {
    var fields: HTTPFields = [
      .contentType: "text/event-stream", .cacheControl: CachePolicy.notStored, .connection: "close",
      .date: HTTPDate.format(Date()), .requestID: RequestID().description, .accelBuffering: "no",
    ]
    CrossOrigin.add(to: &fields)
    return HTTPResponseHead(version: version, status: .ok, headers: HTTPHeaders(fields))
  }

  private func advance(_ news: EventStreams.News, _ context: ChannelHandlerContext) {
    guard let stream else { return }
    guard context.channel.isWritable else {
      stream.isBehind = true
      return
    }
    stream.isBehind = false
    let state = news.state
    if state.moment.epoch != stream.epoch, !goOn(stream, in: state) {
      stream.told = state.moment.version
      if let token = state.token(of: stream.scope) { resync(to: token, context) }
      return
    }
    guard state.moment.version > stream.told else { return }
    if let event = news.event, event.after == stream.told {
      send(event.bytes, context)
    } else if let event = state.event(in: stream.scope, after: stream.told) {
      send(event.serverSent, context)
    }
    stream.told = state.moment.version
  }

  /// Takes a stream over into another history.
  ///
  /// - Returns: false if that does not have all that the client was told.
  private func goOn(_ stream: Stream, in state: VersionState) -> Bool {
    let told = SyncToken(epoch: stream.epoch, scope: stream.scope, version: stream.told)
    stream.epoch = state.moment.epoch
    return state.resumption(of: told, in: stream.scope) != nil
  }

  /// Sends `resync`: the changes up to the token are unavailable.
  private func resync(to token: SyncToken, _ context: ChannelHandlerContext) {
    send(ByteBuffer(string: "id: \(token)\nevent: resync\ndata: {\"token\":\"\(token)\"}\n\n"), context)
  }

  private func beat(_ context: ChannelHandlerContext) {
    guard let stream else { return }
    if context.channel.isWritable {
      stream.isStalled = false
      send(ByteBuffer(string: ":\n\n"), context)
    } else if stream.isStalled {
      end(context)
    } else {
      stream.isStalled = true
    }
  }

  private func send(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
    stream?.bytes += bytes.readableBytes
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
  }

  /// Says when to come again, and ends the stream and its connection.
  private func end(_ context: ChannelHandlerContext) {
    guard stream != nil else { return }
    send(ByteBuffer(string: "retry: \(streams.retry)\n\n"), context)
    leave()
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    context.close(mode: .output, promise: nil)
    // `LingeringClose` discards a bounded number of bytes.
    resumeReading(context)
    context.eventLoop.assumeIsolated().scheduleTask(in: Self.farewell) { context.close(promise: nil) }
  }

  private func leave() {
    guard let stream = stream.take() else { return }
    isOver = true
    if let ticket = stream.ticket { streams.remove(ticket) }
    streams.metrics.count(
      route: "/v1/events", method: .get, status: 200, bytes: stream.bytes, duration: .now - stream.began)
    logger.debug("stream ended", metadata: ["scope": "\(stream.scope)", "bytes": "\(stream.bytes)"])
  }
}
