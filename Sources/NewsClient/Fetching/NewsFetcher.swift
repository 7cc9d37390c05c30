public import BackgroundFetch
public import Foundation
public import HTTPTransfer
public import News
import Synchronization

/// The client of a news app. It keeps the items of a feed in a folder, fetches new ones when it is woken, and notifies
/// observers.
///
/// Several processes may share a folder, such as a timer that fetches and an app that is open. The counterpart of the
/// background-fetch and remote-notification methods of `UIApplicationDelegate`.
///
///     let feed = FollowedFeed(server: URL(string: "https://news.example")!, topics: ["harbour"])
///     let folder = URL(filePath: "/tmp/harbour", directoryHint: .isDirectory)
///     let news = try NewsFetcher(
///       .init(folder: folder, feed: feed, userAgent: "Harbour/1.0 (+https://harbour.example)"),
///       application: ApplicationLifecycle(launchReason: .user))
///     await news.application.launch()
///     for item in try news.items(limit: 10) { print(item.title ?? item.text) }
///     let report = await news.performFetch(.launch)
///     print(report.result, report.badge)
public final class NewsFetcher: Sendable {
  /// The settings of a client.
  ///
  ///     var configuration = NewsFetcher.Configuration(
  ///       folder: folder, feed: feed, userAgent: "Harbour/1.0 (+https://harbour.example)")
  ///     configuration.foregroundTimeout = .seconds(20)
  ///     let news = try NewsFetcher(configuration, application: application)
  ///     print(try news.count)
  public struct Configuration: Sendable {
    /// The folder of the store. It is created if it is missing.
    public var folder: URL
    /// The feed to follow.
    public var feed: FollowedFeed
    /// The `User-Agent`: the name and version of the client, and how to reach its operators.
    public var userAgent: String
    /// The time zone of the user, in which habits are learned.
    public var timeZone = TimeZone.autoupdatingCurrent
    /// The source of conditions that make scheduled wakes more expensive. The default has none.
    public var constraints: any ConstraintSource = FetchConstraints.none
    /// The timeout of a fetch in the foreground, everything included; 60 s by default. In the background it is 30 s.
    public var foregroundTimeout = Duration.seconds(60)
    /// The minimum interval between wakes; nil for the stored one.
    package var interval: FetchInterval?
    /// The choices about notifications; nil for those that are stored in the folder.
    public var notifications: NotificationOptions?
    /// The presenter of notifications: the desktop on Linux; nil on other platforms, where the app passes its own.
    public var presenter: (any NotificationPresenter)?
    /// Whether new items raise notifications while the app is visible. By default they do not: the user sees the items.
    public var notifiesInForeground = false

    /// Creates the settings of a client.
    ///
    /// - Parameters:
    ///   - folder: The folder of the store.
    ///   - feed: The feed to follow.
    ///   - userAgent: The name and version of the client, and how to reach its operators.
    public init(folder: URL, feed: FollowedFeed, userAgent: String) {
      self.folder = folder
      self.feed = feed
      self.userAgent = userAgent
      #if os(Linux)
        presenter = DesktopNotifications(name: ProcessInfo.processInfo.processName)
      #endif
    }
  }

  /// The settings of this client.
  public let configuration: Configuration
  /// The application that this client belongs to.
  public let application: ApplicationLifecycle
  /// The observers of changes, notified once per fetch that has changed the stored items. `NotificationCenter.default`
  /// posts each change too, as `Notification.Name.newsItemsDidChange`.
  public let changes = ObserverList<ItemChanges>()
  /// The observers of expirations, notified 5 s before the budget of an unfinished fetch ends.
  public let expirations = ObserverList<FetchBudget>()
  /// The notifications of new items, and those that the app requests.
  public let notifications: LocalNotifications
  /// The observers of pushes. Each push is notified once, after the fetch for it, unless it was dropped or is pending.
  public let remoteNotifications = ObserverList<RemoteNotification>()
  /// The observers of taps on notifications. Each tap is notified once; see ``receiveActivations()``.
  public let activations = ObserverList<NotificationActivation>()
  /// The stored state of the followed feed.
  let local: LocalFeed
  let server: NewsServer
  /// The registration of this device for pushes.
  let registrar: DeviceRegistrar
  let clock: any FetchClock
  let log: @Sendable (String) -> Void
  private let fetcher: BackgroundFetcher<FetchReport>
  /// The lock of the process that fetches.
  private let lock: FetchLock

