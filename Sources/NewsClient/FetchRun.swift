import BackgroundFetch
import Foundation
import GRDB
import News

/// One run of the fetch handler: notes the wake, asks the server, and stores all that came of it in one transaction.
struct FetchRun {
  private let client: NewsFetcher
  private let reason: FetchReason
  private let wake: FetchMoment
  private let at: SyncToken?
  private let processorTime = ProcessorTime.now

  init(_ client: NewsFetcher, reason: FetchReason, wake: FetchMoment, at: SyncToken?) {
    self.client = client
    self.reason = reason
    self.wake = wake
    self.at = at
  }

  /// Runs.
  ///
  /// - Parameter tell: Is told what has come of it, before observers are.
  /// - Throws: `CancellationError` once the task is cancelled; nothing has been stored then.
  func result(_ tell: (FetchReport) -> Void) async throws -> FetchResult {
    var sync = Synchronization(store: client.store, server: client.server, source: client.configuration.source)
    do {
      let state = try begin()
      if try at.map({ try client.holds($0) }) == true {
        let report = try finish(.nothing, state, sync.cost, isChecked: false).0
        tell(report)
        return report.result
      }
      // A token of another history would be refused although ours is good.
      let found = try await sync.run(state, at: at?.epoch == state.token?.epoch ? at : nil)
      try Task.checkCancellation()
      let (report, difference) = try finish(found, state, sync.cost, isChecked: true)
      tell(report)
      if !difference.isEmpty { announce(difference) }
      return report.result
    } catch let error as FetchError {
      let report = failed(error, sync.cost)
      tell(report)
      return report.result
    }
  }

  private func announce(_ difference: Difference) {
    client.changes.notify(difference)
    NotificationCenter.default.post(
      name: .newsItemsDidChange, object: client, userInfo: [Difference.userInfoKey: difference])
  }

  /// Notes a run that was given up.
  func recordExpiry(_ report: FetchReport) {
    record(report, NewsServer.Cost(), retryAfter: nil, isOffline: false)
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
      scheduler.wakeStarted(reason, at: wake)
      if scheduler != before { try StateTable(db).save(scheduler, .schedule) }
      let state = try StateTable(db).sync(client.configuration.source)
      // What is followed is known from now on.
      if state.token == nil { try StateTable(db).save(state) }
      return state
    }
  }

  /// Stores what was found with all that belongs to it.
  private func finish(
    _ found: Synchronization.Result, _ held: SyncState, _ cost: NewsServer.Cost, isChecked: Bool
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
      return (report, difference)
    }
  }

  private func failed(_ error: FetchError, _ cost: NewsServer.Cost) -> FetchReport {
    client.log("\(error)")
    var report = FetchReport(result: .failed)
    report.error = error.message
    (report.requests, report.bytes) = (cost.meter.requests, cost.meter.bytes)
    report.badge = (try? client.badge) ?? 0
    // Nothing was asked: there is nothing to be learned from it.
    if error.code != .held {
      record(report, cost, retryAfter: error.retryAfter, isOffline: error.code == .unreachable && error.status == nil)
    }
    return report
  }

  private func record(_ report: FetchReport, _ cost: NewsServer.Cost, retryAfter: Double?, isOffline: Bool) {
    do {
      try client.store.write { db in
        var scheduler = try client.scheduler(db)
        if let retryAfter { scheduler.hold(seconds: retryAfter, at: client.clock.now) }
        try save(report, cost, &scheduler, contentDates: [], isOffline: isOffline, db)
      }
    } catch {
      client.log("what the fetch has come to could not be stored: \(error)")
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
    try StateTable(db).save(scheduler, .schedule)
    try RunTable(db).add(run)
  }
}
