public import Foundation

/// Decides when to wake the app for a fetch.
///
/// The scheduler is a value. Store it with the rest of the state after each change; as JSON it takes about 9 KB.
/// Callers pass all times. A time span is measured by the uptime within a boot and by the time of day across boots.
/// Habits follow the local clock. The counterpart of the system behind
/// `UIApplication.setMinimumBackgroundFetchInterval(_:)`.
///
///     var scheduler = FetchScheduler(interval: .minimum)
///     let now = SystemClock().now
///     scheduler.recordOpening(at: now)
///     if case .wake(let reason, _) = scheduler.decision(at: now) {
///       print(reason)
///       scheduler.wakeStarted(at: now)
///       let run = RunRecord(reason: .scheduled, result: .noData, started: now.date)
///       scheduler.record(run, at: now)
///     }
public struct FetchScheduler: Sendable, Hashable {
  /// The maximum time for which a server can hold off all fetches, in seconds.
  public static let longestHold = 86_400.0
  /// The maximum time for which a server can hold off scheduled wakes, in seconds.
  public static let longestSuggestion = 21_600.0
  /// The maximum backoff after errors, in seconds.
  public static let longestBackoff = 21_600.0
  /// The maximum time between two wakes, in seconds, while wakes are wanted and no server holds them off. An
  /// ``interval`` above it applies instead.
  public static let longestGap = 86_400.0
  /// The period after a boot or a reconnection, in seconds, over which installs spread the end of their initial delay.
  public static let settling = 300.0
  /// The range of the lead, in seconds, by which a wake precedes the quarter of an hour that it serves. Each install
  /// has its own lead. The fetch is therefore over when the app is opened on the dot, and installs do not fetch all at
  /// once.
  public static let lead = 180.0...480.0

  /// The maximum time between two attempts without a network, in seconds.
  static let longestRetry = 900.0
  /// The time between the first two attempts without a network, in seconds. It doubles with each attempt.
  static let firstRetry = 120.0

  /// The minimum interval between wakes.
  public internal(set) var interval: FetchInterval
  /// The times at which the user opens the app.
  public internal(set) var openings = WeeklyProfile(usual: WakePrice.usualOpenings)
  /// The times at which news are published. News of an evening may be fetched only the next morning, so days are
  /// learned a day late. Days before the first news do not count, because they say little about days with news.
  public internal(set) var news = WeeklyProfile(usual: 21, lateness: 1, learnsSilence: false)
  /// The sources of news, sorted by name.
  public internal(set) var sources: [FetchSource] = []
  /// The budget of wakes for pushes.
  public internal(set) var pushes = PushBudget()
  /// The last wake by the schedule or for a push. A wake without a network does not count.
  public internal(set) var lastWake: FetchMoment?
  /// The number of failed runs since the last successful one, 0...1000. Runs without a network do not count.
  public internal(set) var failures = 0
  /// The user's time zone. It is not stored.
  public var timeZone = TimeZone.autoupdatingCurrent

  /// The seed of this install's jitter.
  let seed: UInt64
  var price = WakePrice()
  var allowance = WakeAllowance()
  /// The end of the last run that was `newData` or `noData`.
  var lastSuccess: FetchMoment?
  var lastFailure: FetchMoment?
  var holding: Waiting?
  var suggestion: Waiting?
  var reconnection: Waiting?
  /// The wake whose run has not been recorded yet.
  var openWake: OpenWake?
  /// The wait until the next attempt after wakes without a network.
  var offline: Waiting?
  /// The number of successive wakes without a network.
  var offlineRuns = 0

  /// A wake that is undone if its run has no network.
  struct OpenWake: Sendable, Hashable, Codable {
    var reason: FetchReason
    /// The wake before it.
    var previous: FetchMoment?
  }

  /// Creates the scheduler of a fresh install.
  ///
  /// - Parameters:
  ///   - interval: The minimum interval between wakes.
  ///   - seed: Any number, drawn once per install. It determines the jitter.
  ///   - timeZone: The user's time zone.
  public init(
    interval: FetchInterval = .never, seed: UInt64 = .random(in: .min ... .max),
    timeZone: TimeZone = .autoupdatingCurrent
  ) {
    self.interval = interval
    self.seed = seed
    self.timeZone = timeZone
  }

  /// Sets the minimum interval between wakes.
  ///
  /// - Parameter interval: The new interval. `never` also drops the pending push.
  public mutating func setInterval(_ interval: FetchInterval) {
    self.interval = interval
    if interval == .never { pushes.cancelPending() }
  }

  /// Sets the interval to `never`, and drops the pending push, the sources and the backoff, because the user has signed
  /// out. Holds and suggestions of the server stay, and so do the habits.
  public mutating func signOut() {
    setInterval(.never)
    (offline, offlineRuns) = (nil, 0)
    failures = 0
    lastFailure = nil
    reconnection = nil
    sources = []
  }

  /// Adds a source or changes its interval. The moment of its last fetch is kept.
  ///
  /// - Parameters:
  ///   - name: The unique name of the source.
  ///   - minimumInterval: The minimum number of seconds between two fetches of it, clamped to
  ///     0...``FetchInterval/longest``.
  public mutating func setSource(_ name: String, minimumInterval: Double) {
    var source = FetchSource(name: name, minimumInterval: minimumInterval)
    source.lastFetch = sources.first { $0.name == name }?.lastFetch
    sources.removeAll { $0.name == name }
    sources.append(source)
    sources.sort { $0.name < $1.name }
  }

