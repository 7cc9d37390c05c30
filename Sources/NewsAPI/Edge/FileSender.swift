import MediaFiles
import NIOCore
import NIOHTTP1

/// Sends files as response bodies. The framework's bodies are buffers, which would copy each byte twice in this
/// process. Here the kernel copies the bytes from the file to the socket (sendfile(2)), as fast as the client reads
/// them.
///
/// The handler is in the pipeline between the router and the handlers that count responses. A request handler writes a
/// head with the length, and the end. An event in between names the bytes of the body. The request handler is then
/// done: `TimeLimits` handles a client that stops reading, as after any other response.
final class FileSender: ChannelOutboundHandler, RemovableChannelHandler {
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// The event that adds a range of a file, in bytes, to the response that ends next.
  struct Body: Sendable {
    let file: MediaFile
    let range: Range<Int>
  }

  private var body: Body?

  func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
    guard let body = event as? Body else { return context.triggerUserOutboundEvent(event, promise: promise) }
    self.body = body
    promise?.succeed()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data), let body = body.take() { send(body, context) }
    context.write(data, promise: promise)
  }

  private func send(_ body: Body, _ context: ChannelHandlerContext) {
    let handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: body.file.descriptor)
    let region = FileRegion(
      fileHandle: handle, readerIndex: body.range.lowerBound, endIndex: body.range.upperBound)
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.whenComplete { [file = body.file] _ in
      // `MediaFile` closes its descriptor when it is released, so it is retained until here.
      _ = try? handle.takeDescriptorOwnership()
      _ = file
    }
    context.write(wrapOutboundOut(.body(.fileRegion(region))), promise: sent)
  }
}
