public import Foundation

/// Whether to wake the app now, and the reason.
///
///     let scheduler = FetchScheduler(interval: .minimum)
///     switch scheduler.decision(at: SystemClock().now) {
///     case .wake(let reason, let sources): print("wake: \(reason)", sources)
///     case .wait(let date, let reason): print("wait until \(date): \(reason)")
///     case .never: print("background fetch is off")
///     }
public enum FetchDecision: Sendable, Hashable {
  /// The reason for a wake or a wait.
  ///
  ///     print(FetchDecision.Reason.hold)  // the server asked to wait
  public enum Reason: Sendable, Hashable {
    /// The minimum interval since the last wake is not over.
    case minimumInterval
    /// The server asked for a wait, with `Retry-After`.
    case hold
    /// The server suggested a later request, with `X-Poll-Interval` or `max-age`.
    case suggested
    /// The backoff after failed runs is not over.
    case backoff
    /// The machine has just booted, or its network has just come back. The delay differs between installs, so that they
    /// do not fetch all at once.
    case startupDelay
    /// There is no network.
    case offline
    /// A push that could not wake the app at once is pending.
    case push
    /// A wake had no network and is made up for.
    case missed
    /// A full copy has not been received completely, and is continued.
    case unfinished
    /// No source is due yet.
    case sources
    /// The fetches of the last days found nothing new.
    case nothingNew
    /// The network is metered, or the app should save power.
    case constrained
    /// The app is often opened at this time.
    ///
    /// - Parameters:
    ///   - weekday: 1...7, Monday is 1.
    ///   - minute: The start of the quarter of an hour on the local clock, in minutes since midnight, 0...1425.
    case opening(weekday: Int, minute: Int)
    /// No time is better than another, so wakes are evenly spaced.
    case evenSpacing
    /// The app is rarely opened before the next wake.
    case quietHours
  }

  /// A wake is due now.
  ///
  /// - Parameters:
  ///   - reason: The reason for the wake.
  ///   - sources: The sorted names of the sources that are due. The list is empty if no source is registered, or if the
  ///     wake is for a push and no source is due.
  case wake(Reason, sources: [String])
  /// No wake is due.
  ///
  /// - Parameters:
  ///   - until: The time at which to ask for the next decision. An event before that time, such as an opening of the app,
  ///     may change the decision.
  ///   - reason: The reason for the wait.
  case wait(until: Date, Reason)
  /// There are no wakes, because the interval is ``FetchInterval/never``.
  case never
}

extension FetchDecision.Reason {
  /// Whether the schedule chose the time, so that an earlier wake is allowed.
  package var isChoice: Bool {
    switch self {
    case .nothingNew, .constrained, .opening, .evenSpacing, .quietHours: true
    case .minimumInterval, .hold, .suggested, .backoff, .startupDelay, .offline, .push, .missed, .unfinished,
      .sources:
      false
    }
  }
}

extension FetchDecision.Reason: CustomStringConvertible {
  /// A sentence for users, without a full stop.
  public var description: String {
    switch self {
    case .minimumInterval: return "the minimum interval is not over"
    case .hold: return "the server asked to wait"
    case .suggested: return "the server suggested a later request"
    case .backoff: return "the last fetch has failed"
    case .startupDelay: return "the machine has just started or the network has just come back"
    case .offline: return "there is no network"
    case .push: return "a push is pending"
    case .missed: return "a wake without a network is made up for"
    case .unfinished: return "a full copy is continued"
    case .sources: return "no source is due"
    case .nothingNew: return "the fetches of the last days found nothing new"
    case .constrained: return "the network is metered or the device saves power"
    case .opening(let weekday, let minute):
      let names = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
      let name = names.indices.contains(weekday - 1) ? names[weekday - 1] : "day"
      let digits = [minute / 60, minute % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
      return "the app is often opened at \(digits[0]):\(digits[1]) on a \(name)"
    case .evenSpacing: return "no habit learned yet"
    case .quietHours: return "the app is rarely opened until then"
    }
  }
}
