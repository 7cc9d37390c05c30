public import BackgroundFetch
import GRDB
import News

extension NewsFetcher {
  /// Handles a remote notification for a sleeping app.
  ///
  /// It fetches if the notification asks for that, the store has not reached its token, and the hourly limit of wakes by pushes
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
      guard notification.isContentAvailable, try !local.hasReached(notification.token),
        try store.write({ db in
          var scheduler = try local.scheduler(db)
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
  /// - Parameter onReport: Receives the report of each fetch, one after the other.
  public func watch(_ onReport: @escaping @Sendable (FetchReport) -> Void = { _ in }) async {
    let follower = EventStreamFollower(
      local, server: server, log: log, fetch: { await self.performFetch(.watch, at: $0) }, onReport: onReport)
    await follower.run()
  }
}