  /// The store of the folder.
  var store: LocalStore { local.store }
  /// The number of the last record of changes that observers have heard of.
  let lastChange: Mutex<Int64>

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
    let store = try LocalStore(folder: configuration.folder, log: log)
    self.init(configuration, store, application, transport, clock, log)
  }

  /// Opens the store of a folder, to follow the stored feed or another one.
  ///
  /// - Parameters:
  ///   - folder: The folder of the store. It replaces the folder of the configuration.
  ///   - application: The application that the client belongs to.
  ///   - transport: The HTTP transport; nil for an `AsyncHTTPTransport`.
  ///   - clock: The machine's clock, or a simulated one in tests. The application must use the same.
  ///   - log: Receives lines about failures.
  ///   - configure: Receives the feed that was followed last; nil if there is none. If it throws, nothing is created.
  /// - Throws: `FetchError` with `storage`, and the errors of `configure`.
  public convenience init(
    folder: URL, application: ApplicationLifecycle, transport: (any HTTPTransport)? = nil,
    clock: any FetchClock = SystemClock(), log: @escaping @Sendable (String) -> Void = { _ in },
    configure: (FollowedFeed?) throws -> Configuration
  ) throws {
    let existing = try LocalStore.existing(in: folder, log: log)
    var configuration = try configure(existing?.feed)
    configuration.folder = folder
    let store = try existing ?? LocalStore(folder: folder, log: log)
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
    notifications = LocalNotifications(configuration, store, application, clock, log)
    lastChange = Mutex((try? store.read { try ChangeTable($0).last }) ?? 0)
    let retryAfterStore = RetryAfterStore(store: configuration.folder, clock: clock)
    local = LocalFeed(
      feed: configuration.feed, store: store, timeZone: configuration.timeZone, clock: clock,
      retryAfterStore: retryAfterStore, interval: configuration.interval)
    let requester = HTTPRequester(
      transport: transport ?? AsyncHTTPTransport(), userAgent: configuration.userAgent, now: { clock.now.date },
      retryAfterStore: retryAfterStore)
    server = NewsServer(url: configuration.feed.server, requester: requester)
    registrar = DeviceRegistrar(local, folder: configuration.folder, server: server, log: log)
    lock = FetchLock(path: configuration.folder.appending(path: "fetch.lock").path(percentEncoded: false))
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
  ///   - token: A token that the server is known to have reached. If the store has reached it too, no request is sent.
  /// - Returns: The report, failures included.
  @discardableResult
  public func performFetch(
    _ reason: FetchReason = .manual, wake: FetchInstant? = nil, reaching token: SyncToken? = nil
  ) async -> FetchReport {
    await fetch(reason, wake: wake, at: token).report
  }

  /// The outcome of a call of the fetch handler.
  struct Handled: Sendable {
    var report: FetchReport
    /// The number of the fetch, the same for all of its callers; nil if there was none.
    var run: UInt64?
  }

  /// The fetch handler; see ``performFetch(_:wake:reaching:)``.
  func fetch(_ reason: FetchReason, wake: FetchInstant? = nil, at: SyncToken? = nil) async -> Handled {
    let wake = wake ?? clock.now
    let run = FetchRun(
      local, server: server, notifications: notifications, reason: reason, wake: wake, at: at, log: log)
    store.restore()
    let outcome = await fetcher.perform(reason: reason, wake: wake) { [self] budget in
      budget.onExpiration { [expirations, weak budget] in
        if let budget { expirations.notify(budget) }
      }
      let report = try await run.report(within: budget) { changes in announce(changes) }
      let isWake = reason == .scheduled || reason == .push
      if isWake || registrar.hasSignedOut { await maintainDevice(within: budget, after: report.result) }
      return report
    }
    if !outcome.hasJoined { deliverNotifications(run) }
    return Handled(report: outcome.report ?? report(of: outcome, run), run: outcome.run)
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

  /// Delivers what the fetch has to mention. The fetch does not wait for it; only the suspension of the app does.
  private func deliverNotifications(_ run: FetchRun) {
    if notifications.isEmpty { return }
    let tasks = application.backgroundTasks
    let task = tasks.beginUnlimited("notifications")
    Task {
      run.record(await notifications.deliverAll())
      notifications.reschedule()
      tasks.end(task)
    }
  }

  func announce(_ changes: ItemChanges) {
    self.changes.notify(changes)
    NotificationCenter.default.post(
      name: .newsItemsDidChange, object: self, userInfo: [ItemChanges.userInfoKey: changes])
  }

  /// The reason why a fetch could not begin.
  private var busyMessage: String {
    guard let process = lock.holder, lock.isHolderStopped else { return "another process is fetching" }
    return "process \(process) is fetching, but is stopped; continue it with kill -CONT \(process), or end it"
  }

  /// Creates the report of a fetch that has returned none.
  private func report(of outcome: FetchOutcome<FetchReport>, _ run: FetchRun) -> FetchReport {
    let seconds = Int((outcome.duration / .seconds(1)).rounded())
    let failure =
      switch outcome.ending {
      case .finished: FetchError(.storage, outcome.failure ?? "the fetch failed")
      case .expired: FetchError(.budget, "the fetch did not end within \(seconds) s")
      case .cancelled: FetchError(.cancelled, "the fetch was cancelled")
      case .busy: FetchError(.busy, busyMessage)
      }
    // An expired fetch has not recorded itself.
    return run.abandonedReport(failure, isRecorded: outcome.ending == .expired && !outcome.hasJoined)
  }
}
