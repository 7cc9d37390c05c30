import Foundation
import Logging
import NIOCore

/// Takes no connections for a while where the process, or the machine, has no descriptor for another one.
///
/// SwiftNIO means to do so by itself (`AcceptBackoffHandler`), but goes on looking at the listening socket, which is readable
/// all the time: that takes a whole core. This handler stands before it.
final class AcceptPause: ChannelInboundHandler {
  typealias InboundIn = any Channel

  private static let pause = TimeAmount.milliseconds(200)

  private let logger: Logger
  private var isPaused = false
  /// A line a minute is enough.
  private var nextLine = NIODeadline.now()

  init(logger: Logger) {
    self.logger = logger
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode), !isPaused {
      pause(context, error)
    }
    context.fireErrorCaught(error)
  }

  private func pause(_ context: ChannelHandlerContext, _ error: IOError) {
    if nextLine <= .now() {
      nextLine = .now() + .minutes(1)
      logger.error("no more connections are taken for now", metadata: ["error": "\(error)"])
    }
    isPaused = true
    let options = context.channel.syncOptions
    try? options?.setOption(.autoRead, value: false)
    context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
      self.isPaused = false
      // It fails where nobody listens any more.
      try? options?.setOption(.autoRead, value: true)
    }
  }
}
