public import Foundation

/// The schedule of fetches, which learns from the openings of the app and from the times of publication.
///
/// The scheduler is a value. Store it after each change; as JSON it takes about 9 KB. Callers pass the current time to
/// each method. Time spans are measured by the uptime within a boot, and by the time of day across boots. Habits follow
/// the local clock. The counterpart of the system behind `UIApplication.setMinimumBackgroundFetchInterval(_:)`.
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
public struct FetchScheduler: Sendable, Hashable, Encodable {
  /// The maximum time for which a server can hold off all fetches.
  public static let maximumHold = Duration.seconds(86_400)
  /// The maximum time for which a server can hold off scheduled wakes.
  public static let maximumSuggestion = Duration.seconds(21_600)
  /// The maximum backoff after errors.
  public static let maximumBackoff = Duration.seconds(21_600)
  /// The maximum time between two wakes, unless the interval is ``FetchInterval/never`` or the server holds
  /// them off. A longer ``interval`` applies instead.
  public static let maximumGap = Duration.seconds(86_400)
  /// The maximum delay of wakes after a boot or a reconnection. Each install has its own delay, so that
  /// installs do not fetch all at once.
  public static let maximumStartupDelay = Duration.seconds(300)
  /// The range of the lead time, by which a wake precedes the quarter of an hour that it serves.
  /// The fetch is therefore over if the app is opened at the start of that quarter. Each install has its own lead time,
  /// so that installs do not fetch all at once.
  public static let leadTimeRange = Duration.seconds(180)...Duration.seconds(480)

  /// The maximum time from a wake to the record of its run, in seconds. A longer one means that the process was killed.
  static let maximumRunTime = 90.0
  /// The maximum time between two attempts without a network, in seconds.
  static let maximumOfflineRetryInterval = 900.0
  /// The time between the first two attempts without a network, in seconds. It doubles with each attempt.
  static let initialOfflineRetryInterval = 120.0

  /// The minimum interval between wakes.
  public internal(set) var interval: FetchInterval
  /// The times at which the user opens the app.
  public internal(set) var openings: WeeklyProfile
  /// The times at which news are published. News of an evening may be fetched only the next morning, so each day is
  /// learned a day later. Days before the first news do not count, because they say little about days with news.
  public internal(set) var news: WeeklyProfile
  /// The sources of news, sorted by name.
  public internal(set) var sources: [FetchSource] = []
  /// The rate limit of wakes for pushes.
  public internal(set) var pushes = PushRateLimit()
  /// The moment of the last wake, by the schedule or for a push. A wake without a network does not count.
  public internal(set) var lastWake: FetchInstant?
  /// The number of failed runs since the last successful one, 0...1000. Runs without a network do not count.
  public internal(set) var failures = 0
  /// The user's time zone. It is not stored.
  public var timeZone = TimeZone.autoupdatingCurrent

  /// The seed of this install's jitter.
  let seed: UInt64
  var price = WakePrice()
  var dailyLimit = DailyWakeLimit()
  /// The end of the last run with `newData` or `noData`.
  var lastSuccess: FetchInstant?
  var lastFailure: FetchInstant?
  var holding: WaitingPeriod?
  var suggestion: WaitingPeriod?
  var reconnection: WaitingPeriod?
  /// The wake whose run has not been recorded yet.
  var openWake: OpenWake?
  /// The wait for the next attempt after wakes without a network.
  var offline: WaitingPeriod?
  /// The number of consecutive wakes without a network.
  var offlineRuns = 0
  /// Whether a wake had no network, so that it is made up for.
  var isWakeMissed = false
  /// Whether a full copy waits for its next pages.
  var isCopyUnfinished = false
  /// Whether the machine had no network when a wake was due.
  package internal(set) var isWaitingForNetwork = false

  /// A wake that is undone if its run has no network.
  struct OpenWake: Sendable, Hashable {
    var reason: FetchReason
    /// Whether its fetch serves a push, which is pending again if the fetch fails or is never recorded.
    var servesPush: Bool
    /// The wake before it.
    var previous: FetchInstant?
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
    openings = WeeklyProfile(expectedPerDay: WakePrice.expectedOpenings)
    news = WeeklyProfile(expectedPerDay: 21, reportingDelay: 1, countsInitialDays: false)
  }

  /// Sets the minimum interval between wakes.
  ///
  /// - Parameter interval: The new interval. `never` also drops the pending push.
  public mutating func setInterval(_ interval: FetchInterval) {
    self.interval = interval
    if interval == .never { cancelPush() }
  }

