public import BackgroundFetch
public import Foundation
import GRDB
public import HTTPTransfer
public import News
import Synchronization

/// The client of a news app. It keeps the items of a source in a folder, fetches new ones when it is woken, and
/// notifies observers.
///
/// Several processes may share a folder, such as a timer that fetches and an app that is open. The counterpart of the
/// background-fetch and remote-notification methods of `UIApplicationDelegate`.
///
///     let source = Source(server: URL(string: "https://news.example")!, topics: ["harbour"])
///     let folder = URL(filePath: "/tmp/harbour", directoryHint: .isDirectory)
///     let news = try NewsFetcher(
///       .init(folder: folder, source: source, userAgent: "Harbour/1.0 (+https://harbour.example)"),
///       application: ApplicationLifecycle(launchReason: .user))
///     await news.application.launch()
///     for item in try news.items(limit: 10) { print(item.title ?? item.text) }
///     let report = await news.performFetch(.launch)
///     print(report.result, report.badge)
public final class NewsFetcher: Sendable {
  /// The settings of a client.
  ///
  ///     var configuration = NewsFetcher.Configuration(
  ///       folder: folder, source: source, userAgent: "Harbour/1.0 (+https://harbour.example)")
  ///     configuration.foregroundTimeout = .seconds(20)
  ///     let news = try NewsFetcher(configuration, application: application)
  ///     print(try news.count)
  public struct Configuration: Sendable {
    /// The folder of the store. It is created if it is missing.
    public var folder: URL
    /// The source to follow.
    public var source: Source
    /// The `User-Agent`: the name and version of the client, and how to reach its operators.
    public var userAgent: String
    /// The time zone of the user, in which habits are learned.
    public var timeZone = TimeZone.autoupdatingCurrent
    /// The source of conditions that make scheduled wakes more expensive. The default has none.
    public var constraints: any ConstraintSource = FetchConstraints.none
    /// The timeout of a fetch in the foreground, everything included; 60 s by default. In the background it is 30 s.
    public var foregroundTimeout = Duration.seconds(60)

    /// Creates the settings of a client.
    ///
    /// - Parameters:
    ///   - folder: The folder of the store.
    ///   - source: The source to follow.
    ///   - userAgent: The name and version of the client, and how to reach its operators.
    public init(folder: URL, source: Source, userAgent: String) {
      self.folder = folder
      self.source = source
      self.userAgent = userAgent
    }
  }

  /// The settings of this client.
  public let configuration: Configuration
  /// The application that this client belongs to.
  public let application: ApplicationLifecycle
  /// The observers of changes, notified once per fetch that has changed the stored items. `NotificationCenter.default`
  /// posts each change too, as `Notification.Name.newsItemsDidChange`.
  public let changes = ObserverList<Difference>()
  /// The observers of expirations, notified 5 s before the budget of an unfinished fetch ends.
  public let expirations = ObserverList<FetchBudget>()
  let store: LocalStore
  let server: NewsServer
  /// The waits that servers demand by `Retry-After`, for fetches and transfers.
  let holds: OriginHolds
  let clock: any FetchClock
  let log: @Sendable (String) -> Void
  private let fetcher: BackgroundFetcher<FetchReport>

  /// Opens the store, and creates what is missing.
  ///
  /// - Parameters:
  ///   - configuration: The settings of the client.
  ///   - application: The application that the client belongs to.
  ///   - transport: The HTTP transport; nil for an `AsyncHTTPTransport`.
  ///   - clock: The machine's clock, or a simulated one in tests. The application must use the same.
  ///   - log: Receives lines about failures.
  /// - Throws: `FetchError` with `storage`.
  public convenience init(
    _ configuration: Configuration, application: ApplicationLifecycle, transport: (any HTTPTransport)? = nil,
    clock: any FetchClock = SystemClock(), log: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    let store = try LocalStore(folder: configuration.folder, now: clock.now.date, log: log)
    self.init(configuration, store, application, transport, clock, log)
  }

