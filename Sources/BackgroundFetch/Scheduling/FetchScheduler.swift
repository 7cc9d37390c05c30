public import Foundation

/// Decides when the app is woken for a fetch. It is a value to be stored with the rest of the state after each change;
/// as JSON it has about 9 KB.
///
/// All times come from outside. A span of time is measured by the steady clock within a boot and by the time of day
/// across boots; habits go by the local clock.
public struct FetchScheduler: Sendable, Hashable {
  /// The longest that a server may hold off all fetches, in seconds.
  public static let longestHold = 86_400.0
  /// The longest that a server may hold off scheduled wakes, in seconds.
  public static let longestSuggestion = 21_600.0
  /// The longest time between two scheduled wakes after errors, in seconds.
  public static let longestBackoff = 21_600.0
  /// No more than so many seconds lie between two wakes as long as wakes are wanted and no server holds them off.
  public static let longestGap = 86_400.0
  /// So many seconds after a start of the machine or its network each install has begun to fetch.
  public static let settling = 300.0
  /// A wake precedes the quarter of an hour it is for by so many seconds, according to the install, so that the fetch
  /// is over when the app is opened on the dot, and not all installs come at once.
  public static let lead = 180.0...480.0

  /// The longest time between two attempts without a network, in seconds.
  static let longestRetry = 900.0
  /// The time between the first two attempts without a network, in seconds; it doubles with each.
  static let firstRetry = 120.0

  /// How often wakes are wanted.
  public internal(set) var interval: FetchInterval
  /// When the app is opened.
  public internal(set) var openings = WeeklyProfile(usual: WakePrice.usualOpenings)
  /// When news come out. Those of an evening may be fetched the next morning only, and a beginning without any tells
  /// little of the days when there are some.
  public internal(set) var news = WeeklyProfile(usual: 21, lateness: 1, learnsSilence: false)
  /// The places news come from, by name.
  public internal(set) var sources: [FetchSource] = []
  /// The wakes from pushes.
  public internal(set) var pushes = PushBudget()
  /// The last wake from the schedule or a push.
  public internal(set) var lastWake: FetchMoment?
  /// How many runs have failed since the last that did not.
  public internal(set) var failures = 0
  /// Where the user's clock is. It is not stored.
  public var timeZone = TimeZone.autoupdatingCurrent

  /// What sets this install apart from others.
  let seed: UInt64
  var price = WakePrice()
  var allowance = WakeAllowance()
  /// The end of the last run that knew what is new.
  var lastSuccess: FetchMoment?
  var lastFailure: FetchMoment?
  var holding: Waiting?
  var suggestion: Waiting?
  var reconnection: Waiting?
  /// The wake whose run has not been recorded yet.
  var openWake: OpenWake?
  /// The time to the next attempt after runs without a network.
  var offline: Waiting?
  /// How many runs in succession had no network.
  var offlineRuns = 0

  /// A wake that may turn out to have had no network.
  struct OpenWake: Sendable, Hashable, Codable {
    var reason: FetchReason
    /// The wake before it.
    var previous: FetchMoment?
  }

  /// The scheduler of a fresh install.
  ///
  /// - Parameters:
  ///   - interval: How often wakes are wanted.
  ///   - seed: Any number; to be drawn once per install.
  ///   - timeZone: Where the user's clock is.
  public init(
    interval: FetchInterval = .never, seed: UInt64 = .random(in: .min ... .max),
    timeZone: TimeZone = .autoupdatingCurrent
  ) {
    self.interval = interval
    self.seed = seed
    self.timeZone = timeZone
  }

  /// Sets how often wakes are wanted.
  ///
  /// - Parameter interval: With `never` all that is pending is dropped.
  public mutating func setInterval(_ interval: FetchInterval) {
    self.interval = interval
    if interval == .never { pushes.cancelPending() }
  }

  /// Nobody is there to fetch for: sets `never` and drops what is pending. What a server asked for stays, and so do the
  /// habits.
  public mutating func signOut() {
    setInterval(.never)
    (offline, offlineRuns) = (nil, 0)
    failures = 0
    lastFailure = nil
    reconnection = nil
    sources = []
  }

