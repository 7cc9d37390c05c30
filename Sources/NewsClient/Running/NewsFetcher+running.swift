import BackgroundFetch
import Synchronization

extension NewsFetcher {
  /// Keeps the store current while the app is alive, until the task is cancelled.
  ///
  /// This is the system of an app that stays in memory, on machines where no other system wakes it:
  ///
  /// - It fetches when the schedule has a wake, see ``decision()``. The interval is `never` until ``updateSchedule(_:)``
  ///   sets another one.
  /// - It makes up for a wake without a network once the network is back, after a delay of up to five minutes that differs
  ///   between installs.
  /// - It handles the pushes that other processes receive for the store, see ``receiveNotifications(_:)``.
  /// - It notifies observers of the fetches of other processes, see ``observeOtherProcesses()``.
  /// - It delivers notifications that are due, see ``LocalNotifications/run()``.
  ///
  /// A suspended application is suspended again after each wake. In the background a fetch has 30 s, and pushes wake the app
  /// at most three times an hour. Between wakes the client sleeps, and decides again four times an hour. On Linux, libdispatch
  /// itself checks its threads every second in each program that has used them.
  ///
  /// The counterpart of what UIKit does for an app: `BGTaskScheduler` with `BGAppRefreshTask`, or before iOS 13 the calls of
  /// `application(_:performFetchWithCompletionHandler:)`.
  ///
  ///     try news.updateSchedule { $0.setInterval(.minimum) }
  ///     let running = Task {
  ///       await news.run { report in print(report.result, report.badge) }
  ///     }
  ///     // Later, when the app ends:
  ///     running.cancel()
  ///     await running.value
  ///
  /// - Parameters:
  ///   - followsEvents: Whether the app also keeps a connection to the server, which announces each change; see
  ///     ``watch(_:)``. The hourly limit of pushes does not apply then.
  ///   - onReport: Receives the report of each fetch of these kinds, one after the other.
  public func run(
    followsEvents: Bool = false, _ onReport: @escaping @Sendable (FetchReport) -> Void = { _ in }
  ) async {
    await Self.run([self], followsEvents: followsEvents) { _, report in onReport(report) }
  }

  /// Keeps several stores of one app current, until the task is cancelled; see ``run(followsEvents:_:)``.
  ///
  /// Stores whose wakes are due within five minutes share a wake, so that the network is used once. A store never fetches
  /// before its minimum interval for that.
  ///
  ///     let clients = try ["sport", "weather"].map { topic in
  ///       var configuration = configuration
  ///       configuration.folder = folder.appending(path: topic)
  ///       configuration.feed.topics = [topic]
  ///       return try NewsFetcher(configuration, application: application)
  ///     }
  ///     await NewsFetcher.run(clients) { client, report in
  ///       print(client.configuration.feed.topics, report.result)
  ///     }
  ///
  /// - Parameters:
  ///   - clients: The clients, each with a folder of its own. They use the same clock.
  ///   - followsEvents: Whether each client also keeps a connection to its server.
  ///   - onReport: Receives the client and the report of each fetch. For each client, one report follows the other.
  public static func run(
    _ clients: [NewsFetcher], followsEvents: Bool = false,
    _ onReport: @escaping @Sendable (NewsFetcher, FetchReport) -> Void = { _, _ in }
  ) async {
    if clients.isEmpty { return }
    let queues = clients.map { client in ReportQueue { onReport(client, $0) } }
    let loop = WakeLoop(clients) { client, handled in queues[client].add(handled) }
    await withTaskGroup { group in
      for (client, queue) in zip(clients, queues) {
        let reason: FetchReason = followsEvents ? .watch : .push
        if followsEvents { group.addTask { await client.followEvents(queue) } }
        group.addTask { await client.receiveNotifications(as: reason, queue) }
        group.addTask { await client.observeOtherProcesses() }
        group.addTask { await client.receiveActivations() }
        group.addTask { await client.notifications.run() }
      }
      // The loop ends with the task, or once the application has exited.
      await loop.run()
      group.cancelAll()
    }
  }

  /// Notifies the observers of ``changes`` of the fetches of other processes on the same store, and of other clients in this
  /// process, until the task is cancelled.
  ///
  /// Observers hear of a fetch within a second, each fetch once, with the items as they are stored then. Fetches since this
  /// client was opened are included. The database is read only after commits. ``run(followsEvents:_:)`` includes this method.
  ///
  /// The counterpart of `NSPersistentStoreRemoteChange` of Core Data.
  ///
  ///     let observing = Task { await news.observeOtherProcesses() }
  ///     for await changes in news.changes.values() {
  ///       print(changes.inserted.map(\.text))
  ///     }
  public func observeOtherProcesses() async {
    let commits = StoreChanges(store)
    while !Task.isCancelled {
      store.restore()
      do {
        for changes in try changesByOthers() { announce(changes) }
      } catch {
        log("cannot read the changes by other processes: \(error)")
      }
      deliverActivations()
      await commits.wait(upTo: Self.maximumObservationWait, clock: clock)
    }
  }

  /// The maximum wait for a commit, in seconds. The kernel signals commits, so this is a precaution.
  private static let maximumObservationWait = 3600.0

  private func changesByOthers() throws -> [ItemChanges] {
    try lastChange.withLock { last in
      let (changes, number) = try store.read { db in
        var number = last
        return (try ChangeTable(db).changes(after: &number, without: store.origin), number)
      }
      last = number
      return changes
    }
  }
}
