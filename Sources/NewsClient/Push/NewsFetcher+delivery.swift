public import BackgroundFetch
public import Foundation
import GRDB
import HTTPTransfer

extension NewsFetcher {
  /// The maximum time for an app to take a push, in seconds. Afterwards the sender handles it, in the rest of the 30 s.
  private static let takeTimeout = 10.0
  /// The time of a wake, in seconds.
  private static let wakeTime = FetchBudget.total / .seconds(1)
  /// The maximum time from the wake to the report of the app, in seconds.
  private static let reportTimeout = 32.0
  /// The maximum time from a launch until the app handles pushes, in seconds, if the launched program ends before. The
  /// sender that has launched it holds the launch lock meanwhile.
  private static let launchTimeout = 5.0
  /// The interval between two checks whether the app is still running.
  private static let checkInterval = 0.5
  /// The maximum wait for a signal of an arriving push, in seconds.
  private static let maximumWait = 600.0
  /// The interval between two attempts to become the app of the store, in seconds, while another process is.
  private static let retryInterval = 60.0

  /// Delivers a push to the app of this store: the running one, or one that is launched for it if the user allows that, see
  /// ``setLaunchCommand(_:)``. Otherwise this process handles the push itself, with ``receive(_:wake:)``.
  ///
  /// A push that does not need a fetch, or exceeds the hourly limit of wakes, launches no app. Programs that receive pushes
  /// for an app call this, such as the one that a UnifiedPush distributor runs.
  ///
  ///     let payload = FileHandle.standardInput.readDataToEndOfFile()
  ///     let report = await news.deliver(payload)
  ///     print(report.result)
  ///
  /// - Parameters:
  ///   - payload: The payload in JSON.
  ///   - wake: The moment from which the 30 s count; nil for now.
  /// - Returns: The report of the process that has handled the push.
  @discardableResult
  public func deliver(_ payload: Data, wake: FetchInstant? = nil) async -> FetchReport {
    let wake = wake ?? clock.now
    let notification = RemoteNotification(payload: payload)
    if payload.count <= RemoteNotification.maximumPayloadBytes {
      do {
        if let report = try await pass(payload, notification, wake: wake) { return report }
      } catch {
        log("cannot pass the push to the app: \(error)")
      }
    }
    return await receive(notification, wake: wake)
  }

  /// Handles the pushes that other processes deliver to the app of this store, until the task is cancelled.
  ///
  /// An app that stays alive calls this, so that a push reaches it instead of being handled by the process that has received
  /// it. One process of a store receives pushes at a time; a second one waits. ``watch(_:)`` includes it.
  ///
  ///     let receiving = Task { await news.receiveNotifications() }
  ///
  /// - Parameter onReport: Receives the report of each push, one after the other.
  public func receiveNotifications(_ onReport: @escaping @Sendable (FetchReport) -> Void = { _ in }) async {
    await receiveNotifications(as: .push, ReportQueue(onReport))
  }

  func receiveNotifications(as reason: FetchReason, _ queue: ReportQueue) async {
    let inbox = PushInbox(store: configuration.folder)
    do {
      guard let held = try await appLock(inbox) else { return }
      defer { held.release() }
      try inbox.prepare()
      let arrivals = inbox.arrivals()
      inbox.recover()
      await withDiscardingTaskGroup { group in
        while !Task.isCancelled {
          while let push = inbox.take() {
            group.addTask {
              // The sender waits for the report only if its 30 s are not over.
              let wake = push.wake.flatMap { 0..<Self.wakeTime ~= self.clock.now.seconds(since: $0) ? $0 : nil }
              let handled = await self.application.whileAwake {
                await self.receive(
                  RemoteNotification(payload: push.payload), as: reason, wake: wake, isRetaken: push.isRetaken)
              }
              queue.add(handled)
              inbox.finish(push.name, handled.report)
            }
          }
          await arrivals.wait(upTo: Self.maximumWait, clock: clock)
        }
      }
    } catch is CancellationError {
      // The app ends.
    } catch {
      log("cannot receive pushes from other processes: \(error)")
    }
  }

