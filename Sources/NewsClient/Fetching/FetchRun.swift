import BackgroundFetch
import Foundation
import GRDB
import HTTPTransfer
import News
import Synchronization

/// One run of the fetch handler: records the wake, asks the server, and stores the result in one transaction.
struct FetchRun: Sendable {
  /// The time for the removal of the items that a copy has replaced, in seconds.
  private static let maximumRemovalTime = 5.0

  /// The cost so far, which is known even if the run never ends.
  private final class LiveMeter: Sendable {
    let meter = Mutex(HTTPRequester.Meter())
    /// The number of the record; nil before it is stored.
    let number = Mutex<Int64?>(nil)
    /// The number of items of the copy that this run has continued; nil if it has continued none.
    let copied = Mutex<Int?>(nil)
  }

  private let local: LocalFeed
  private let server: NewsServer
  private let notifications: LocalNotifications
  private let log: @Sendable (String) -> Void
  private let reason: FetchReason
  private let wake: FetchInstant
  private let at: SyncToken?
  private let processorTime = ProcessorTime.now
  private let live: LiveMeter

  /// Creates a run.
  ///
  /// - Parameters:
  ///   - reason: The reason of the fetch.
  ///   - wake: The moment of the wake.
  ///   - at: A token that the server is known to have reached.
  init(
    _ local: LocalFeed, server: NewsServer, notifications: LocalNotifications, reason: FetchReason, wake: FetchInstant,
    at: SyncToken?, log: @escaping @Sendable (String) -> Void
  ) {
    let live = LiveMeter()
    self.live = live
    self.server = server.reportingMeter { meter in live.meter.withLock { $0 = meter } }
    (self.local, self.notifications, self.reason) = (local, notifications, reason)
    (self.wake, self.at, self.log) = (wake, at, log)
  }

  /// Runs the fetch.
  ///
  /// - Parameter onChange: Receives the changes of the stored items, once they are stored.
  /// - Returns: The report of this run, failures included.
  /// - Throws: `CancellationError` once the task is cancelled or the budget is over. No result has been stored then.
  func report(within budget: FetchBudget, onChange: (ItemChanges) -> Void) async throws -> FetchReport {
    var sync = Synchronization(local, server: server)
    sync.timeLeft = { budget.timeLeft.map { $0 / .seconds(1) } }
    sync.reportCopied = { [live] number in live.copied.withLock { $0 = number } }
    do {
      let state = try begin()
      if try at.map({ try local.hasReached($0) }) == true {
        return try finish(.nothing, nil, state, sync.cost, budget).0
      }
      // The server would refuse a token of another epoch, although the stored one is valid.
      let result = try await sync.run(state, at: at?.epoch == state.token?.epoch ? at : nil)
      var comparison: CopyComparison?
      if case .copy(let copy) = result { comparison = try CopyComparison(copy, with: state, in: local.store) }
      let (report, changes) = try finish(result, comparison, state, sync.cost, budget)
      if !changes.isEmpty { onChange(changes) }
      removePreviousItems(within: budget)
      return report
    } catch let error as CancellationError {
      throw error
    } catch {
      // The expiry of this run has already been recorded.
      if budget.isOver { throw CancellationError() }
      return failed(error as? FetchError ?? FetchError(.storage, "the fetch failed: \(error)"), sync.cost)
    }
  }

  /// Returns the report of a run that was given up, with its cost so far. A run that has continued a copy has not failed.
  ///
  /// - Parameter isRecorded: Whether the run is recorded.
  func abandonedReport(_ failure: FetchError, isRecorded: Bool) -> FetchReport {
    var cost = NewsServer.Cost()
    cost.meter = live.meter.withLock(\.self)
    var report = FetchReport(failure)
    if let copied = live.copied.withLock(\.self) {
      report = FetchReport(result: .noData)
      report.received = copied
    }
    report.badge = (try? local.badge) ?? 0
    guard isRecorded else { return report }
    (report.requests, report.bytes) = (cost.meter.requests, cost.meter.bytes)
    record(report, cost)
    return report
  }

  /// Removes the items that a copy has replaced, in small steps. The next fetch continues.
  private func removePreviousItems(within budget: FetchBudget) {
    let start = local.clock.now
    do {
      while !budget.isOver, budget.timeLeft.map({ $0 > FetchBudget.warning }) ?? true,
        local.clock.now.seconds(since: start) < Self.maximumRemovalTime,
        try local.store.write({ try StagingArea($0).removeRetired() })
      {}
    } catch {
      log("cannot remove the previous items: \(error)")
    }
  }

  /// Adds the outcome of the notifications to the record of this run.
  func record(_ delivery: LocalNotifications.Delivery) {
    guard !delivery.failures.isEmpty || delivery.programStatus != nil, let number = live.number.withLock(\.self) else {
      return
    }
    do {
      try local.store.write { try RunTable($0).add(delivery, to: number) }
    } catch {
      log("cannot store the outcome of the notifications: \(error)")
    }
  }

