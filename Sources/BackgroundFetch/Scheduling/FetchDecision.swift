public import Foundation

/// Whether to wake now, and why.
public enum FetchDecision: Sendable, Hashable {
  /// Why a wake is due or not.
  public enum Reason: Sendable, Hashable {
    /// No wakes are wanted.
    case never
    /// Two wakes would be too close.
    case floor
    /// The server asked to be left alone, by `Retry-After`.
    case hold
    /// The server suggested to come later, by `X-Poll-Interval` or `max-age`.
    case suggested
    /// The last runs have failed.
    case backoff
    /// The machine was started or got its network back a moment ago, and not all are to come at once.
    case settling
    /// There is no network.
    case offline
    /// A push came over the limit and waits to be made up for.
    case push
    /// No source may be fetched yet.
    case sources
    /// The last days brought nothing new.
    case nothingNew
    /// The network is metered or power is to be saved.
    case constrained
    /// The app is often opened then.
    ///
    /// - Parameters:
    ///   - weekday: 1...7, Monday is 1.
    ///   - minute: The beginning of the quarter of an hour by the local clock, in minutes since midnight.
    case opening(weekday: Int, minute: Int)
    /// No time is better than another.
    case evenSpacing
    /// The app is hardly opened before.
    case quietHours
  }

  /// It is time.
  ///
  /// - Parameters:
  ///   - reason: What speaks for now.
  ///   - sources: The names of the sources that are due, sorted; empty if none were registered.
  case wake(Reason, sources: [String])
  /// It is not time.
  ///
  /// - Parameters:
  ///   - until: When to ask again; `Date.distantFuture` if no wakes are wanted. What happens until then may change it.
  ///   - reason: What speaks against now.
  case wait(until: Date, Reason)
}

extension FetchDecision.Reason: CustomStringConvertible {
  /// A sentence for people, without a full stop.
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
