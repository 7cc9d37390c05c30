import Foundation

/// A token of the server, with the time within which it is used.
///
/// It is kept outside of the actor that renews it, so that a message does not wait for the actor.
struct TimedToken: Sendable {
  /// The token, or the value of a header field with it.
  var text: String
  /// The time within which the token is used. A time before it means that the clock was set back.
  var life: Range<Date>

  /// Returns the token unless it must be renewed.
  func text(at now: Date) -> String? { life.contains(now) ? text : nil }
}