  /// Stores the start of the wake, so that a crash does not repeat it.
  ///
  /// - Throws: `FetchError` with `retryAfterPending` while the server demands a wait.
  private func begin() throws -> SyncState {
    try local.store.write { db in
      var scheduler = try local.scheduler(db)
      let wait = scheduler.holdRemaining(at: local.clock.now)
      guard wait == .zero else {
        throw FetchError(.retryAfterPending, HTTPRequester.waitMessage(wait.inSeconds), retryAfter: wait)
      }
      let before = scheduler
      // Each wake, for whatever reason, also covers the pushes that had to wait.
      let isWake = reason == .scheduled || reason == .push
      let servesPush = isWake && scheduler.takePendingPush(at: local.clock.now)
      scheduler.wakeStarted(reason, at: wake, servesPush: servesPush)
      if scheduler != before { try local.store.save(scheduler, db) }
      return try StateTable(db).sync(local.feed)
    }
  }

  /// Stores the result and everything that belongs to it.
  private func finish(
    _ result: Synchronization.Result, _ comparison: CopyComparison?, _ previous: SyncState, _ cost: NewsServer.Cost,
    _ budget: FetchBudget
  ) throws -> (FetchReport, ItemChanges) {
    try local.store.write { db in
      // The state is read again, because a badge that the user has cleared meanwhile stays cleared.
      let current = try StateTable(db).sync(local.feed)
      var applier = ChangeApplier(db, current)
      try applier.apply(result, comparison)
      let changes = try applier.finish(previous: previous.token)
      if !changes.isEmpty { try ChangeTable(db).add(changes, origin: local.store.origin) }
      // The first items and those of a resync are history, and raise no notification.
      try notifications.record(
        changes, news: result.isDelta ? applier.news : [], isFirst: previous.token == nil, db)
      var state = applier.state
      let now = local.clock.now
      if cost.meter.requests > 0 {
        state.checked = now.date
        try FailingFeed.recordSuccess(local.feed, db)
      }
      try local.save(state, since: changes.isEmpty ? current : nil, db)

      var report = FetchReport(result: changes.isEmpty ? .noData : .newData)
      (report.inserted, report.updated, report.removed) = (
        comparison?.inserted ?? changes.inserted.count, comparison?.updated ?? changes.updated.count,
        comparison?.removed ?? changes.removed.count
      )
      if case .unfinishedCopy(let copy) = result { report.received = copy.items }
      (report.requests, report.bytes, report.badge) = (cost.meter.requests, cost.meter.bytes, state.badge)
      var scheduler = try local.scheduler(db)
      if let proposal = cost.proposal { scheduler.suggest(.seconds(proposal), at: now) }
      // The first page is history, which does not show when news arrive.
      let dates = previous.token == nil ? [] : changes.inserted.map(\.date)
      try save(report, cost, &scheduler, token: state.token, contentDates: dates, isOffline: false, db)
      // A caller that received a failure must not find a result stored later. The error rolls the transaction back.
      if budget.isOver || Task.isCancelled { throw CancellationError() }
      return (report, changes)
    }
  }

  private func failed(_ error: FetchError, _ cost: NewsServer.Cost) -> FetchReport {
    var error = error
    error.until = error.retryAfter.map { local.clock.now.date + $0 / .seconds(1) }
    var report = FetchReport(error)
    (report.requests, report.bytes) = (cost.meter.requests, cost.meter.bytes)
    report.badge = (try? local.badge) ?? 0
    // A fetch during a wait has sent nothing, and a storage failure cannot be stored.
    if error.code == .storage || error.code == .retryAfterPending && cost.meter.requests == 0 { return report }
    record(report, cost)
    return report
  }

  private func record(_ report: FetchReport, _ cost: NewsServer.Cost) {
    do {
      try local.store.write { db in
        var scheduler = try local.scheduler(db)
        if report.failure?.mayBeHealed == true {
          try FailingFeed.recordFailure(local.feed, at: local.clock.now, db)
        }
        let token = try StateTable(db).sync(local.feed).token
        try save(report, cost, &scheduler, token: token, isOffline: report.failure?.isOffline ?? false, db)
      }
    } catch {
      log("cannot store the result of the fetch: \(error)")
    }
  }

  private func save(
    _ report: FetchReport, _ cost: NewsServer.Cost, _ scheduler: inout FetchScheduler, token: SyncToken?,
    contentDates: [Date] = [], isOffline: Bool, _ db: Database
  ) throws {
    let now = local.clock.now
    var run = RunRecord(
      reason: reason, result: report.result, started: wake.date, isOffline: isOffline,
      items: report.inserted + report.updated + report.removed, bytes: report.bytes, requests: report.requests,
      cpuMilliseconds: ProcessorTime.now - processorTime, wallMilliseconds: now.seconds(since: wake) * 1000,
      status: cost.meter.status)
    run.received = report.received
    scheduler.record(run, contentDates: contentDates, at: now)
    var history = try local.pushHistory(db)
    let before = history
    if history.fetched(token, report.result) { scheduler.postponePush() }
    if history != before { try local.save(history, db) }
    if case .wait(let next, _) = scheduler.decision(at: now) { run.nextWake = next }
    try local.store.save(scheduler, db)
    let number = try RunTable(db).add(run)
    live.number.withLock { $0 = number }
  }
}
