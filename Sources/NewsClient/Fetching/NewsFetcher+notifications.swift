public import BackgroundFetch
import Foundation
import GRDB
import HTTPTransfer
import News

extension NewsFetcher {
  /// The decision about a push.
  private enum Admission {
    /// It was received before.
    case duplicate
    /// It exceeds the rate limit, or the server accepts no requests. A later wake makes up for it.
    case pending
    /// It needs no fetch.
    case noFetch
    case fetch
  }

  /// Handles a remote notification for a sleeping app.
  ///
  /// It fetches if the notification asks for that, the store has not reached its token, and the hourly limit of wakes by
  /// pushes is not exhausted. The limit does not apply in the foreground. A push above it is made up for by the next wake
  /// that the schedule allows. A push that was received before is dropped. The counterpart of
  /// `UIApplicationDelegate.application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`.
  ///
  /// If the device is registered, the code of its first push is returned, and a report is sent if the push asks for one.
  ///
  /// - Parameters:
  ///   - notification: The notification.
  ///   - wake: The moment from which the 30 s count; nil for now.
  /// - Returns: The report of the fetch; `noData` without a request if there was no reason to fetch.
  @discardableResult
  public func receive(_ notification: RemoteNotification, wake: FetchInstant? = nil) async -> FetchReport {
    await receive(notification, as: .push, wake: wake).report
  }

  /// Handles a remote notification.
  ///
  /// - Parameters:
  ///   - reason: `push`, or `watch` if the app follows the server and is not bound by the rate limit.
  ///   - isRetaken: Whether an app that was killed may have received the push before, so that it is no duplicate.
  func receive(
    _ notification: RemoteNotification, as reason: FetchReason, wake: FetchInstant?, isRetaken: Bool = false
  ) async -> Handled {
    let wake = wake ?? clock.now
    store.restore()
    let admission: Admission
    do { admission = try admit(notification, as: reason, wake: wake, isRetaken: isRetaken) } catch {
      return Handled(report: FetchReport(error as? FetchError ?? FetchError(.storage, "\(error)")))
    }
    if let code = notification.code {
      await confirm(code, wake: wake)
    } else if notification.isContentAvailable || notification.alert != nil {
      await pushArrived(wake: wake)
    }
    var handled = Handled(report: FetchReport(result: .noData))
    switch admission {
    case .fetch: handled = await fetch(for: notification, as: reason, wake: wake)
    default: handled.report.badge = (try? badge) ?? 0
    }
    if admission == .fetch || admission == .noFetch {
      remoteNotifications.notify(notification)
      await sendReport(within: timeLimit(since: wake))
    }
    return handled
  }

  /// Decides about a push, and records it.
  private func admit(
    _ notification: RemoteNotification, as reason: FetchReason, wake: FetchInstant, isRetaken: Bool
  ) throws -> Admission {
    let needsFetch = try notification.isContentAvailable && !local.hasReached(notification.token)
    let isAwake = reason == .watch || application.currentState == .foreground
    return try store.write { db in
      var history = try local.pushHistory(db)
      guard history.add(notification.id) || isRetaken else { return .duplicate }
      if notification.asksForReport, let id = notification.id {
        history.report = .init(push: id, result: needsFetch ? nil : .noData)
      }
      var admission = Admission.noFetch
      if needsFetch {
        var scheduler = try local.scheduler(db)
        admission = (isAwake || scheduler.receivePush(at: wake)) ? .fetch : .pending
        if admission == .pending {
          history.owe(notification.token)
        } else if reason == .push {
          // A process that is killed from here on leaves the push pending.
          scheduler.wakeStarted(.push, at: wake)
        }
        try store.save(scheduler, db)
      }
      try local.save(history, db)
      return admission
    }
  }

  /// Fetches the news of a push. A push that is not served becomes pending.
  private func fetch(
    for notification: RemoteNotification, as reason: FetchReason, wake: FetchInstant
  ) async -> Handled {
    var handled = await fetch(reason, wake: wake, at: notification.token)
    if handled.report.result != .failed, isMissing(notification.token) {
      // It has joined a fetch that began before the push.
      let second = await fetch(reason, wake: wake, at: notification.token)
      if second.report.result != .noData { handled = second }
    }
    guard handled.report.result == .failed || isMissing(notification.token) else { return handled }
    do {
      try store.write { db in
        var (history, scheduler) = (try local.pushHistory(db), try local.scheduler(db))
        history.owe(notification.token)
        scheduler.postponePush()
        try local.save(history, db)
        try store.save(scheduler, db)
      }
    } catch {
      log("cannot store that a push is pending: \(error)")
    }
    return handled
  }

  /// Returns whether the store has an earlier token of the same epoch.
  private func isMissing(_ token: SyncToken?) -> Bool {
    guard let token, let stored = (try? local.token) ?? nil else { return false }
    return stored.epoch == token.epoch && stored.version < token.version
  }

  /// Follows the server's events until the task is cancelled, and fetches each announced change at once.
  ///
  /// It reconnects after every end, never before the time that the server sets, and with a growing delay after
  /// failures. The application should be launched and alive. Scheduled wakes may continue meanwhile.
  ///
  /// Pushes that other processes receive for the store are handled too, see ``receiveNotifications(_:)``. The limit of wakes
  /// by pushes does not apply.
  ///
  /// - Parameter onReport: Receives the report of each fetch, one after the other.
  public func watch(_ onReport: @escaping @Sendable (FetchReport) -> Void = { _ in }) async {
    let queue = ReportQueue(onReport)
    await withTaskGroup { group in
      group.addTask { await self.followEvents(queue) }
      group.addTask { await self.receiveNotifications(as: .watch, queue) }
      group.addTask { await self.receiveActivations() }
    }
  }

  /// Follows the server's events until the task is cancelled.
  func followEvents(_ queue: ReportQueue) async {
    let follower = EventStreamFollower(local, server: server, log: log) { token in
      let handled = await self.fetch(.watch, at: token)
      if !Task.isCancelled { queue.add(handled) }
      return handled.report
    }
    await follower.run()
  }
}
