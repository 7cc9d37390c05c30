public import Foundation

/// Whether to wake the app now, and the reason.
///
///     let scheduler = FetchScheduler(interval: .minimum)
///     switch scheduler.decision(at: SystemClock().now) {
///     case .wake(let reason, let sources): print("wake: \(reason)", sources)
///     case .wait(let date, let reason): print("wait until \(date): \(reason)")
///     }
public enum FetchDecision: Sendable, Hashable {
  /// The reason for a wake or a wait.
  ///
  ///     print(FetchDecision.Reason.hold)  // the server asked to wait
  public enum Reason: Sendable, Hashable {
    /// The interval is ``FetchInterval/never``.
    case never
    /// The minimum interval since the last wake is not over.
    case floor
    /// The server asked for no requests, with `Retry-After`.
    case hold
    /// The server suggested a later request, with `X-Poll-Interval` or `max-age`.
    case suggested
    /// The backoff after failed runs is not over.
    case backoff
    /// The machine has booted or its network has come back a moment ago. The delay differs between installs, so that
    /// they do not fetch all at once.
    case settling
    /// There is no network.
    case offline
    /// A push that could not wake the app at once is pending.
    case push
    /// No source is due.
    case sources
    /// The last days brought nothing new.
    case nothingNew
    /// The network is metered, or the app should save power.
    case constrained
    /// The app is often opened at this time.
    ///
    /// - Parameters:
    ///   - weekday: 1...7, Monday is 1.
    ///   - minute: The start of the quarter of an hour on the local clock, in minutes since midnight, 0...1425.
    case opening(weekday: Int, minute: Int)
    /// No time stands out.
    case evenSpacing
    /// The app is rarely opened before the wake.
    case quietHours
  }

  /// A wake is due now.
  ///
  /// - Parameters:
  ///   - reason: The reason for the wake.
  ///   - sources: The names of the sources that are due, sorted. Empty if no source is registered, or if none is due at
  ///     the wake for a push.
  case wake(Reason, sources: [String])
  /// No wake is due.
  ///
  /// - Parameters:
  ///   - until: The time to ask again; `Date.distantFuture` if the interval is `never`. An event before that time, such
  ///     as an opening of the app, may change the answer.
  ///   - reason: The reason to wait.
  case wait(until: Date, Reason)
}

extension FetchDecision.Reason: CustomStringConvertible {
  /// A sentence for users, without a full stop.
  public var description: String {
    switch self {
    case .never: return "background fetch is off"
    case .floor: return "the minimum interval is not over"
    case .hold: return "the server asked to wait"
    case .suggested: return "the server suggested to come later"
    case .backoff: return "the last fetch has failed"
    case .settling: return "the machine or its network has just come up"
    case .offline: return "there is no network"
    case .push: return "a push has been waiting for its wake"
    case .sources: return "no source is due"
    case .nothingNew: return "the last days brought nothing new"
    case .constrained: return "the network is metered or power is low"
    case .opening(let weekday, let minute):
      let names = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
      let name = names.indices.contains(weekday - 1) ? names[weekday - 1] : "day"
      let digits = [minute / 60, minute % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
      return "the app is often opened at \(digits[0]):\(digits[1]) on a \(name)"
    case .evenSpacing: return "no time is better than another"
    case .quietHours: return "the app is hardly opened until then"
    }
  }
}