  /// Removes a source, if it exists.
  public mutating func removeSource(_ name: String) {
    sources.removeAll { $0.name == name }
  }

  /// Records that the user has opened the app. Several openings in a quarter of an hour count as one.
  public mutating func recordOpening(at now: FetchMoment) {
    openings.record([now.date], now: now.date, in: timeZone)
  }

  /// Records that the fetch handler is about to run. Store the scheduler before the handler runs, so that a crash does
  /// not repeat the wake.
  ///
  /// - Parameters:
  ///   - reason: The reason of the run. Only `scheduled` and `push` are wakes; other reasons change nothing.
  ///   - now: The moment of the wake.
  public mutating func wakeStarted(_ reason: FetchReason = .scheduled, at now: FetchMoment) {
    guard reason == .scheduled || reason == .push else { return }
    openWake = OpenWake(reason: reason, previous: lastWake)
    lastWake = now
    guard reason == .scheduled else { return }
    allowance.advance(to: LocalQuarter(now.date, in: timeZone))
    allowance.wake()
  }

  /// Records that the fetch handler has ended. A wake without a network does not count: another one follows after a few
  /// minutes, whatever the interval.
  ///
  /// - Parameters:
  ///   - run: The record of the run. One `newData` or `noData` ends the backoff. One `newData` also lifts the limit
  ///     that days of `noData` have set, from the next decision on.
  ///   - contentDates: The publication dates of the inserted items.
  ///   - fetched: The names of the sources that were fetched or tried; nil for all that were due.
  ///   - now: The end of the run.
  public mutating func record(
    _ run: RunRecord, contentDates: [Date] = [], sources fetched: [String]? = nil, at now: FetchMoment
  ) {
    price.add(run)
    allowance.advance(to: LocalQuarter(now.date, in: timeZone))
    close(run, at: now)
    if !run.isOffline {
      allowance.add(run.result)
      for index in sources.indices {
        let isFetched = fetched?.contains(sources[index].name) ?? (sources[index].delay(at: now) <= 0)
        if isFetched { sources[index].lastFetch = now }
      }
    }
    if run.result == .failed {
      guard !run.isOffline else { return }
      failures = min(failures + 1, 1000)
      lastFailure = now
    } else {
      news.record(contentDates, now: now.date, in: timeZone)
      failures = 0
      lastFailure = nil
      lastSuccess = now
      pushes.cancelPending()
    }
  }

  /// Closes the open wake of a run, and undoes it if there was no network.
  private mutating func close(_ run: RunRecord, at now: FetchMoment) {
    if run.result == .failed, run.reason == .push { pushes.postpone() }
    if !run.isOffline { (offline, offlineRuns) = (nil, 0) }
    guard let wake = openWake, wake.reason == run.reason else { return }
    openWake = nil
    guard run.isOffline else { return }
    lastWake = wake.previous
    if wake.reason == .scheduled { allowance.giveBack() }
    let seconds = Self.firstRetry * exp2(Double(min(offlineRuns, 10)))
    offline = Waiting(seconds, from: now, longest: Self.longestRetry)
    offlineRuns = min(offlineRuns + 1, 1000)
  }

  /// Holds off all requests, pushes and manual refresh included, because the server asked for it (`Retry-After`).
  ///
  /// - Parameters:
  ///   - seconds: The length from `now` on, clamped to 0...``longestHold``. Of several holds, the one that ends last
  ///     applies.
  ///   - now: The moment of the response.
  public mutating func hold(seconds: Double, at now: FetchMoment) {
    let waiting = Waiting(seconds, from: now, longest: Self.longestHold)
    if waiting.seconds > holding?.remaining(at: now) ?? 0 { holding = waiting }
  }

  /// Holds off all requests until a time of day. See ``hold(seconds:at:)``.
  public mutating func hold(until date: Date, at now: FetchMoment) {
    hold(seconds: date.timeIntervalSince(now.date), at: now)
  }

  /// Holds off scheduled wakes alone, because the server suggested a later request (`X-Poll-Interval`, `max-age`).
  ///
  /// - Parameters:
  ///   - seconds: The length from `now` on, clamped to 0...``longestSuggestion``. The last suggestion replaces earlier
  ///     ones.
  ///   - now: The moment of the response.
  public mutating func suggest(seconds: Double, at now: FetchMoment) {
    suggestion = Waiting(seconds, from: now, longest: Self.longestSuggestion)
  }

  /// Records that the network has come back. Scheduled wakes begin after this install's delay within ``settling``.
  public mutating func reconnected(at now: FetchMoment) {
    (offline, offlineRuns) = (nil, 0)
    reconnection = Waiting(settlingDelay, from: now, longest: Self.settling)
  }

  /// Records a push for a sleeping app. A push over a live connection needs no wake and is not recorded here.
  ///
  /// - Parameter now: The moment of the push.
  /// - Returns: Whether to wake the app now. Otherwise the push is pending; see ``pushDelay(at:)``.
  public mutating func receivePush(at now: FetchMoment) -> Bool {
    if isAllowed(.push, at: now) { return pushes.receive(at: now) }
    pushes.postpone()
    return false
  }

  /// Takes the pending push if it may wake the app now. The wake counts from then on.
  ///
  /// - Returns: Whether to wake the app.
  public mutating func takePendingPush(at now: FetchMoment) -> Bool {
    pushDelay(at: now) == 0 && pushes.takePending(at: now)
  }
}
