import Foundation
package import Logging
package import NIOCore

/// Accepts no connections for a while after the process, or the machine, has run out of descriptors.
///
/// SwiftNIO's `AcceptBackoffHandler` has the same purpose, but keeps polling the listening socket, which is readable all
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

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode), !isPaused {
      pause(context, error)
    }
    context.fireErrorCaught(error)
  }

  private func pause(_ context: ChannelHandlerContext, _ error: IOError) {
    if nextLogTime <= .now() {
      nextLogTime = .now() + Self.logInterval
      logger.error("new connections are not accepted for now", metadata: ["error": "\(error)"])
    }
    isPaused = true
    let options = context.channel.syncOptions
    try? options?.setOption(.autoRead, value: false)
    context.eventLoop.assumeIsolated().scheduleTask(in: Self.backoff) {
      self.isPaused = false
      // This fails if the server has stopped listening.
      try? options?.setOption(.autoRead, value: true)
    }
  }
}