  /// Opens the store of a folder, to follow the stored source or another one.
  ///
  /// - Parameters:
  ///   - folder: The folder of the store. It replaces the folder of the configuration.
  ///   - application: The application that the client belongs to.
  ///   - transport: The HTTP transport; nil for an `AsyncHTTPTransport`.
  ///   - clock: The machine's clock, or a simulated one in tests. The application must use the same.
  ///   - log: Receives lines about failures.
  ///   - configure: Receives the source followed last, nil if there is none. If it throws, nothing is created.
  /// - Throws: `FetchError` with `storage`, and the errors of `configure`.
  public convenience init(
    folder: URL, application: ApplicationLifecycle, transport: (any HTTPTransport)? = nil,
    clock: any FetchClock = SystemClock(), log: @escaping @Sendable (String) -> Void = { _ in },
    configure: (Source?) throws -> Configuration
  ) throws {
    let existing = try LocalStore.existing(in: folder, now: clock.now.date, log: log)
    var configuration = try configure(existing?.source)
    configuration.folder = folder
    let store = try existing ?? LocalStore(folder: folder, now: clock.now.date, log: log)
    self.init(configuration, store, application, transport, clock, log)
  }

  private init(
    _ configuration: Configuration, _ store: LocalStore, _ application: ApplicationLifecycle,
    _ transport: (any HTTPTransport)?,
    _ clock: any FetchClock, _ log: @escaping @Sendable (String) -> Void
  ) {
    self.configuration = configuration
    self.application = application
    self.clock = clock
    self.log = log
    self.store = store
    holds = OriginHolds(store: configuration.folder, clock: clock)
    let exchange = Exchange(
      transport: transport ?? AsyncHTTPTransport(), userAgent: configuration.userAgent, now: { clock.now.date },
      holds: holds)
    server = NewsServer(url: configuration.source.server, exchange: exchange)
    let lock = FetchLock(path: configuration.folder.appending(path: "fetch.lock").path(percentEncoded: false))
    fetcher = BackgroundFetcher(
      application: application, lock: lock, foregroundTimeout: configuration.foregroundTimeout, log: log)
  }

  /// The fetch handler: asks the server for changes, stores them, and notifies observers.
  ///
  /// In the background it ends within 30 s of the wake, in the foreground within ``Configuration/foregroundTimeout``.
  /// Fetches run one at a time; a call during a fetch joins it. The counterpart of
  /// `UIApplicationDelegate.application(_:performFetchWithCompletionHandler:)`.
  ///
  /// - Parameters:
  ///   - reason: The reason of the fetch.
  ///   - wake: The moment from which the 30 s count; nil for now. A process that was started for the fetch passes its
  ///     start.
  ///   - at: A token that the server is known to have reached. A client that holds it sends no request.
  /// - Returns: The report, failures included.
  @discardableResult
  public func performFetch(
    _ reason: FetchReason = .manual, wake: FetchInstant? = nil, at: SyncToken? = nil
  ) async -> FetchReport {
    let wake = wake ?? clock.now
    let run = FetchRun(self, reason: reason, wake: wake, at: at)
    store.restore()
    let outcome = await fetcher.perform(reason: reason, wake: wake) { [expirations] budget in
      budget.onExpiration { [weak budget] in
        if let budget { expirations.notify(budget) }
      }
      return try await run.report(within: budget)
    }
    return outcome.report ?? report(of: outcome, run)
  }

  /// The number of callers that wait for the running fetch.
  package var waitingCallers: Int { fetcher.waitingCallers }

  /// The fetch handler with a completion handler, which is called exactly once.
  ///
  /// - Parameters:
  ///   - reason: The reason of the fetch.
  ///   - completion: Receives the result, on any thread.
  public func performFetch(
    _ reason: FetchReason = .manual, completion: @escaping @Sendable (FetchResult) -> Void
  ) {
    let once = FetchCompletion(log: log, handler: completion)
    Task { once(await performFetch(reason).result) }
  }

