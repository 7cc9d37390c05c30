import BackgroundFetch
import Foundation
import GRDB
import News
import Synchronization

/// One run of the fetch handler: notes the wake, asks the server, and stores all that came of it in one transaction.
struct FetchRun: Sendable {
  /// The cost so far, also of a run that never ends.
  private final class LiveMeter: Sendable {
    let meter = Mutex(Exchange.Meter())
  }

  private let client: NewsFetcher
  private let reason: FetchReason
  private let wake: FetchMoment
  private let at: SyncToken?
  private let processorTime = ProcessorTime.now
  private let live = LiveMeter()

  init(_ client: NewsFetcher, reason: FetchReason, wake: FetchMoment, at: SyncToken?) {
    self.client = client
    self.reason = reason
    self.wake = wake
    self.at = at
  }

  /// Runs, and notifies observers of a difference.
  ///
  /// - Returns: The report of this run, of a failure too.
  /// - Throws: `CancellationError` once the task is cancelled or the budget is over; nothing has been stored then.
  func report(within budget: FetchBudget) async throws -> FetchReport {
    let server = client.server.noting { [live] meter in live.meter.withLock { $0 = meter } }
    var sync = Synchronization(store: client.store, server: server, source: client.configuration.source)
    do {
      let state = try begin()
      if try at.map({ try client.holds($0) }) == true {
        return try finish(.nothing, state, sync.cost, isChecked: false, budget).0
      }
      // A token of another history would be refused although ours is good.
      let found = try await sync.run(state, at: at?.epoch == state.token?.epoch ? at : nil)
      let (report, difference) = try finish(found, state, sync.cost, isChecked: true, budget)
      if !difference.isEmpty { announce(difference) }
      return report
    } catch let error as CancellationError {
      throw error
    } catch {
      // The end of a run that was given up has been recorded.
      if budget.isOver { throw CancellationError() }
      return failed(error as? FetchError ?? FetchError(.storage, "the fetch has failed: \(error)"), sync.cost)
    }
  }

  private func announce(_ difference: Difference) {
    client.changes.notify(difference)
    NotificationCenter.default.post(
      name: .newsItemsDidChange, object: client, userInfo: [Difference.userInfoKey: difference])
  }

  /// Notes a run that was given up, with what it has cost until now.
  func recordExpiry(_ report: FetchReport) -> FetchReport {
    var cost = NewsServer.Cost()
    cost.meter = live.meter.withLock(\.self)
    var report = report
    (report.requests, report.bytes) = (cost.meter.requests, cost.meter.bytes)
    record(report, cost, retryAfter: nil, isOffline: false)
    return report
  }

  /// Stores that there is a wake, so that a crash does not bring it again.
  private func begin() throws -> SyncState {
    try client.store.write { db in
      var scheduler = try client.scheduler(db)
      let hold = scheduler.holdRemaining(at: client.clock.now)
      guard hold == 0 else {
        throw FetchError(.held, Exchange.heldMessage(hold))
      }
      let before = scheduler
      // A wake makes up for the pushes that had to wait, whatever it is for.
      if reason == .scheduled || reason == .push { _ = scheduler.takePendingPush(at: client.clock.now) }
      scheduler.wakeStarted(reason, at: wake)
      if scheduler != before { try client.store.save(scheduler, db) }
      return try StateTable(db).sync(client.configuration.source)
    }
  }

  /// Stores what was found with all that belongs to it.
  private func finish(
    _ found: Synchronization.Result, _ held: SyncState, _ cost: NewsServer.Cost, isChecked: Bool,
    _ budget: FetchBudget
  ) throws -> (FetchReport, Difference) {
    try client.store.write { db in
      // What the user has done meanwhile counts: a badge that was cleared stays so.
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
      // The first page is the past, from which nothing is learned about when news come.
      let dates = held.token == nil ? [] : difference.inserted.map(\.date)
      try save(report, cost, &scheduler, contentDates: dates, isOffline: false, db)
      // A caller who has been given a failure must not find what came after it.
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
    // Nothing was asked, or nothing can be stored.
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
        // It binds although the store is lost.
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
