package import News
package import NewsStore

/// Sends messages to the devices of one push service.
///
/// A sender never throws. Each failure is an outcome of the message, so that the store can keep what is owed.
package protocol PushSender: Sendable {
  /// The push service.
  var provider: PushProvider { get }
  /// The maximum number of concurrent messages.
  var width: Int { get }
  /// Whether failures of the service concern all devices alike. The service then pauses after many of them.
  var sharesFailures: Bool { get }

  /// Sends a message, and returns when the service has responded or the timeout has passed.
  func send(_ message: PushMessage) async -> PushAnswer
  /// Closes the connections. No message may follow.
  func shutdown() async
}

/// The answer of a push service to a message.
package struct PushAnswer: Sendable {
  /// A demand to send nothing to the service for a while.
  package struct Pause: Sendable, Equatable {
    /// The minimum duration in seconds.
    package var seconds: Double
    /// The reason, a sentence for the operator without full stop.
    package var reason: String

    package init(seconds: Double, reason: String) {
      self.seconds = seconds
      self.reason = reason
    }
  }

  /// The result for the device.
  package var result: PushOutcome.Result
  /// The pause that the answer demands; nil for none.
  package var pause: Pause?
  /// Whether the service has failed, and has said nothing about the device.
  package var isFailure: Bool
  /// Whether the service refuses the keys of the server for an address that it has accepted before.
  package var refusesKey: Bool

  package init(
    _ result: PushOutcome.Result, pause: Pause? = nil, isFailure: Bool = false, refusesKey: Bool = false
  ) {
    self.result = result
    self.pause = pause
    self.isFailure = isFailure
    self.refusesKey = refusesKey
  }

  /// Returns an answer for a service that has failed or cannot be reached.
  ///
  /// - Parameter wait: The time until the next attempt, in seconds.
  static func failure(after wait: Double, _ reason: String) -> PushAnswer {
    PushAnswer(.retry(after: wait, reason: reason), isFailure: true)
  }

  /// Returns an answer that pauses the service, because each further message would receive the same.
  ///
  /// - Parameter seconds: The minimum duration of the pause. The message is due again after it.
  static func pause(_ seconds: Double, _ reason: String) -> PushAnswer {
    PushAnswer(.retry(after: seconds, reason: reason), pause: Pause(seconds: seconds, reason: reason))
  }
}
