import Foundation
package import Logging
package import NIOCore

/// Accepts no connections while few descriptors of the process are free (``FreeDescriptors``), and for a while after the
/// machine has run out of descriptors or memory. Clients wait meanwhile in the backlog of the listening socket.
///
/// SwiftNIO's `AcceptBackoffHandler` has a similar purpose, but keeps polling the listening socket, which is readable all
/// the time: that takes a whole core. This handler comes before it in the pipeline of the listening socket.
package final class AcceptBackoff: ChannelInboundHandler {
  package typealias InboundIn = any Channel

  private static let backoff = TimeAmount.milliseconds(200)
  private static let logInterval = TimeAmount.minutes(1)

  private let logger: Logger
  private var isPaused = false
  private var nextLogTime = NIODeadline.now()

  package init(logger: Logger) {
    self.logger = logger
  }

  package func channelReadComplete(context: ChannelHandlerContext) {
    if !isPaused, !FreeDescriptors.suffice(for: .connection) {
      pause(context, "\(FreeDescriptors.limits.current ?? 0) descriptors are too few for more connections")
    }
    context.fireChannelReadComplete()
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode), !isPaused {
      pause(context, "\(error)")
    }
    context.fireErrorCaught(error)
  }

  private func pause(_ context: ChannelHandlerContext, _ reason: String) {
    if nextLogTime <= .now() {
      nextLogTime = .now() + Self.logInterval
      logger.error("new connections are not accepted for now", metadata: ["error": "\(reason)"])
    }
    isPaused = true
    try? context.channel.syncOptions?.setOption(.autoRead, value: false)
    scheduleEnd(context)
  }

  private func scheduleEnd(_ context: ChannelHandlerContext) {
    context.eventLoop.assumeIsolated().scheduleTask(in: Self.backoff) {
      // The server may have stopped listening.
      guard context.channel.isActive else { return }
      guard FreeDescriptors.suffice(for: .connection) else { return self.scheduleEnd(context) }
      self.isPaused = false
      try? context.channel.syncOptions?.setOption(.autoRead, value: true)
    }
  }
}
