import NIOCore

/// The alarm of a connection.
///
/// It is never cancelled: SwiftNIO would search for it among the alarms of all connections. An alarm that goes off too
/// early costs less.
final class DeadlineAlarm {
  /// The time of the next alarm.
  private var time: NIODeadline?

  /// Sets the alarm, unless it goes off earlier anyway.
  ///
  /// - Parameter time: The time of the alarm; `distantFuture` for none.
  func set(_ time: NIODeadline, _ context: ChannelHandlerContext, _ ring: @escaping () -> Void) {
    guard time < .distantFuture, context.channel.isActive else { return }
    if let earlier = self.time, earlier <= time { return }
    self.time = time
    context.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [weak self, weak channel = context.channel] in
      // A later call may have set an earlier alarm.
      guard let self, self.time == time, channel?.isActive == true else { return }
      self.time = nil
      ring()
    }
  }
}
