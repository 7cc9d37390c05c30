import Foundation

extension FetchScheduler {
  /// Decides whether to wake now, by the schedule or for a pending push, and otherwise when to ask again.
  ///
  /// This method changes nothing. Report a wake with ``wakeStarted(_:at:servesPush:)``. For a push, call
  /// ``takePendingPush(at:)`` before. A call after the best time before an opening returns the next such time.
  ///
  /// - Parameters:
  ///   - now: The current moment.
  ///   - constraints: The conditions that make wakes more expensive at the moment.
  public func decision(at now: FetchInstant, constraints: FetchConstraints = .none) -> FetchDecision {
    guard let minimumInterval = interval.duration?.inSeconds else { return .never }
    let bound = bound(at: now, minimumInterval: minimumInterval)
    var decision = scheduled(at: now, minimumInterval: minimumInterval, bound, constraints)
    if isWakeMissed || isCopyUnfinished {
      let reason = isWakeMissed ? FetchDecision.Reason.missed : .unfinished
      switch decision {
      case .wait where bound.seconds <= 0: decision = .wake(reason, sources: dueSources(at: now))
      case .wait(let until, _) where now.date + bound.seconds < until:
        decision = .wait(until: now.date + bound.seconds, bound.reason)
      default: break
      }
    }
    if let delay = pushWait(at: now) {
      switch decision {
      case _ where delay <= 0: decision = .wake(.push, sources: dueSources(at: now))
      case .wait(let until, _) where now.date + delay < until: decision = .wait(until: now.date + delay, .push)
      default: break
      }
    }
    if case .wake = decision, constraints.isOffline {
      return .wait(until: now.date + Self.initialOfflineRetryInterval, .offline)
    }
    return decision
  }

  /// Whether a wake waits for the network, so that ``reconnected(at:)`` is of interest.
  package var awaitsNetwork: Bool { isWaitingForNetwork || offline != nil }

  private func dueSources(at now: FetchInstant) -> [String] {
    sources.filter { $0.delay(at: now) <= 0 }.map(\.name)
  }

  private func scheduled(
    at now: FetchInstant, minimumInterval: Double, _ bound: Bound, _ constraints: FetchConstraints
  ) -> FetchDecision {
    let forecast = WakeForecast(self, at: now, minimumInterval: minimumInterval, earliest: bound.seconds)
    let plan = forecast.plan(constraints: constraints)
    guard let wake = plan.wakes.first else {
      return .wait(until: now.date + max(bound.seconds, LocalQuarter.seconds), bound.reason)
    }
    let date = forecast.date(of: wake)
    let purpose = forecast.purpose(of: plan.wakes)
    // A timer may fire up to one second early.
    guard date > now.date + 1 || bound.seconds > 0 else {
      return .wake(purpose, sources: dueSources(at: now))
    }
    if wake == forecast.first, bound.seconds > 0 { return .wait(until: date, bound.reason) }
    return .wait(until: date, plan.obstacle ?? forecast.quiet(before: wake) ?? purpose)
  }

  /// Whether an unscheduled fetch may begin now. Only a hold of the server prevents it. For scheduled fetches, use
  /// ``decision(at:constraints:)``.
  ///
  /// - Parameter now: The current moment.
  public func isFetchAllowed(at now: FetchInstant) -> Bool {
    holdWait(at: now) == 0
  }

  /// Returns the rest of the hold of the server, 0...``maximumHold``.
  public func holdRemaining(at now: FetchInstant) -> Duration { Duration(clamping: holdWait(at: now)) }

  private func holdWait(at now: FetchInstant) -> Double { holding?.remaining(at: now) ?? 0 }

  /// Returns the time until the pending push may wake the app; nil if no push is pending.
  ///
  /// A push is pending again if the process that it has woken was killed before its run was recorded.
  public func pushDelay(at now: FetchInstant) -> Duration? { pushWait(at: now).map { Duration(clamping: $0) } }

  private func pushWait(at now: FetchInstant) -> Double? {
    var pushes = pushes
    let recordWait = pushes.isPending ? nil : recordWait(at: now)
    if recordWait != nil { pushes.postpone() }
    return pushes.wait(at: now).map {
      max(
        $0, recordWait ?? 0, holdWait(at: now), offline?.remaining(at: now) ?? 0,
        reconnection?.remaining(at: now) ?? 0, backoffRemaining(at: now))
    }
  }

  /// Returns the seconds for which a run that serves a push may still be recorded; nil if there is no such run.
  func recordWait(at now: FetchInstant) -> Double? {
    guard let openWake, openWake.servesPush, let lastWake else { return nil }
    return max(0, Self.maximumRunTime - now.elapsed(since: lastWake))
  }

  /// The minimum wait for a scheduled wake in seconds, not negative, and the reason for it.
  private typealias Bound = (seconds: Double, reason: FetchDecision.Reason)

  private func bound(at now: FetchInstant, minimumInterval: Double) -> Bound {
    let due = sources.map { $0.delay(at: now) }
    let shared = due.min().flatMap { first in
      due.filter { $0 <= first + FetchSource.coalescingInterval.inSeconds }.max()
    }
    let waits: [Bound] = [
      (lastWake.map { minimumInterval - now.elapsed(since: $0) } ?? 0, .minimumInterval),
      (holdWait(at: now), .hold),
      (suggestion?.remaining(at: now) ?? 0, .suggested),
      (backoffRemaining(at: now), .backoff),
      (offline?.remaining(at: now) ?? 0, .offline),
      (startupDelay - now.uptime, .startupDelay),
      (reconnection?.remaining(at: now) ?? 0, .startupDelay),
      (shared ?? 0, .sources),
    ]
    let latest = waits.max { $0.seconds < $1.seconds }
    return latest.map { (max(0, $0.seconds), $0.reason) } ?? (0, .minimumInterval)
  }

  private func backoffRemaining(at now: FetchInstant) -> Double {
    lastFailure.map { max(0, backoff - now.elapsed(since: $0)) } ?? 0
  }

  /// The minimum number of seconds from the last error to the next scheduled wake. It starts at 15 minutes and doubles
  /// with each error, up to ``maximumBackoff``. Jitter multiplies it by 0.75...1.
  private var backoff: Double {
    guard failures > 0 else { return 0 }
    let growing = FetchInterval.minimumDuration.inSeconds * exp2(Double(min(failures, 30) - 1))
    let maximum = min(growing, Self.maximumBackoff.inSeconds)
    return maximum * (0.75 + 0.25 * share(UInt64(failures)))
  }

  /// The startup delay of this install in seconds, within ``maximumStartupDelay``.
  var startupDelay: Double { Self.maximumStartupDelay.inSeconds * share(0) }

  /// The lead time of this install in seconds, within ``leadTimeRange``.
  var leadTime: Double {
    let range = (Self.leadTimeRange.lowerBound.inSeconds, Self.leadTimeRange.upperBound.inSeconds)
    return range.0 + (range.1 - range.0) * share(.max)
  }

  /// Returns a number in 0..<1 that is constant for a purpose and differs between installs.
  private func share(_ purpose: UInt64) -> Double {
    // The mixing function of SplitMix64 (Steele, Lea, Flood, 2014).
    var mixed = seed &+ (purpose &+ 1) &* 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return Double((mixed ^ mixed >> 31) >> 11) / Double(UInt64(1) << 53)
  }
}
