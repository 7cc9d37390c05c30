package import NIOCore
package import NIOHTTP1

/// Sends files as response bodies. The framework's bodies are buffers, which would copy each byte twice in this
/// process. Here the kernel copies the bytes from the file to the socket (sendfile(2)), as fast as the client reads
/// them.
///
/// The handler is in the pipeline between the router and `ConnectionHandler`. A request handler writes a head with the
/// length, and the end. An event in between names the bytes of the body. The request handler is then done: the
/// connection's deadline applies to a client that stops reading, as after any other response.
package final class FileSender: ChannelOutboundHandler, RemovableChannelHandler {
  package typealias OutboundIn = HTTPServerResponsePart
  package typealias OutboundOut = HTTPServerResponsePart

  /// The event that adds a range of a file to the response that ends next.
  package struct Body: Sendable {
    let descriptor: CInt
    let owner: any AnyObject & Sendable
    let range: Range<Int>

    /// - Parameters:
    ///   - descriptor: The descriptor of the open file.
    ///   - owner: The object that closes the descriptor when it is released. It is retained until the bytes are sent.
    ///   - range: The range in bytes.
    package init(descriptor: CInt, owner: any AnyObject & Sendable, range: Range<Int>) {
      self.descriptor = descriptor
      self.owner = owner
      self.range = range
    }
  }

  private var body: Body?

  package func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
    guard let body = event as? Body else { return context.triggerUserOutboundEvent(event, promise: promise) }
    self.body = body
    promise?.succeed()
  }

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data), let body = body.take() { send(body, context) }
    context.write(data, promise: promise)
  }

  private func send(_ body: Body, _ context: ChannelHandlerContext) {
    // The other initialiser is deprecated in favour of NIOFileSystem, whose handles `FileRegion` does not accept.
    let handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: body.descriptor)
    let region = FileRegion(
      fileHandle: handle, readerIndex: body.range.lowerBound, endIndex: body.range.upperBound)
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.whenComplete { [owner = body.owner] _ in
      // The owner closes the descriptor.
      _ = try? handle.takeDescriptorOwnership()
      _ = owner
    }
    context.write(wrapOutboundOut(.body(.fileRegion(region))), promise: sent)
  }
}
