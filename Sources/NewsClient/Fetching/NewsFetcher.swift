public import BackgroundFetch
public import Foundation
import GRDB
public import News
import Synchronization

/// The client of a news app: keeps the items of a source in a folder, fetches what is new when it is woken, and tells those
/// who want to know.
///
/// Several processes may share a folder: a timer that fetches and an app that is open.
public final class NewsFetcher: Sendable {
  /// What a client is to be told.
  public struct Configuration: Sendable {
    /// Where everything is kept; made if it is missing.
    public var folder: URL
    /// What is followed.
    public var source: Source
    /// `User-Agent`: name, version and how to reach those who run it.
    public var userAgent: String
    /// Where the user's clock is.
    public var timeZone = TimeZone.autoupdatingCurrent
    /// What makes scheduled wakes dearer at the moment; nothing, if nothing is said.
    public var constraints: any ConstraintSource = FetchConstraints.none
    /// The longest that a fetch may take in the foreground, everything included. In the background it is 30 s.
    public var foregroundTimeout = Duration.seconds(60)

    /// A client of a source.
    ///
    /// - Parameters:
    ///   - folder: Where everything is kept.
    ///   - source: What is followed.
    ///   - userAgent: Name, version and how to reach those who run it.
    public init(folder: URL, source: Source, userAgent: String) {
      self.folder = folder
      self.source = source
      self.userAgent = userAgent
    }
  }

  /// What is followed, and where it is kept.
  public let configuration: Configuration
  /// The application that this is a part of.
  public let application: Application
  /// Told once of each fetch that has changed what is stored. `NotificationCenter.default` tells of it, too, as
  /// `Notification.Name.newsItemsDidChange`.
  public let changes = Observers<Difference>()
  /// Told 5 s before the time of a fetch that is still under way is over.
  public let expirations = Observers<FetchBudget>()
  let store: LocalStore
  let server: NewsServer
  /// The waiting times that servers have demanded by `Retry-After`, of transfers too.
  let holds: OriginHolds
  let clock: any FetchClock
  let log: @Sendable (String) -> Void
  private let fetcher: BackgroundFetcher<FetchReport>

  /// Opens the store.
  ///
  /// - Parameters:
  ///   - configuration: What is followed, and where it is kept.
  ///   - application: The application that this is a part of.
  ///   - transport: What sends requests; AsyncHTTPClient if nothing is said.
  ///   - clock: The machine's, or another one in tests; the same as the application's.
  ///   - log: Gets lines about what failed.
  /// - Throws: ``FetchError`` with `storage`.
  public convenience init(
    _ configuration: Configuration, application: Application, transport: (any HTTPTransport)? = nil,
    clock: any FetchClock = SystemClock(), log: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    let store = try LocalStore(folder: configuration.folder, now: clock.now.date, log: log)
    self.init(configuration, store, application, transport, clock, log)
  }

  /// Opens the store of a folder to go on with what it has followed last, or with something else.
  ///
  /// - Parameters:
  ///   - folder: Where everything is kept, whatever the configuration says.
  ///   - application: The application that this is a part of.
  ///   - transport: What sends requests; AsyncHTTPClient if nothing is said.
  ///   - clock: The machine's, or another one in tests; the same as the application's.
  ///   - log: Gets lines about what failed.
  ///   - configure: Gets what was followed last, nil if nothing. If it throws, nothing is made.
  /// - Throws: ``FetchError`` with `storage`, and what `configure` throws.
  public convenience init(
    folder: URL, application: Application, transport: (any HTTPTransport)? = nil,
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
    _ configuration: Configuration, _ store: LocalStore, _ application: Application, _ transport: (any HTTPTransport)?,
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

  /// The fetch handler: asks the server for what is new, stores it, and tells observers, within 30 s of the wake and one
  /// fetch at a time. A second call while one is under way joins it.
  ///
  /// - Parameters:
  ///   - reason: Why.
  ///   - wake: From when the 30 s count; now, unless the process was started for it before.
  ///   - at: A token the server is known to have reached: a client that holds it asks nothing.
  /// - Returns: What has come of it.
  @discardableResult
  public func performFetch(
    _ reason: FetchReason = .manual, wake: FetchMoment? = nil, at: SyncToken? = nil
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

  /// How many wait for the fetch that is under way.
  package var waitingCallers: Int { fetcher.waitingCallers }

  /// The fetch handler with a completion handler, which is called once, whatever happens.
  ///
  /// - Parameters:
  ///   - reason: Why.
  ///   - completion: Gets the result, on any thread.
  public func performFetch(
    _ reason: FetchReason = .manual, completion: @escaping @Sendable (FetchResult) -> Void
  ) {
    let once = FetchCompletion(log: log, handler: completion)
    Task { once(await performFetch(reason).result) }
  }

  /// The report of a fetch that has returned none.
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
    // A fetch that was given up has recorded nothing.
    return outcome.ending == .expired && !outcome.hasJoined ? run.recordExpiry(report) : report
  }
}

extension NewsFetcher {
  /// What a folder has followed last, nil if nothing.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public static func source(in folder: URL) throws -> Source? {
    try LocalStore.existing(in: folder, now: Date(), log: { _ in })?.source
  }