  /// Drops the pending push, and the one whose run is not recorded.
  private mutating func cancelPush() {
    pushes.cancelPending()
    if openWake?.reason == .push { openWake = nil }
    openWake?.servesPush = false
  }

  /// Ends fetching, because the user has signed out. This sets the interval to `never`, and drops the pending push, the
  /// sources and the backoff. Holds and suggestions of the server and the learned habits are kept.
  public mutating func signOut() {
    setInterval(.never)
    (offline, offlineRuns) = (nil, 0)
    (isWakeMissed, isWaitingForNetwork) = (false, false)
    failures = 0
    lastFailure = nil
    isCopyUnfinished = false
    reconnection = nil
    sources = []
  }

  /// Adds a source, or changes its interval and keeps the moment of its last fetch.
  ///
  /// - Parameters:
  ///   - name: The unique name of the source.
  ///   - minimumInterval: The minimum time between two fetches of it, clamped to 0...``FetchInterval/maximumDuration``.
  public mutating func setSource(_ name: String, minimumInterval: Duration) {
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
  public mutating func recordOpening(at now: FetchInstant) {
    openings.record([now.date], now: now.date, in: timeZone)
  }

  /// Records that the fetch handler is about to run. Store the scheduler before the handler runs, so that a crash does
  /// not repeat the wake.
  ///
  /// - Parameters:
  ///   - reason: The reason of the run. Only `scheduled` and `push` are wakes; other reasons change nothing.
  ///   - now: The moment of the wake.
  ///   - servesPush: Whether the run also serves the pending push, which ``takePendingPush(at:)`` has returned. A run with
  ///     the reason `push` always serves one.
  public mutating func wakeStarted(
    _ reason: FetchReason = .scheduled, at now: FetchInstant, servesPush: Bool = false
  ) {
    guard reason == .scheduled || reason == .push else { return }
    // The handler of a push records the wake before the fetch records it again.
    if openWake?.reason == reason, lastWake == now { return }
    // A push whose run was not recorded passes to the next wake.
    let servesPush = servesPush || reason == .push || openWake?.servesPush == true
    openWake = OpenWake(reason: reason, servesPush: servesPush, previous: lastWake)
    lastWake = now
    guard reason == .scheduled else { return }
    dailyLimit.advance(to: LocalQuarter(now.date, in: timeZone))
    dailyLimit.recordWake()
  }

  /// Records that the fetch handler has ended. A wake without a network does not count: another wake follows after a
  /// few minutes, whatever the interval.
  ///
  /// - Parameters:
  ///   - run: The record of the run. A `newData` or `noData` ends the backoff. A `newData` also removes the limit that
  ///     days of `noData` have set.
  ///   - contentDates: The publication dates of the inserted items.
  ///   - fetched: The names of the sources that were fetched or tried; nil for all sources that were due.
  ///   - now: The end of the run.
  public mutating func record(
    _ run: RunRecord, contentDates: [Date] = [], sources fetched: [String]? = nil, at now: FetchInstant
  ) {
    // A full copy says nothing about the cost of the later runs.
    if run.received == nil { price.add(run) }
    dailyLimit.advance(to: LocalQuarter(now.date, in: timeZone))
    close(run, at: now)
    if !run.isOffline {
      dailyLimit.record(run.received == nil ? run.result : .newData)
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
      isCopyUnfinished = run.received != nil
      news.record(contentDates, now: now.date, in: timeZone)
      failures = 0
      lastFailure = nil
      lastSuccess = now
      cancelPush()
    }
  }

  /// Closes the open wake of a run, and undoes it if there was no network.
  private mutating func close(_ run: RunRecord, at now: FetchInstant) {
    let wake = openWake?.reason == run.reason ? openWake : nil
    if run.result == .failed, run.reason == .push || wake?.servesPush == true { pushes.postpone() }
    if !run.isOffline {
      (offline, offlineRuns) = (nil, 0)
      isWaitingForNetwork = false
      // A failed wake that has reached the network is repeated after the backoff, not made up for.
      if run.result != .failed || wake != nil { isWakeMissed = false }
    }
    guard let wake else { return }
    openWake = nil
    guard run.isOffline else { return }
    isWakeMissed = true
    lastWake = wake.previous
    if wake.reason == .scheduled { dailyLimit.undoWake() }
    let seconds = Self.initialOfflineRetryInterval * exp2(Double(min(offlineRuns, 10)))
    offline = WaitingPeriod(seconds, from: now, maximum: Self.maximumOfflineRetryInterval)
    offlineRuns = min(offlineRuns + 1, 1000)
  }

  /// Holds off all requests, pushes and manual refresh included, because the server asked for it (`Retry-After`, RFC
  /// 9110 section 10.2.3).
  ///
  /// - Parameters:
  ///   - duration: The length from `now` on, clamped to 0...``maximumHold``. A hold that ends before the current one is
  ///     ignored.
  ///   - now: The moment of the response.
  public mutating func hold(for duration: Duration, at now: FetchInstant) {
    hold(seconds: duration.inSeconds, at: now)
  }

  private mutating func hold(seconds: Double, at now: FetchInstant) {
    let waiting = WaitingPeriod(seconds, from: now, maximum: Self.maximumHold.inSeconds)
    if waiting.seconds > holding?.remaining(at: now) ?? 0 { holding = waiting }
  }

  /// Holds off all requests until a time of day. See ``hold(for:at:)``.
  public mutating func hold(until date: Date, at now: FetchInstant) {
    hold(seconds: date.timeIntervalSince(now.date), at: now)
  }

  /// Replaces the current hold, for a store whose holds are kept elsewhere.
  ///
  /// - Parameter seconds: The length from `now` on; 0 for no hold.
  package mutating func setHold(seconds: Double, at now: FetchInstant) {
    holding = nil
    if seconds > 0 { hold(seconds: seconds, at: now) }
  }

  /// Holds off only scheduled wakes, because the server suggested a later request (`X-Poll-Interval`, `max-age`).
  ///
  /// - Parameters:
  ///   - wait: The length from `now` on, clamped to 0...``maximumSuggestion``. The suggestion replaces an earlier one.
  ///   - now: The moment of the response.
  public mutating func suggest(_ wait: Duration, at now: FetchInstant) {
    suggestion = WaitingPeriod(wait.inSeconds, from: now, maximum: Self.maximumSuggestion.inSeconds)
  }

  /// Records that a wake is due, but that there is no network. It is made up for once, after ``reconnected(at:)``.
  public mutating func wakeMissed() {
    (isWakeMissed, isWaitingForNetwork) = (true, true)
  }

  /// Records that the network has come back. Scheduled wakes begin after a delay of up to ``maximumStartupDelay``,
  /// which differs between installs. A missed wake follows then, even if the schedule has none.
  public mutating func reconnected(at now: FetchInstant) {
    (offline, offlineRuns) = (nil, 0)
    isWaitingForNetwork = false
    reconnection = WaitingPeriod(startupDelay, from: now, maximum: Self.maximumStartupDelay.inSeconds)
  }

  /// Records a push for an app that is not running. Do not record a push over a live connection, which needs no wake.
  ///
  /// - Parameter now: The moment of the push.
  /// - Returns: Whether to wake the app now. Otherwise the push is pending; see ``pushDelay(at:)``.
  public mutating func receivePush(at now: FetchInstant) -> Bool {
    if isFetchAllowed(at: now) { return pushes.receive(at: now) }
    pushes.postpone()
    return false
  }

  /// Makes a push pending, because a fetch for it could not run or has not reached its token.
  public mutating func postponePush() {
    pushes.postpone()
  }

  /// Takes the pending push if it may wake the app now, and counts the wake.
  ///
  ///     var scheduler = FetchScheduler(interval: .minimum)
  ///     let now = SystemClock().now
  ///     // A wake for a push that exceeded the rate limit, or that arrived during a hold.
  ///     if case .wake(.push, _) = scheduler.decision(at: now), scheduler.takePendingPush(at: now) {
  ///       scheduler.wakeStarted(.push, at: now)
  ///       print("fetch now")
  ///     } else if let delay = scheduler.pushDelay(at: now) {
  ///       print("fetch in \(delay)")
  ///     }
  ///
  /// - Returns: Whether to wake the app.
  public mutating func takePendingPush(at now: FetchInstant) -> Bool {
    guard pushDelay(at: now) == .zero else { return false }
    // The push of a process that was killed is no longer pending.
    pushes.postpone()
    return pushes.takePending(at: now)
  }
}

extension FetchScheduler.OpenWake: Codable {
  /// Decodes the wake. In a state of an earlier version only a wake by a push serves one.
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let reason = try container.decode(FetchReason.self, forKey: .reason)
    self.init(
      reason: reason, servesPush: try container.decodeIfPresent(Bool.self, forKey: .servesPush) ?? (reason == .push),
      previous: try container.decodeIfPresent(FetchInstant.self, forKey: .previous))
  }
}
