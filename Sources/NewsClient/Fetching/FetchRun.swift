import BackgroundFetch
import Foundation
import GRDB
import HTTPTransfer
import News
import Synchronization

/// One run of the fetch handler: records the wake, asks the server, and stores the result in one transaction.
struct FetchRun: Sendable {
  /// The cost so far, which is known even if the run never ends.
  private final class LiveMeter: Sendable {
    let meter = Mutex(Exchange.Meter())
  }

  private let client: NewsFetcher
  private let reason: FetchReason
  private let wake: FetchInstant
  private let at: SyncToken?
  private let processorTime = ProcessorTime.now
  private let live = LiveMeter()

  init(_ client: NewsFetcher, reason: FetchReason, wake: FetchInstant, at: SyncToken?) {
    self.client = client
    self.reason = reason
    self.wake = wake
    self.at = at
  }

  /// Runs the fetch, and notifies observers if the stored items have changed.
  ///
  /// - Returns: The report of this run, failures included.
  /// - Throws: `CancellationError` once the task is cancelled or the budget is over. No result has been stored then.
  func report(within budget: FetchBudget) async throws -> FetchReport {
    let server = client.server.noting { [live] meter in live.meter.withLock { $0 = meter } }
    var sync = Synchronization(store: client.store, server: server, source: client.configuration.source)
    do {
      let state = try begin()
      if try at.map({ try client.holds($0) }) == true {
        return try finish(.nothing, state, sync.cost, isChecked: false, budget).0
      }
      // The server would refuse a token of another epoch, although the stored one is valid.
      let found = try await sync.run(state, at: at?.epoch == state.token?.epoch ? at : nil)
      let (report, difference) = try finish(found, state, sync.cost, isChecked: true, budget)
      if !difference.isEmpty { announce(difference) }
      return report
    } catch let error as CancellationError {
      throw error
    } catch {
      // The expiry of this run has already been recorded.
      if budget.isOver { throw CancellationError() }
      return failed(error as? FetchError ?? FetchError(.storage, "the fetch has failed: \(error)"), sync.cost)
    }
  }

  private func announce(_ difference: Difference) {
    client.changes.notify(difference)
    NotificationCenter.default.post(
      name: .newsItemsDidChange, object: client, userInfo: [Difference.userInfoKey: difference])
  }

  /// Records a run that was given up, and adds its cost so far to the report.
  func recordExpiry(_ report: FetchReport) -> FetchReport {
    var cost = NewsServer.Cost()
    cost.meter = live.meter.withLock(\.self)
    var report = report
    (report.requests, report.bytes) = (cost.meter.requests, cost.meter.bytes)
    record(report, cost, retryAfter: nil, isOffline: false)
    return report
  }

  /// Stores the start of the wake, so that a crash does not repeat it.
  ///
  /// - Throws: `FetchError` with `held` while the server demands a wait.
  private func begin() throws -> SyncState {
    try client.store.write { db in
      var scheduler = try client.scheduler(db)
      let hold = scheduler.holdRemaining(at: client.clock.now)
      guard hold == 0 else {
        throw FetchError(.held, Exchange.heldMessage(hold))
      }
      let before = scheduler
      // Each wake, for whatever reason, also covers the pushes that had to wait.
      if reason == .scheduled || reason == .push { _ = scheduler.takePendingPush(at: client.clock.now) }
      scheduler.wakeStarted(reason, at: wake)
      if scheduler != before { try client.store.save(scheduler, db) }
      return try StateTable(db).sync(client.configuration.source)
    }
  }

  /// Stores the result and everything that belongs to it.
  private func finish(
    _ found: Synchronization.Result, _ held: SyncState, _ cost: NewsServer.Cost, isChecked: Bool,
    _ budget: FetchBudget
  ) throws -> (FetchReport, Difference) {
    try client.store.write { db in
      // The state is read again, because a badge that the user has cleared meanwhile stays cleared.
      let current = try StateTable(db).sync(client.configuration.source)
      var application = ItemApplication(db, current)
      try application.apply(found)
      let difference = try application.finish(held: held.token)
      var state = application.state
      let now = client.clock.now
      if isChecked { state.checked = now.date }
      try client.save(state, since: difference.isEmpty ? current : nil, db)

      var report = FetchReport(result: difference.isEmpty ? .noData : .newData)
      (report.inserted, report.updated, report.removed) =
        (difference.inserted.count, difference.updated.count, difference.removed.count)
      (report.requests, report.bytes, report.badge) = (cost.meter.requests, cost.meter.bytes, state.badge)
      var scheduler = try client.scheduler(db)
      if let proposal = cost.proposal { scheduler.suggest(seconds: proposal, at: now) }
      // The first page is history, which does not show when news arrive.
      let dates = held.token == nil ? [] : difference.inserted.map(\.date)
      try save(report, cost, &scheduler, contentDates: dates, isOffline: false, db)
      // A caller that received a failure must not find a result stored later. The error rolls the transaction back.
      if budget.isOver || Task.isCancelled { throw CancellationError() }
      return (report, difference)
    }
  }

  private func failed(_ error: FetchError, _ cost: NewsServer.Cost) -> FetchReport {
    client.log("\(error)")
    var report = FetchReport(result: .failed)
    report.error = error.message
    (report.requests, report.bytes) = (cost.meter.requests, cost.meter.bytes)
    report.badge = (try? client.badge) ?? 0
    // A held fetch has sent nothing, and a storage failure cannot be stored.
    if error.code != .held, error.code != .storage {
      record(report, cost, retryAfter: error.retryAfter, isOffline: error.isOffline)
    }
    return report
  }

  private func record(_ report: FetchReport, _ cost: NewsServer.Cost, retryAfter: Double?, isOffline: Bool) {
    do {
      try client.store.write { db in
        var scheduler = try client.scheduler(db)
        if let retryAfter { scheduler.hold(seconds: retryAfter, at: client.clock.now) }
        try save(report, cost, &scheduler, contentDates: [], isOffline: isOffline, db)
        // The wait stays in force even if the store is lost.
        if retryAfter != nil { try? client.store.settings.save(scheduler) }
      }
    } catch {
      client.log("the result of the fetch could not be stored: \(error)")
    }
  }

  private func save(
    _ report: FetchReport, _ cost: NewsServer.Cost, _ scheduler: inout FetchScheduler, contentDates: [Date],
    isOffline: Bool, _ db: Database
  ) throws {
    let now = client.clock.now
    var run = RunRecord(
      reason: reason, result: report.result, started: wake.date, isOffline: isOffline,
      items: report.inserted + report.updated + report.removed, bytes: report.bytes, requests: report.requests,
      cpuMilliseconds: ProcessorTime.now - processorTime, wallMilliseconds: now.seconds(since: wake) * 1000,
      status: cost.meter.status)
    scheduler.record(run, contentDates: contentDates, at: now)
    if case .wait(let next, _) = scheduler.decision(at: now), next != .distantFuture { run.nextWake = next }
    try client.store.save(scheduler, db)
    try RunTable(db).add(run)
  }
}