  /// How many items are stored.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public var count: Int {
    get throws { try store.read { try ItemTable($0).count() } }
  }

  /// What is stored, newest first.
  ///
  /// - Parameter limit: nil for all.
  /// - Throws: ``FetchError`` with `storage`.
  public func items(limit: Int? = nil) throws -> [NewsItem] {
    try store.read { try ItemTable($0).newest(limit) }
  }

  /// What is stored, newest first; read anew each time.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public var allNewsItems: [NewsItem] {
    get throws { try items() }
  }

  /// What can be shown without the app.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public var snapshot: NewsSnapshot {
    get throws {
      try store.read { db in
        var snapshot =
          try StateTable(db).value(NewsSnapshot.self, .snapshot) ?? NewsSnapshot(items: [], badge: 0, checked: nil)
        // The headlines stay as they are when there was nothing new.
        snapshot.checked = try StateTable(db).sync?.checked
        return snapshot
      }
    }
  }

  /// How many items came since the app was last opened.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public var badge: Int {
    get throws { try store.read { try StateTable($0).sync?.badge ?? 0 } }
  }

  /// The schedule as it is stored.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public var schedule: FetchScheduler {
    get throws { try store.read { try scheduler($0) } }
  }

  /// Whether the schedule has a wake now, as things are; see `FetchScheduler.decision(at:constraints:)`.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func decision() throws -> FetchDecision {
    let (schedule, now) = (try schedule, clock.now)
    let decision = schedule.decision(at: now)
    // The machine is asked only where that could change something.
    guard case .wake = decision else { return decision }
    return schedule.decision(at: now, constraints: configuration.constraints.current)
  }

  /// The last wakes, newest first.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func runs(limit: Int = 20) throws -> [RunRecord] {
    try store.read { try RunTable($0).newest(limit) }
  }

  /// The user has opened the app: that is learned, and the badge is cleared.
  ///
  /// - Throws: ``FetchError`` with `storage`.
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

  /// Changes the schedule, such as how often wakes are wanted.
  ///
  /// A folder that has followed nothing follows the source of the configuration from now on. Another source replaces the
  /// one that is followed only once its server has answered a fetch.
  ///
  /// - Throws: ``FetchError`` with `storage`.
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

  /// The server wants no requests for a while; see `FetchScheduler.hold(seconds:at:)`.
  func hold(seconds: Double) throws {
    try store.write { db in
      var scheduler = try scheduler(db)
      scheduler.hold(seconds: seconds, at: clock.now)
      try store.save(scheduler, db)
      try? store.settings.save(scheduler)
    }
  }

  /// A push has come for a sleeping app: wakes the handler if it asks for that, if there is anything that is not held, and
  /// if there were not too many in the last hour.
  ///
  /// - Returns: What has come of it; `noData` without a request where there was no reason for one.
  @discardableResult
  public func receive(_ notification: RemoteNotification, wake: FetchMoment? = nil) async -> FetchReport {
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

  /// Follows the server's events until the task is cancelled, and fetches what they tell of at once. It connects anew
  /// after every end, never sooner than the server has said, and where it cannot, later and later. The application
  /// should be launched and alive; a schedule goes on beside it.
  ///
  /// - Parameter tell: Is told of each fetch, one after the other.
  public func watch(_ tell: @escaping @Sendable (FetchReport) -> Void = { _ in }) async {
    await NewsWatch(self, tell: tell).run()
  }

  /// What the stored items are equal to; nil where there are none yet.
  var token: SyncToken? {
    get throws { try store.read { try StateTable($0).sync(configuration.source).token } }
  }

  /// Whether what is stored has reached a token. Tokens of other scopes compare by version, those of other histories not
  /// at all.
  package func holds(_ token: SyncToken?) throws -> Bool {
    guard let token else { return false }
    return try self.token.map { $0.epoch == token.epoch && $0.version >= token.version } ?? false
  }

  func scheduler(_ db: Database) throws -> FetchScheduler {
    var scheduler = try store.scheduler(db)
    scheduler.timeZone = configuration.timeZone
    // The server may have demanded a wait of a transfer.
    let hold = holds.remaining(configuration.source.server)
    if hold > 0 { scheduler.hold(seconds: hold, at: clock.now) }
    return scheduler
  }

  /// Stores how far the items are, and what of it can be shown without the app.
  ///
  /// - Parameter held: What was stored before; the items must be as they were if the tokens are the same.
  func save(_ state: SyncState, since held: SyncState? = nil, _ db: Database) throws {
    try store.save(state, db)
    if let held, held.token == state.token, held.badge == state.badge { return }
    let items = try ItemTable(db).newest(NewsSnapshot.most)
    try StateTable(db).save(NewsSnapshot(items: items, badge: state.badge, checked: state.checked), .snapshot)
  }
}