  /// Adds a source or changes its interval.
  ///
  /// - Parameters:
  ///   - name: What it is called.
  ///   - minimumInterval: Seconds between two fetches of it, 0...``FetchInterval/longest``.
  public mutating func setSource(_ name: String, minimumInterval: Double) {
    var source = FetchSource(name: name, minimumInterval: minimumInterval)
    source.lastFetch = sources.first { $0.name == name }?.lastFetch
    sources.removeAll { $0.name == name }
    sources.append(source)
    sources.sort { $0.name < $1.name }
  }

  /// Removes a source, if it is there.
  public mutating func removeSource(_ name: String) {
    sources.removeAll { $0.name == name }
  }

  /// The user has opened the app. Several times in a quarter of an hour are one.
  public mutating func recordOpening(at now: FetchMoment) {
    openings.record([now.date], now: now.date, in: timeZone)
  }

  /// The handler is about to run. To be stored before it does, so that a crash does not bring the wake again.
  ///
  /// - Parameters:
  ///   - reason: Only scheduled wakes and pushes are wakes; the others change nothing.
  ///   - now: When.
  public mutating func wakeStarted(_ reason: FetchReason = .scheduled, at now: FetchMoment) {
    guard reason == .scheduled || reason == .push else { return }
    openWake = OpenWake(reason: reason, previous: lastWake)
    lastWake = now
    guard reason == .scheduled else { return }
    allowance.advance(to: LocalQuarter(now.date, in: timeZone))
    allowance.wake()
  }

  /// The handler has ended. A wake without a network is not spent: it comes again after a few minutes, whatever the
  /// interval.
  ///
  /// - Parameters:
  ///   - run: What it came to. A single `newData` or `noData` ends the backoff, a single `newData` lifts the limit that
  ///     days of `noData` have set, from the next decision on.
  ///   - contentDates: When the items came out that were inserted.
  ///   - fetched: The names of the sources that were fetched, or tried; nil for all that were due.
  ///   - now: When.
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

  /// Ends the wake of a run; one without a network is given back.
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

  /// The server wants no requests for a while (`Retry-After`). It binds everything, pushes and manual refresh too.
  ///
  /// - Parameters:
  ///   - seconds: From now on, cut to 0...``longestHold``. Of several holds the one that ends last counts.
  ///   - now: When that was said.
  public mutating func hold(seconds: Double, at now: FetchMoment) {
    let waiting = Waiting(seconds, from: now, longest: Self.longestHold)
    if waiting.seconds > holding?.remaining(at: now) ?? 0 { holding = waiting }
  }

  /// The server wants no requests until a time of day. See ``hold(seconds:at:)``.
  public mutating func hold(until date: Date, at now: FetchMoment) {
    hold(seconds: date.timeIntervalSince(now.date), at: now)
  }

  /// The server suggests when to come again (`X-Poll-Interval`, `max-age`). It binds scheduled wakes only.
  ///
  /// - Parameters:
  ///   - seconds: From now on, cut to 0...``longestSuggestion``. The last suggestion counts.
  ///   - now: When that was said.
  public mutating func suggest(seconds: Double, at now: FetchMoment) {
    suggestion = Waiting(seconds, from: now, longest: Self.longestSuggestion)
  }

  /// The network has come back. Scheduled wakes begin after this install's part of ``settling``.
  public mutating func reconnected(at now: FetchMoment) {
    (offline, offlineRuns) = (nil, 0)
    reconnection = Waiting(settlingDelay, from: now, longest: Self.settling)
  }

  /// A push came in for a sleeping app. One that a live connection brought needs no wake, and does not ask.
  ///
  /// - Parameter now: When.
  /// - Returns: Whether to wake the app now. If not, the push is pending, see ``pushDelay(at:)``.
  public mutating func receivePush(at now: FetchMoment) -> Bool {
    if isAllowed(.push, at: now) { return pushes.receive(at: now) }
    pushes.postpone()
    return false
  }

  /// Whether to wake the app now for pushes that had to wait; the wake counts from then on.
  public mutating func takePendingPush(at now: FetchMoment) -> Bool {
    pushDelay(at: now) == 0 && pushes.takePending(at: now)
  }
}
