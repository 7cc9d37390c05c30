import BackgroundFetch
public import Foundation
import GRDB
import News
import Synchronization

/// The notifications of a store: those of new items, which each fetch delivers, and those that an app requests, now or for
/// a date.
///
/// Deliveries are journaled. The items that a fetch has to mention are recorded in the transaction that stores them, and the
/// record is removed once they were mentioned. A process that is killed in between leaves it to the next fetch, and only a
/// process that is killed between the call of the desktop and its record can show a notification twice. A fetch does not
/// wait for deliveries.
///
/// The counterpart of `UNUserNotificationCenter`.
///
///     var request = NotificationRequest(identifier: "tide", title: "High water in an hour")
///     request.deliveryDate = Date() + 3600
///     try await news.notifications.add(request)
///     print(try news.notifications.pending.map(\.identifier))
public final class LocalNotifications: Sendable {
  /// The time limit of a delivery by one channel.
  static let limit = Duration.seconds(10)
  /// The maximum wait of ``run()``, because other processes may add requests.
  private static let maximumWait = 900.0

  let store: LocalStore
  let folder: URL
  let timeZone: TimeZone
  let clock: any FetchClock
  let log: @Sendable (String) -> Void
  let presenter: (any NotificationPresenter)?
  private let application: ApplicationLifecycle
  private let notifiesInForeground: Bool
  private let fixedOptions: NotificationOptions?
  /// The wait of ``run()``.
  private let wait = Mutex<Task<Void, Never>?>(nil)

  init(
    _ configuration: NewsFetcher.Configuration, _ store: LocalStore, _ application: ApplicationLifecycle,
    _ clock: any FetchClock, _ log: @escaping @Sendable (String) -> Void
  ) {
    (self.store, self.application, self.clock, self.log) = (store, application, clock, log)
    (folder, timeZone) = (configuration.folder, configuration.timeZone)
    (presenter, fixedOptions) = (configuration.presenter, configuration.notifications)
    notifiesInForeground = configuration.notifiesInForeground
  }

  /// The choices in force: those of the configuration, or else the stored ones.
  public var options: NotificationOptions {
    fixedOptions ?? NewsFetcher.notificationOptions(in: folder)
  }

  /// Stores the user's choices, for all processes whose configuration has none of its own. Items that wait for the desktop or
  /// the program are forgotten if it is turned off.
  ///
  /// - Throws: `FetchError` with `storage`.
  public func setOptions(_ options: NotificationOptions) throws {
    // Writers of the settings hold the lock of the store.
    try store.write { db in
      try NotificationJournal(db).forgetItems(except: channels(options))
      try store.settings.update { $0.notifications = options }
    }
  }

  /// Adds a request, and delivers it if it is due. It replaces the request or the notification with the same identifier.
  ///
  /// - Throws: `FetchError` with `storage`.
  public func add(_ request: NotificationRequest) async throws {
    let now = clock.now.date
    try store.write { try NotificationJournal($0).add(request, at: now) }
    if request.deliveryDate ?? now <= now { await deliver() }
    reschedule()
  }

  /// The requests that were not delivered yet, the next one first.
  ///
  /// - Throws: `FetchError` with `storage`.
  public var pending: [NotificationRequest] {
    get throws { try store.read { try NotificationJournal($0).pending() } }
  }

  /// The last 200 delivered notifications, newest first, those of news included.
  ///
  /// - Throws: `FetchError` with `storage`.
  public var delivered: [DeliveredNotification] {
    get throws { try store.read { try NotificationJournal($0).delivered() } }
  }

  /// The number of new items that the desktop has not shown yet, because of quiet hours or a failure.
  ///
  /// - Throws: `FetchError` with `storage`.
  public var waitingItems: Int {
    get throws { try store.read { try NotificationJournal($0).unmentioned(.desktop, onlyBreaking: false).count } }
  }

  /// Removes requests that were not delivered yet.
  ///
  /// - Parameter identifiers: The identifiers; nil for all.
  /// - Throws: `FetchError` with `storage`.
  public func removePending(_ identifiers: [String]? = nil) throws {
    try store.write { try NotificationJournal($0).remove(identifiers) }
    reschedule()
  }

  /// Removes delivered notifications, from the desktop too if it still shows them.
  ///
  /// - Parameter identifiers: The identifiers; nil for all.
  /// - Throws: `FetchError` with `storage`.
  public func removeDelivered(_ identifiers: [String]? = nil) async throws {
    try store.write { try NotificationJournal($0).withdraw(identifiers) }
    await deliver()
  }

  /// Delivers due notifications until the task is cancelled, for a process that stays alive. The fetches of the process
  /// deliver their items without it.
  public func run() async {
    while !Task.isCancelled {
      await deliver()
      // The wait is known before its time is determined, so that a request that is added meanwhile ends it.
      let sleep = wait.withLock { wait in
        let sleep = Task {
          let seconds = max(1, min(Self.maximumWait, secondsUntilNext))
          _ = try? await clock.sleep(for: .seconds(seconds))
        }
        wait = sleep
        return sleep
      }
      await withTaskCancellationHandler {
        await sleep.value
      } onCancel: {
        sleep.cancel()
      }
    }
  }

  /// Lets ``run()`` determine the next delivery again.
  func reschedule() { wait.withLock { $0.take() }?.cancel() }

  /// The seconds until the next request is due or quiet hours end. A failed delivery is repeated after the maximum.
  private var secondsUntilNext: Double {
    let now = clock.now.date
    let quiet = options.quietHours?.end(containing: now, in: timeZone)
    let due = try? store.read { try NotificationJournal($0).nextDue(after: now) }
    return [quiet, due].compactMap { $0?.timeIntervalSince(now) }.min() ?? .infinity
  }
}

/// The part of a fetch.
extension LocalNotifications {
  /// Records the changes of a fetch in its transaction.
  ///
  /// - Parameters:
  ///   - news: The items to mention, newest first.
  ///   - isFirst: Whether the store followed no feed or another one.
  func record(_ changes: ItemChanges, news: [NewsItem], isFirst: Bool, _ db: Database) throws {
    if changes.isEmpty { return }
    let journal = NotificationJournal(db)
    if isFirst { try journal.forgetItems() }
    try journal.apply(changes)
    if news.isEmpty || application.currentState == .foreground && !notifiesInForeground { return }
    let channels = channels(options)
    if !channels.isEmpty { try journal.add(news, for: channels, at: clock.now.date) }
  }

  /// Returns the channels that are on.
  private func channels(_ options: NotificationOptions) -> Set<NotificationJournal.Channel> {
    var channels: Set<NotificationJournal.Channel> = []
    if options.showsNews { channels.insert(.desktop) }
    if options.program != nil { channels.insert(.program) }
    return channels
  }

  /// Whether anything waits for its delivery, now or later.
  var isEmpty: Bool {
    // A store that cannot be written may lack the tables.
    (try? store.read { try NotificationJournal($0).isEmpty }) ?? true
  }
}

extension NewsFetcher {
  /// Returns the stored choices about notifications in a folder; those of a folder without any are the default.
  public static func notificationOptions(in folder: URL) -> NotificationOptions {
    (try? SettingsFile(folder: folder).contents)?.notifications ?? NotificationOptions()
  }
}
