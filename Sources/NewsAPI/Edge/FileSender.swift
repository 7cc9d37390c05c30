import MediaFiles
import NIOCore
import NIOHTTP1

/// Sends files as bodies. The framework's bodies are buffers, which would take each byte twice through this process;
/// here the kernel hands them from the file to the socket (sendfile(2)), as fast as the client takes them.
///
/// It stands between the router and what counts answers. The handler writes a head with the length and the end, and
/// says by an event in between what goes there. Then its part is done: a client that stops reading is left to
/// `TimeLimits`, as after any other answer.
final class FileSender: ChannelOutboundHandler, RemovableChannelHandler {
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// The event that gives the bytes of a file to the answer that ends next.
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
      // The file closes its descriptor, and is kept until here for that.
      _ = try? handle.takeDescriptorOwnership()
      _ = file
    }
    context.write(wrapOutboundOut(.body(.fileRegion(region))), promise: sent)
  }
}