  /// Waits until no other process is the app of this store.
  private func appLock(_ inbox: PushInbox) async throws -> FetchLock.Handle? {
    while !Task.isCancelled {
      // A sender that checks the lock holds it for an instant, whatever the clock of the schedule says.
      if let held = try await inbox.appLock.acquire(within: .milliseconds(300)) { return held }
      try await clock.sleep(for: .seconds(Self.retryInterval))
    }
    return nil
  }

  /// Passes a push to the app.
  ///
  /// - Returns: The report of the app, or of this process if the app has not handled the push; nil if no app may be running
  ///   or launched for the push.
  private func pass(
    _ payload: Data, _ notification: RemoteNotification, wake: FetchInstant
  ) async throws -> FetchReport? {
    let inbox = PushInbox(store: configuration.folder)
    guard try inbox.isAppRunning || mayLaunch(for: notification, wake: wake) else { return nil }
    try inbox.prepare()
    let reports = inbox.reports()
    // Other senders wait for the app that this one launches.
    let launch = try inbox.isAppRunning ? nil : inbox.launchLock.acquire()
    defer { launch?.release() }
    let name = try inbox.add(payload, wake: wake)
    // The app may have started before the lock was acquired.
    let launched = launch == nil || inbox.isAppRunning ? nil : launchApp()
    let start = clock.now
    while true {
      if let report = inbox.takeReport(of: name) { return report }
      let elapsed = clock.now.seconds(since: start)
      let mayStart = launched.map { $0.isRunning || elapsed < Self.launchTimeout } ?? false
      if inbox.isAppRunning || !mayStart || elapsed >= Self.takeTimeout { launch?.release() }
      let isAppGone = !inbox.isAppLaunching && !inbox.isAppRunning
      if isAppGone || elapsed >= Self.takeTimeout || Task.isCancelled,
        let wasTaken = inbox.takeBack(name, isAppGone: isAppGone)
      {
        launch?.release()
        return await receive(notification, as: .push, wake: wake, isRetaken: wasTaken).report
      }
      if clock.now.seconds(since: wake) >= Self.reportTimeout || Task.isCancelled {
        var report = FetchReport(FetchError(.budget, "the app has not handled the push in time"))
        report.badge = (try? badge) ?? 0
        return report
      }
      await reports.wait(upTo: Self.checkInterval, clock: clock)
    }
  }

  /// Returns whether a push is a reason to launch the app: the user allows it, and a fetch is necessary and allowed.
  private func mayLaunch(for notification: RemoteNotification, wake: FetchInstant) throws -> Bool {
    guard launchCommand != nil, notification.isContentAvailable, try !local.hasReached(notification.token) else {
      return false
    }
    // The program may be one that does not handle pushes, which is not started again while it runs.
    guard !isLaunchedAppRunning || PushInbox(store: configuration.folder).isAppLaunching else { return false }
    return try store.read { db in
      var (history, scheduler) = (try local.pushHistory(db), try local.scheduler(db))
      return history.add(notification.id) && scheduler.receivePush(at: wake)
    }
  }

  #if os(Linux) || os(macOS)
    private var isLaunchedAppRunning: Bool {
      ApplicationLauncher(command: launchCommand, store: configuration.folder)?.isRunning ?? false
    }

    private func launchApp() -> LaunchedProgram? {
      guard let launcher = ApplicationLauncher(command: launchCommand, store: configuration.folder) else { return nil }
      do {
        return try launcher.launch(LaunchOptions(reason: .push, store: configuration.folder))
      } catch {
        log("cannot launch the app: \(error)")
        return nil
      }
    }
  #else
    /// A process that never runs, because only the system launches apps.
    private struct LaunchedProgram {
      let isRunning = false
    }

    private var isLaunchedAppRunning: Bool { false }

    private func launchApp() -> LaunchedProgram? { nil }
  #endif
}
