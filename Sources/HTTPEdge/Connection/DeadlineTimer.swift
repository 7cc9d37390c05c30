import NIOCore

/// The timer of a connection.
///
/// It is never cancelled, because SwiftNIO would search for it among the timers of all connections. A timer that fires
/// too early costs less.
final class DeadlineTimer {
  /// The time at which the timer fires next; nil if it is not set.
  private var time: NIODeadline?

  /// Sets the timer, unless it fires earlier anyway.
  ///
  /// - Parameters:
  ///   - time: The time at which it fires; `distantFuture` for none.
  ///   - handler: Called on the event loop when it fires.
  func set(_ time: NIODeadline, _ context: ChannelHandlerContext, _ handler: @escaping () -> Void) {
    guard time < .distantFuture, context.channel.isActive else { return }
    if let earlier = self.time, earlier <= time { return }
    self.time = time
    context.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [weak self, weak channel = context.channel] in
      // A later call may have set an earlier time.
      guard let self, self.time == time, channel?.isActive == true else { return }
      self.time = nil
      handler()
    }
  }
}