  /// Creates the report of a fetch that has returned none.
  private func report(of outcome: FetchOutcome<FetchReport>, _ run: FetchRun) -> FetchReport {
    var report = FetchReport(result: .failed)
    report.badge = (try? badge) ?? 0
    report.error =
      switch outcome.ending {
      case .finished: outcome.failure ?? "the fetch has failed"
      case .expired: "the fetch did not end within \(Int((outcome.duration / .seconds(1)).rounded())) s"
      case .cancelled: "the fetch was cancelled"
      case .busy: "another process is fetching"
      }
    // An expired fetch has not recorded itself.
    return outcome.ending == .expired && !outcome.hasJoined ? run.recordExpiry(report) : report
  }
}

extension NewsFetcher {
  /// Returns the source that a folder followed last, nil if there is none.
  ///
  /// - Throws: `FetchError` with `storage`.
  public static func source(in folder: URL) throws -> Source? {
    try LocalStore.existing(in: folder, now: Date(), log: { _ in })?.source
  }

  /// The number of stored items.
  ///
  /// - Throws: `FetchError` with `storage`.
  public var count: Int {
    get throws { try store.read { try ItemTable($0).count() } }
  }

  /// Returns the stored items, newest first.
  ///
  /// - Parameter limit: The maximum number of items; nil for all.
  /// - Throws: `FetchError` with `storage`.
  public func items(limit: Int? = nil) throws -> [NewsItem] {
    try store.read { try ItemTable($0).newest(limit) }
  }

  /// The stored items, newest first. Each access reads the store.
  ///
  /// - Throws: `FetchError` with `storage`.
  public var allNewsItems: [NewsItem] {
    get throws { try items() }
  }

  /// The headlines, badge and time that can be shown without the app.
  ///
  /// - Throws: `FetchError` with `storage`.
  public var snapshot: NewsSnapshot {
    get throws {
      try store.read { db in
        var snapshot =
          try StateTable(db).value(NewsSnapshot.self, .snapshot) ?? NewsSnapshot(items: [], badge: 0, checked: nil)
        // A fetch without new items changes only the time, so the headlines are not stored again.
        snapshot.checked = try StateTable(db).sync?.checked
        return snapshot
      }
    }
  }

  /// The number of items that arrived after the app was last opened. The counterpart of
  /// `UIApplication.applicationIconBadgeNumber`.
  ///
  /// - Throws: `FetchError` with `storage`.
  public var badge: Int {
    get throws { try store.read { try StateTable($0).sync?.badge ?? 0 } }
  }

  /// The stored schedule, in the configured time zone.
  ///
  /// - Throws: `FetchError` with `storage`.
  public var schedule: FetchScheduler {
    get throws { try store.read { try scheduler($0) } }
  }

  /// Decides whether a scheduled wake is due under the present conditions; see
  /// `FetchScheduler.decision(at:constraints:)`.
  ///
  /// - Throws: `FetchError` with `storage`.
  public func decision() throws -> FetchDecision {
    let (schedule, now) = (try schedule, clock.now)
    let decision = schedule.decision(at: now)
    // The machine is queried only if its answer can change the decision.
    guard case .wake = decision else { return decision }
    return schedule.decision(at: now, constraints: configuration.constraints.current)
  }

  /// Returns the records of the last wakes, newest first.
  ///
  /// - Parameter limit: The maximum number of records. The store keeps 500.
  /// - Throws: `FetchError` with `storage`.
  public func runs(limit: Int = 20) throws -> [RunRecord] {
    try store.read { try RunTable($0).newest(limit) }
  }

  /// Records that the user has opened the app: learns the time, and clears the badge.
  ///
  /// - Throws: `FetchError` with `storage`.
  public func recordOpening() throws {
    let now = clock.now
    try store.write { db in
      var scheduler = try scheduler(db)
      scheduler.recordOpening(at: now)
      try store.save(scheduler, isChosen: true, db)
      guard var state = try StateTable(db).sync else { return }
      state.badge = 0
      try save(state, db)
    }
  }

