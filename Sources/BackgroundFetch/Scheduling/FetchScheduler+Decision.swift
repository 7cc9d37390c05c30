import Foundation

extension FetchScheduler {
  /// Returns whether to wake now, by the schedule or for a pending push, and otherwise when to ask again.
  ///
  /// This method changes nothing. Report a wake with ``wakeStarted(_:at:)``, and call ``takePendingPush(at:)`` before
  /// it for a push. A late call may miss the time before an opening; it then returns the next one.
  ///
  /// - Parameters:
  ///   - now: The current moment.
  ///   - constraints: The conditions that make wakes more expensive at the moment.
  public func decision(at now: FetchMoment, constraints: FetchConstraints = .none) -> FetchDecision {
    guard let floor = interval.seconds else { return .wait(until: .distantFuture, .never) }
    var decision = scheduled(at: now, floor: floor, constraints: constraints)
    if let delay = pushDelay(at: now) {
      switch decision {
      case _ where delay <= 0: decision = .wake(.push, sources: dueSources(at: now))
      case .wait(let until, _) where now.date + delay < until: decision = .wait(until: now.date + delay, .push)
      default: break
      }
    }
    if case .wake = decision, constraints.isOffline { return .wait(until: now.date + Self.firstRetry, .offline) }
    return decision
  }

  private func dueSources(at now: FetchMoment) -> [String] {
    sources.filter { $0.delay(at: now) <= 0 }.map(\.name)
  }

  private func scheduled(at now: FetchMoment, floor: Double, constraints: FetchConstraints) -> FetchDecision {
    let bound = bound(at: now, floor: floor)
    let outlook = Outlook(self, at: now, floor: floor, earliest: bound.seconds)
    let plan = outlook.plan(constraints: constraints)
    guard let wake = plan.wakes.first else {
      return .wait(until: now.date + max(bound.seconds, LocalQuarter.seconds), bound.reason)
    }
    let date = outlook.date(of: wake)
    let purpose = outlook.purpose(of: plan.wakes)
    // A timer may fire early by its accuracy.
    guard date > now.date + 1 || bound.seconds > 0 else {
      return .wake(purpose, sources: dueSources(at: now))
    }
    if wake == outlook.first, bound.seconds > 0 { return .wait(until: date, bound.reason) }
    return .wait(until: date, plan.obstacle ?? outlook.quiet(before: wake) ?? purpose)
  }

  /// Whether an unscheduled fetch may begin now, which a hold of the server prevents.
  ///
  /// - Parameters:
  ///   - reason: The reason of the fetch. For `scheduled`, use ``decision(at:constraints:)``, which considers more.
  ///   - now: The current moment.
  public func isAllowed(_ reason: FetchReason, at now: FetchMoment) -> Bool {
    holdRemaining(at: now) == 0
  }

  /// Returns the number of seconds for which the server wants no requests at all, 0...``longestHold``.
  public func holdRemaining(at now: FetchMoment) -> Double { holding?.remaining(at: now) ?? 0 }

  /// Returns the number of seconds until the pending push may wake the app; nil if no push is pending.
  public func pushDelay(at now: FetchMoment) -> Double? {
    pushes.delay(at: now).map {
      max($0, holdRemaining(at: now), offline?.remaining(at: now) ?? 0, backoffRemaining(at: now))
    }
  }

  /// Returns the minimum wait for a scheduled wake, in seconds, and the reason for it.
  private func bound(at now: FetchMoment, floor: Double) -> (seconds: Double, reason: FetchDecision.Reason) {
    let due = sources.map { $0.delay(at: now) }
    let shared = due.min().flatMap { first in due.filter { $0 <= first + FetchSource.sharing }.max() }
    let waits: [(seconds: Double, reason: FetchDecision.Reason)] = [
      (lastWake.map { floor - now.elapsed(since: $0) } ?? 0, .floor),
      (holdRemaining(at: now), .hold),
      (suggestion?.remaining(at: now) ?? 0, .suggested),
      (backoffRemaining(at: now), .backoff),
      (offline?.remaining(at: now) ?? 0, .offline),
      (settlingDelay - now.uptime, .settling),
      (reconnection?.remaining(at: now) ?? 0, .settling),
      (shared ?? 0, .sources),
    ]
    let longest = waits.max { $0.seconds < $1.seconds }
    return longest.map { (max(0, $0.seconds), $0.reason) } ?? (0, .floor)
  }

  private func backoffRemaining(at now: FetchMoment) -> Double {
    lastFailure.map { max(0, backoff - now.elapsed(since: $0)) } ?? 0
  }

  /// The number of seconds from the last error to the next scheduled wake. It begins at 15 minutes and doubles with
  /// each error, up to ``longestBackoff``. Jitter reduces it to between three quarters and the whole.
  private var backoff: Double {
    guard failures > 0 else { return 0 }
    let whole = min(FetchInterval.floor * exp2(Double(min(failures, 30) - 1)), Self.longestBackoff)
    return whole * (0.75 + 0.25 * share(UInt64(failures)))
  }

  /// This install's delay within ``settling``, in seconds.
  var settlingDelay: Double { Self.settling * share(0) }

  /// This install's value in ``lead``, in seconds.
  var leadSeconds: Double { Self.lead.lowerBound + (Self.lead.upperBound - Self.lead.lowerBound) * share(.max) }

  /// Returns a value in 0..<1 that is constant for a purpose and differs between installs.
  private func share(_ purpose: UInt64) -> Double {
    // The finalizer of SplitMix64.
    var mixed = seed &+ (purpose &+ 1) &* 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return Double((mixed ^ mixed >> 31) >> 11) / Double(UInt64(1) << 53)
  }
}