  /// Changes the schedule, such as the minimum interval between wakes.
  ///
  /// A folder that follows no source yet follows that of the configuration from now on. Another source replaces the
  /// followed one only once its server has answered a fetch. A call of `setInterval(_:)` in it is the counterpart of
  /// `UIApplication.setMinimumBackgroundFetchInterval(_:)`.
  ///
  /// - Throws: `FetchError` with `storage`.
  public func updateSchedule(_ change: (inout FetchScheduler) -> Void) throws {
    let isFollowed = try store.write { db in
      var scheduler = try scheduler(db)
      change(&scheduler)
      try store.save(scheduler, isChosen: true, db)
      return try store.follow(configuration.source, db)
    }
    if !isFollowed {
      log(
        "what is followed stays as it is: another server, or other topics, count from their first successful fetch on")
    }
  }

  /// Stores a wait that the server demands; see `FetchScheduler.hold(seconds:at:)`.
  func hold(seconds: Double) throws {
    try store.write { db in
      var scheduler = try scheduler(db)
      scheduler.hold(seconds: seconds, at: clock.now)
      try store.save(scheduler, db)
      try? store.settings.save(scheduler)
    }
  }

  /// Handles a remote notification for a sleeping app.
  ///
  /// It fetches if the notification asks for that, its token is not held yet, and the hourly limit of wakes by pushes
  /// is not exhausted. The counterpart of
  /// `UIApplicationDelegate.application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`.
  ///
  /// - Parameters:
  ///   - notification: The notification.
  ///   - wake: The moment from which the 30 s count; nil for now.
  /// - Returns: The report of the fetch; `noData` without a request if there was no reason to fetch.
  @discardableResult
  public func receive(_ notification: RemoteNotification, wake: FetchInstant? = nil) async -> FetchReport {
    let wake = wake ?? clock.now
    do {
      guard notification.isContentAvailable, try !holds(notification.token),
        try store.write({ db in
          var scheduler = try scheduler(db)
          let isAllowed = scheduler.receivePush(at: wake)
          try store.save(scheduler, db)
          return isAllowed
        })
      else {
        var report = FetchReport(result: .noData)
        report.badge = try badge
        return report
      }
    } catch {
      var report = FetchReport(result: .failed)
      report.error = "\(error)"
      return report
    }
    return await performFetch(.push, wake: wake, at: notification.token)
  }

  /// Follows the server's events until the task is cancelled, and fetches each announced change at once.
  ///
  /// It reconnects after every end, never before the time that the server sets, and with a growing delay after
  /// failures. The application should be launched and alive. Scheduled wakes may continue meanwhile.
  ///
  /// - Parameter tell: Receives the report of each fetch, one after the other.
  public func watch(_ tell: @escaping @Sendable (FetchReport) -> Void = { _ in }) async {
    await NewsWatch(self, tell: tell).run()
  }

  /// The token of the stored items; nil before the first fetch.
  var token: SyncToken? {
    get throws { try store.read { try StateTable($0).sync(configuration.source).token } }
  }

  /// Returns whether the stored items have reached a token. Tokens of other scopes are compared by version, tokens of
  /// other epochs not at all.
  package func holds(_ token: SyncToken?) throws -> Bool {
    guard let token else { return false }
    return try self.token.map { $0.epoch == token.epoch && $0.version >= token.version } ?? false
  }

  func scheduler(_ db: Database) throws -> FetchScheduler {
    var scheduler = try store.scheduler(db)
    scheduler.timeZone = configuration.timeZone
    // A transfer may have received the server's `Retry-After`.
    let hold = holds.remaining(configuration.source.server)
    if hold > 0 { scheduler.hold(seconds: hold, at: clock.now) }
    return scheduler
  }

  /// Stores the synchronization state, and updates the snapshot if it has changed.
  ///
  /// - Parameter held: The state before; nil to update the snapshot always. The items must be unchanged if both tokens
  ///   are equal.
  func save(_ state: SyncState, since held: SyncState? = nil, _ db: Database) throws {
    try store.save(state, db)
    if let held, held.token == state.token, held.badge == state.badge { return }
    let items = try ItemTable(db).newest(NewsSnapshot.most)
    try StateTable(db).save(NewsSnapshot(items: items, badge: state.badge, checked: state.checked), .snapshot)
  }
}
